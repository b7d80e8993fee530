"""The support matrix: for each model what was trained and on what it was deployed, and how that went."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tipc.kinds import (
    CPU,
    DEVICES,
    EVAL,
    EXPORT,
    FLAKY,
    FP32,
    INFER,
    INT8,
    LOW_PRECISIONS,
    PASSED,
    PRECISIONS,
    SKIPPED,
    TRAIN,
    TRAININGS,
    UNCERTIFIED,
    find_device,
    find_precision,
)
from tipc.language import sentence
from tipc.plan.model import Skip
from tipc.report.view import CellView, PlanView, RunView, StepView, worst

SINGLE, MULTI = "single", "multi"
Place = tuple[str, str, str]  # a cell: the run's id, the plan's key, the cell's id
CPU_ONLY = "cpu only"  # the word of what was trained on a CPU where a GPU was asked for
LOW = (INT8, *LOW_PRECISIONS)


@dataclass
class MatrixEntry:
    """One field of the matrix: the states of what belongs there, and why it is not more."""

    states: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    batch_sizes: list[str] = field(default_factory=list)
    devices: set[str] = field(default_factory=set)  # on which it really ran
    checked: bool = True
    places: list[tuple[str, Place]] = field(default_factory=list)  # each state, and the cell that has it

    def add(self, state: str, place: Place) -> None:
        """Something that belongs here is in this state."""
        self.states.append(state)
        self.places.append((state, place))

    @property
    def place(self) -> Place | None:
        """The cell to look at: the first in the state that the whole is said to be in."""
        whole = self.state
        for state, place in self.places:
            if state == whole:
                return place
        return None

    @property
    def state(self) -> str:
        """The worst of them; what was left out counts only where nothing ran."""
        return worst(set(self.states) - {SKIPPED})

    @property
    def ran(self) -> bool:
        return bool(set(self.states) - {SKIPPED})

    @property
    def word(self) -> str:
        """The state in a word or two; of what passed on another device than was asked for, that device."""
        if self.state == UNCERTIFIED and self.devices == {CPU}:
            return CPU_ONLY
        return self.state

    @property
    def supported(self) -> bool:
        """It ran, passed and was checked."""
        return self.state in (PASSED, FLAKY) and self.checked


@dataclass
class MatrixRow:
    """One model."""

    model: str
    train: dict[tuple[str, str], MatrixEntry] = field(default_factory=dict)  # (precision, SINGLE | MULTI)
    infer: dict[tuple[str, str], MatrixEntry] = field(default_factory=dict)  # (device, precision)


@dataclass(frozen=True)
class Matrix:
    """All models, and the columns that at least one of them has."""

    rows: tuple[MatrixRow, ...]
    train: tuple[tuple[str, str], ...]
    infer: tuple[tuple[str, str], ...]


def matrix_of(views: Iterable[RunView], precision: str = "") -> Matrix:
    """Over one run or several; a config that was run again counts with its newest run only.

    With a precision (fp32, amp, pact) only over the cells that were trained in it.
    """
    newest: dict[tuple[str, str], tuple[PlanView, RunView]] = {}
    for view in sorted(views, key=lambda view: view.run.started):
        for plan in view.plans:
            newest[plan.plan.repo, plan.plan.key] = (plan, view)
    rows: dict[str, MatrixRow] = {}
    train: set[tuple[str, str]] = set()
    infer: set[tuple[str, str]] = set()
    for plan, view in newest.values():
        for cell in plan.cells:
            if precision not in ("", cell.cell.precision) or not (cell.steps or cell.skips):
                continue
            row = rows.setdefault(plan.plan.model, MatrixRow(plan.plan.model))
            place = (view.run.id, plan.plan.key, cell.cell.id)
            _add(row, cell, place, view.verdict is not None)
            train |= row.train.keys()
            infer |= row.infer.keys()
    return Matrix(
        tuple(rows.values()),
        tuple(sorted(train, key=_train_rank)),
        tuple(sorted(infer, key=_infer_rank)),
    )


def cards(cell: CellView) -> str:
    """Whether the config asked for one card or for several."""
    if "," in cell.cell.asked:
        return MULTI
    return SINGLE


def _add(row: MatrixRow, cell: CellView, place: Place, checked: bool) -> None:
    trained = []
    for view in cell.steps:
        if view.step.kind in (TRAIN, EVAL, EXPORT):
            trained.append(view)
        elif view.step.kind == INFER:
            _add_inference(row, view, place, checked)
    if TRAIN in [view.step.kind for view in trained]:
        entry = row.train.setdefault((cell.cell.precision, cards(cell)), MatrixEntry())
        entry.checked &= checked
        for view in trained:
            entry.add(view.state, place)
            entry.devices.add(view.step.device)
        if cell.not_certified:
            entry.add(UNCERTIFIED, place)
            entry.reasons += cell.not_certified
    for skip in cell.skips:
        if skip.kind == INFER:
            entry = row.infer.setdefault(_skipped(skip), MatrixEntry())
            entry.add(SKIPPED, place)
            reason = sentence(skip.reason)
            if reason not in entry.reasons:
                entry.reasons.append(reason)


def _add_inference(row: MatrixRow, view: StepView, place: Place, checked: bool) -> None:
    entry = row.infer.setdefault(_setting(view), MatrixEntry())
    entry.add(view.state, place)
    entry.checked &= checked
    batch = view.step.settings.get("batch_size", "")
    if batch and batch not in entry.batch_sizes:
        entry.batch_sizes.append(batch)


def _setting(view: StepView) -> tuple[str, str]:
    """Device and precision; where the config does not choose one, the lowest that the script says it ran."""
    chosen = view.step.settings.get("precision", "")
    if chosen:
        return view.step.device, chosen
    told = {benchmark.precision for benchmark in view.figures.benchmarks} - {""}
    lowest = min(told, key=lambda name: _rank(LOW, name), default=FP32)
    return view.step.device, lowest


def _skipped(skip: Skip) -> tuple[str, str]:
    device, precision = skip.device, skip.settings.get("precision", "")
    if not find_device(device):
        device = "other"
    if not find_precision(precision):
        precision = FP32
    return device, precision


def _rank(order: tuple[str, ...], name: str) -> tuple[int, str]:
    if name not in order:
        return len(order), name
    return order.index(name), name


def _train_rank(key: tuple[str, str]) -> tuple[tuple[int, str], tuple[int, str]]:
    return _rank(tuple(TRAININGS), key[0]), _rank((SINGLE, MULTI), key[1])


def _infer_rank(key: tuple[str, str]) -> tuple[tuple[int, str], tuple[int, str]]:
    return _rank(tuple(DEVICES), key[0]), _rank(tuple(PRECISIONS), key[1])
