"""What a check is shown: a repository, a plan of a run, one of its cells, or one step, and how to look things
up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tipc.certify.answers import Answer
from tipc.plan.model import Cell, Plan, Step
from tipc.run.record import Run, StepResult

# (kind of question, Plan.key, Step.id) → what the probe answered
Answers = Mapping[tuple[str, str, str], Answer]


@dataclass(frozen=True)
class RepoScene:
    """A whole repository: the plans of its configs, what is wrong with the others, and the newest run of each
    plan."""

    repo: Path
    plans: tuple[Plan, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)  # a config that gives no plan → why
    runs: Mapping[str, Run] = field(default_factory=dict)  # Plan.config → the newest run of it


@dataclass(frozen=True)
class PlanScene:
    """One plan of a run."""

    run: Run
    plan: Plan
    index: int  # of the plan in the run
    answers: Answers = field(default_factory=dict)

    @property
    def repo(self) -> Path:
        return Path(self.plan.repo)

    def path(self, text: str, step: Step | None = None) -> Path:
        """A path of the plan, absolute; with a step: a path of its arguments, from its working directory."""
        return self.repo / (step.cwd if step else "") / text

    def result(self, step: Step) -> StepResult:
        return self.run.result(self.plan, step)

    def log(self, step: Step) -> Path:
        """The log that the step wrote at its last attempt."""
        return Path(self.result(step).log or self.path(step.log))

    def steps(self, kind: str = "", cell: str = "") -> list[Step]:
        """The steps that passed, of one kind or cell: there is nothing to be learnt from the others."""
        return [
            step
            for step in self.plan.steps
            if kind in ("", step.kind) and cell in ("", step.cell) and self.result(step).ok
        ]

    def ops_file(self, step: Step) -> Path:
        """Where the operator counts of a step lie, if they were asked for."""
        return self.run.directory / "evidence" / str(self.index) / f"{step.id.replace('/', '__')}.ops.json"

    def answer(self, kind: str, step: Step) -> Answer | None:
        """What the probe found out about a step; None: it was not asked."""
        return self.answers.get((kind, self.plan.key, step.id))


@dataclass(frozen=True)
class CellScene(PlanScene):
    """One cell of a plan."""

    cell: Cell = field(kw_only=True)


@dataclass(frozen=True)
class StepScene(CellScene):
    """One step of a plan, and what became of it."""

    step: Step = field(kw_only=True)

    @property
    def outcome(self) -> StepResult:
        return self.result(self.step)

    @property
    def step_log(self) -> Path:
        return self.log(self.step)


Scene = RepoScene | PlanScene
