"""What a check is shown: a repository, a plan of a run, one of its cells, or one step, and how to look things
up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tipc.align.tensor_comparison import Alignment
from tipc.certify.evidence.answers import Answer
from tipc.certify.evidence.doc_runs import DocRun
from tipc.certify.evidence.saved_beside import loaded_in_place
from tipc.certify.evidence.weights_file import find_weights, read_weights
from tipc.certify.levels import Level
from tipc.kinds import EVAL, EXPORT, TRAIN
from tipc.plan.model import Cell, Plan, Step
from tipc.run.record.facts import read_arrays
from tipc.run.record.results import Run, StepResult
from tipc.run.record.step_facts import ProcessFacts, StepFacts, Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tipc.certify.evidence.trials import Answered

# (kind of question, Plan.key, Step.id) → what the probe answered
Answers = Mapping[tuple[str, str, str], Answer]
# (Plan.key, Step.id) → what the witness saw it do
Witnessed = Mapping[tuple[str, str], StepFacts]
# (Plan.key, Step.id) → what the model of an export step answered
Tried = Mapping[tuple[str, str], "tuple[Answered, ...]"]


# path of an image file that a step opened or wrote → its pixels in RGB
Images = Mapping[str, "NDArray[Any]"]

Looked = TypeVar("Looked")


@lru_cache(maxsize=8)
def arrays_in(path: str) -> dict[str, NDArray[Any]]:
    """The arrays of a file of facts; those of the last few steps are kept in memory."""
    return read_arrays(StepFacts((), arrays=path))


@dataclass(frozen=True)
class RepoScene:
    """A whole repository: the plans of its configs, what is wrong with the others, and the newest run of each
    plan."""

    repo: Path
    plans: tuple[Plan, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)  # a config that gives no plan → why
    runs: Mapping[str, Run] = field(default_factory=dict)  # Plan.config → newest_runs
    level: Level | None = None  # what to hold it against; None: the highest that it has
    alignment: Alignment | None = None  # with the reference's recorded tensors; None: none were given
    doc_runs: tuple[DocRun, ...] | None = (
        None  # what became of the documents' commands; None: they were not run
    )


@dataclass(frozen=True)
class PlanScene:
    """One plan of a run."""

    run: Run
    plan: Plan
    index: int  # of the plan in the run
    answers: Answers = field(default_factory=dict)
    witnessed: Witnessed = field(default_factory=dict)
    tried: Tried = field(default_factory=dict)
    images: Images = field(default_factory=dict)
    # What ``once_a_cell`` remembers; the scenes of its cells and steps share it.
    looked_up: dict[tuple[object, str], Any] = field(
        default_factory=dict, repr=False, compare=False, kw_only=True
    )

    @property
    def repo(self) -> Path:
        return Path(self.plan.repo)

    def path(self, text: str, step: Step | None = None) -> Path:
        """A path of the plan, absolute; with a step: a path of its arguments, from its working directory."""
        if step is None:
            return self.repo / text
        return self.repo / step.cwd / text

    def result(self, step: Step) -> StepResult:
        return self.run.result(self.plan, step)

    def log(self, step: Step) -> Path:
        """The log that the step wrote at its last attempt."""
        return Path(self.result(step).log or self.path(step.log))

    def steps(self, kind: str = "", cell: str = "") -> Sequence[Step]:
        """The steps that passed, of one kind or cell: there is nothing to be learnt from the others."""
        known: Sequence[Step] | None = self.looked_up.get((kind, cell))
        if known is not None:
            return known
        among: Sequence[Step] = self.plan.steps
        if cell:
            among = self.plan.steps_by_cell.get(cell, ())
        found = []
        for step in among:
            if kind in ("", step.kind) and self.result(step).ok:
                found.append(step)
        self.looked_up[kind, cell] = found
        return found

    def facts(self, step: Step) -> StepFacts | None:
        """What the witness saw a step do; None: there was no witness."""
        return self.witnessed.get((self.plan.key, step.id))

    def main_process(self, step: Step) -> ProcessFacts | None:
        """What the witness saw the step's first process do."""
        facts = self.facts(step)
        if facts is None:
            return None
        return facts.main

    def arrays(self, step: Step) -> dict[str, NDArray[Any]]:
        """The arrays that the facts of a step name, by their keys."""
        path = self.arrays_file(step)
        if not path:
            return {}
        return arrays_in(path)

    def arrays_file(self, step: Step) -> str:
        """The file of these arrays; empty: there is none."""
        facts = self.facts(step)
        if facts is None:
            return ""
        return facts.arrays

    def trained_digests(self, cell: str) -> frozenset[str]:
        """The tensors of the weights that a cell's training left, as digests; empty: they are not known."""
        averages = averages_in_place(self, cell)
        if averages is not None:
            return frozenset(averages.tensors.values())
        for step in self.steps(TRAIN, cell):
            if step.weights:
                return read_weights(find_weights(self.path(step.weights))).known
        return frozenset()

    def trials(self, step: Step) -> tuple[Answered, ...]:
        """What the exported model of a step answered when it was tried."""
        return self.tried.get((self.plan.key, step.id), ())

    def of_cell(self, cell: Cell) -> CellScene:
        """One of its cells."""
        shared = (self.run, self.plan, self.index, self.answers, self.witnessed, self.tried, self.images)
        return CellScene(*shared, cell=cell, looked_up=self.looked_up)

    def of_step(self, cell: Cell, step: Step) -> StepScene:
        """One of its steps."""
        shared = (self.run, self.plan, self.index, self.answers, self.witnessed, self.tried, self.images)
        return StepScene(*shared, cell=cell, step=step, looked_up=self.looked_up)

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


def once_a_cell(look_up: Callable[[PlanScene, str], Looked]) -> Callable[[PlanScene, str], Looked]:
    """A look-up about a cell that is made once a plan: thousands of steps of the cell may ask for it."""

    @wraps(look_up)
    def remembered(scene: PlanScene, cell: str) -> Looked:
        key = (look_up, cell)
        if key not in scene.looked_up:
            scene.looked_up[key] = look_up(scene, cell)
        found: Looked = scene.looked_up[key]
        return found

    return remembered


@once_a_cell
def averages_in_place(scene: PlanScene, cell: str) -> Weights | None:
    """The averages that the steps of a cell load in place of the weights that the config names."""
    for kind in (EVAL, EXPORT):
        for step in scene.steps(kind, cell):
            found = loaded_in_place(scene, cell, step)
            if found is not None:
                return found
    return None
