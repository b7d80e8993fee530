"""Puts the questions of the checks to probes while the steps of a run still run.

An export is asked about as soon as it, its training and its evaluation have ended. What is asked then is
what the checks would ask of what is known so far. At the end all questions are put, and those that were
answered already do not go to a probe again: nothing of a verdict depends on what was asked early.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from tipc.certify.evidence.prober import Prober
from tipc.certify.evidence.probing import group_of, is_python, questions_about
from tipc.certify.evidence.question import Question
from tipc.certify.registry import all_checks
from tipc.certify.scene import PlanScene
from tipc.errors import EnvironmentProblem
from tipc.kinds import EVAL, EXPORT, TRAIN
from tipc.plan.model import Plan, Step
from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.executors.local import LocalExecutor
from tipc.run.record.facts import StepFacts, load_facts
from tipc.run.record.results import Key, Run, StepResult

NEEDED = (TRAIN, EVAL, EXPORT)  # what must have ended before an export of the same cell is asked about


class EarlyChecks:
    """The probes of a run that still goes on; ``prober`` knows their answers."""

    def __init__(self, plans: Sequence[Plan], directory: Path, executor: LocalExecutor) -> None:
        with contextlib.suppress(EnvironmentProblem):  # a broken plug-in: said when the checks are made
            all_checks()  # imported now, while there is time
        self.prober = Prober(directory / "evidence", executor)
        self._executor = executor
        self._results: dict[Key, StepResult] = {}
        self._numbers: dict[str, int] = {}  # of the plans, by their keys
        self._exports: list[tuple[int, Step]] = []  # about which nothing was asked yet
        for index, plan in enumerate(plans):
            self._numbers.setdefault(plan.key, index)
            for step in plan.steps:
                self._results[plan.key, step.id] = StepResult(plan.key, step.id)
                if step.kind == EXPORT and is_python(step):
                    self._exports.append((index, step))
        self._witnessed: dict[Key, StepFacts] = {}
        self._run = Run(directory.name, directory, tuple(plans), {}, self._results, 0.0, None)
        self._ended: set[Key] = set()
        self._waiting: deque[list[Question]] = deque()
        self._warmed = False

    def settled(self, result: StepResult) -> None:
        """A step has its result."""
        key = (result.plan, result.step)
        self._ended.add(key)
        self._results[key] = result
        if result.ok and result.facts:
            index = self._numbers[result.plan]
            try:
                self._witnessed[key] = load_facts(self._run.directory, index, result.step, result.facts)
            except EnvironmentProblem as problem:
                self._witnessed[key] = StepFacts((), problem=problem.message)
        for index, step in list(self._exports):
            if not self._is_ready(index, step):
                continue
            self._exports.remove((index, step))
            if self._results[self._run.plans[index].key, step.id].ok:
                self._waiting.append(self._questions(index, step))

    def _questions(self, index: int, step: Step) -> list[Question]:
        """What is asked about an export. Files that cannot be read must not end a run: they are read again
        at its end, where that is said."""
        try:
            return list(questions_about(self._scene(index), step, self.prober.scratch))
        except Exception:  # noqa: BLE001
            return []

    def _is_ready(self, index: int, step: Step) -> bool:
        plan = self._run.plans[index]
        for other in plan.steps:
            needed = other.cell == step.cell and other.kind in NEEDED
            if needed and (plan.key, other.id) not in self._ended:
                return False
        return True

    def _scene(self, index: int) -> PlanScene:
        return PlanScene(self._run, self._run.plans[index], index, witnessed=self._witnessed)

    def next_task(self) -> Task | None:
        """What is open about the next export, as a task."""
        while self._waiting:
            asked = self.prober.open_questions(self._waiting.popleft())
            if asked:
                with contextlib.suppress(OSError):  # no room: it is asked again at the end
                    return self.prober.prepare(asked, at_once=1)
        return None

    def started(self, task: Task, ticket: int) -> None:
        """It runs."""
        self.prober.started(task, ticket)

    def ended(self, ticket: int, outcome: TaskOutcome) -> None:
        """It has ended."""
        self.prober.ended(ticket, outcome)

    def pulse(self) -> None:
        """Look after what runs. When a step has been seen to load paddle, the probes will need it, too."""
        self.prober.look_after()
        if not self._warmed and any(server.ready for server in self._executor.warmth.servers):
            self._warmed = True
            for group in {group_of(self._scene(index), step) for index, step in self._exports}:
                self.prober.warm_up(group)
