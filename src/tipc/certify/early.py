"""Puts the questions of the checks to probes while the steps of a run still run.

A cell is asked about as soon as its training, evaluation and export have ended, and once more when its
deployments have. What is asked then is what the checks would ask of what is known so far. At the end all
questions are put, and those that were answered already do not go to a probe again: nothing of a verdict
depends on what was asked early.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from tipc.certify.evidence.facts_of_run import facts_of_step
from tipc.certify.evidence.prober import Prober
from tipc.certify.evidence.probing import group_of, images_questions, is_python, questions_about
from tipc.certify.evidence.question import Question, QuestionGroup
from tipc.certify.registry import all_checks
from tipc.certify.scene import PlanScene
from tipc.errors import EnvironmentProblem
from tipc.kinds import EVAL, EXPORT, INFER, TRAIN
from tipc.plan.model import Key, Plan
from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.executors.local import LocalExecutor
from tipc.run.record.results import Run, StepResult
from tipc.run.record.step_facts import StepFacts

# What must have ended before a cell is asked about; and before it is asked about once more, with what its
# deployment was fed.
NEEDED = (frozenset({TRAIN, EVAL, EXPORT}), frozenset({TRAIN, EVAL, EXPORT, INFER}))


def _ids_of(plan: Plan, cell: str, kinds: frozenset[str]) -> set[str]:
    """The steps of these kinds in a cell."""
    return {step.id for step in plan.steps_by_cell[cell] if step.kind in kinds}


def parts_of(questions: list[Question]) -> list[list[Question]]:
    """What one probe is asked at a time: each engine by itself, so that what is still open when the steps
    have ended can be asked on all processors."""
    parts: list[list[Question]] = [[]]
    models_are_run = False  # by what the last part asks
    for question in questions:
        if question.trials and models_are_run:
            parts.append([])
        models_are_run = models_are_run or bool(question.trials)
        parts[-1].append(question)
    return parts


class EarlyChecks:
    """The probes of a run that still goes on; ``prober`` knows their answers."""

    def __init__(self, plans: Sequence[Plan], directory: Path, executor: LocalExecutor) -> None:
        with contextlib.suppress(EnvironmentProblem):  # a broken plug-in: said when the checks are made
            all_checks()  # imported now, while there is time
        self.prober = Prober(directory / "evidence", executor)
        self._executor = executor
        self._results: dict[Key, StepResult] = {}
        self._numbers: dict[str, int] = {}  # of the plans, by their keys
        # Plan, cell, and what must have ended → the steps of which that is not known.
        self._open: dict[tuple[int, str, frozenset[str]], set[str]] = {}
        self._cells: dict[Key, str] = {}  # of the steps
        for index, plan in enumerate(plans):
            self._numbers.setdefault(plan.key, index)
            for step in plan.steps:
                key = (plan.key, step.id)
                self._results[key] = StepResult(plan.key, step.id)
                self._cells[key] = step.cell
                if step.kind == EXPORT and is_python(step):
                    for needed in NEEDED:
                        self._open[index, step.cell, needed] = _ids_of(plan, step.cell, needed)
        self._not_ended = set(self._results)
        self._witnessed: dict[Key, StepFacts] = {}
        self._run = Run(directory.name, directory, tuple(plans), {}, self._results, 0.0, None)
        self._unread: deque[StepResult] = deque()  # of steps whose facts were not read yet
        self._waiting: deque[list[Question]] = deque()
        self._warmed = False
        self._stood_by = False

    def settled(self, result: StepResult) -> None:
        """A step has its result. Nothing is read now: others wait to begin."""
        self._not_ended.discard((result.plan, result.step))
        self._unread.append(result)

    def _read(self) -> None:
        """Read what the steps that have ended left, and put together what can be asked now."""
        ready: dict[tuple[int, str], None] = {}
        while self._unread:
            result = self._unread.popleft()
            key = (result.plan, result.step)
            index = self._numbers[result.plan]
            self._results[key] = result
            if result.ok and result.facts:
                self._witnessed[key] = facts_of_step(self._run.directory, index, result)
            cell = self._cells[key]
            for needed in NEEDED:
                if self._is_ready(index, cell, needed, result.step):
                    del self._open[index, cell, needed]
                    ready[index, cell] = None
        for index, cell in ready:
            self._waiting.extend(parts_of(self._questions(index, cell)))

    def _questions(self, index: int, cell: str) -> list[Question]:
        """What is asked about a cell. Files that cannot be read must not end a run: they are read again
        at its end, where that is said."""
        scene = self._scene(index)
        try:
            found: list[Question] = []
            for step in scene.steps(EXPORT, cell):
                found += questions_about(scene, step, self.prober.scratch)
            return [*found, *images_questions(scene, cell, self.prober.scratch)]
        except Exception:  # noqa: BLE001
            return []

    def _is_ready(self, index: int, cell: str, needed: frozenset[str], ended: str) -> bool:
        """Whether a cell can be asked about now that this step of it has ended."""
        missing = self._open.get((index, cell, needed))
        if missing is None:
            return False  # it was asked about already
        missing.discard(ended)
        return not missing

    def _scene(self, index: int) -> PlanScene:
        return PlanScene(self._run, self._run.plans[index], index, witnessed=self._witnessed)

    def next_task(self) -> Task | None:
        """What is open about the next cell, as a task."""
        self._read()
        while self._waiting:
            asked = self.prober.open_questions(self._waiting.popleft())
            if asked:
                with contextlib.suppress(OSError):  # no room: it is asked again at the end
                    return self.prober.prepare(asked, at_once=1, yields=True)
        return self._stand_by()

    def _stand_by(self) -> Task | None:
        """While the last deployment runs, which will be replayed: a probe that has its model open by then."""
        # Of a step that were still to come, it could be in the way.
        if self._stood_by or len(self._not_ended) != 1 or len(self._open) != 1:
            return None
        self._stood_by = True
        [(index, cell, _needed)] = self._open
        with contextlib.suppress(OSError):  # no room: others are asked
            return self.prober.stand_by([one for one in self._questions(index, cell) if one.trials])
        return None

    def started(self, task: Task, ticket: int) -> None:
        """It runs."""
        self.prober.started(task, ticket)

    def ended(self, ticket: int, outcome: TaskOutcome) -> None:
        """It has ended."""
        self.prober.ended(ticket, outcome)

    def look_after(self) -> None:
        """End what takes too long or too much memory."""
        self.prober.look_after()

    def pulse(self) -> None:
        """Read what there is. When a step has been seen to load paddle, the probes will need it, too."""
        self._read()
        if not self._warmed and any(server.ready for server in self._executor.warmth.servers):
            self._warmed = True
            for group in self._groups():
                self.prober.warm_up(group)

    def _groups(self) -> set[QuestionGroup]:
        """The interpreters of the exports that will be asked about."""
        groups = set()
        for index, cell, _needed in self._open:
            scene = self._scene(index)
            for step in scene.plan.steps_by_cell[cell]:
                if step.kind == EXPORT and is_python(step):
                    groups.add(group_of(scene, step))
        return groups
