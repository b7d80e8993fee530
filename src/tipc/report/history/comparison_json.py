"""A comparison as JSON: for programs that decide by it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from tipc.report.history.comparison import Change, Comparison
from tipc.report.history.history_store import PastRun

SCHEMA = "tipc.comparison/1"


@dataclass(frozen=True)
class ComparedRun:
    """One side."""

    id: str
    machine: str
    versions: str
    median_of: int  # repeats


@dataclass(frozen=True)
class ComparedFigure:
    """A figure; ``worse_by`` and ``bound`` are shares of a ratio, or differences of loss and accuracy."""

    plan: str
    step: str
    metric: str
    unit: str
    old: float
    new: float
    worse_by: float | None
    bound: float | None
    relative: bool
    verdict: str
    suspect: bool
    source: str  # of what is known about its usual spread


@dataclass(frozen=True)
class BrokenCell:
    """A cell whose state became worse."""

    plan: str
    cell: str
    before: str
    now: str


@dataclass(frozen=True)
class CellName:
    """A cell that only one side has."""

    plan: str
    cell: str


@dataclass(frozen=True)
class ComparisonDocument:
    """Two runs."""

    conclusion: str
    old: ComparedRun
    new: ComparedRun
    same_machine: bool
    earlier_runs: int
    seen_from: float | None
    changes: tuple[ComparedFigure, ...]
    broken: tuple[BrokenCell, ...]
    appeared: tuple[CellName, ...]
    vanished: tuple[CellName, ...]


def comparison_to_json(result: Comparison) -> dict[str, Any]:
    """Everything that the terminal shows with ``--all``."""
    document = ComparisonDocument(
        conclusion=result.conclusion,
        old=_run(result.old, result.old_runs),
        new=_run(result.new, result.new_runs),
        same_machine=result.like,
        earlier_runs=result.earlier,
        seen_from=_share(result.seen_from),
        changes=tuple(_change(change) for change in result.changes),
        broken=tuple(BrokenCell(*one) for one in result.broken),
        appeared=tuple(CellName(*one) for one in result.appeared),
        vanished=tuple(CellName(*one) for one in result.vanished),
    )
    return {"schema": SCHEMA, **asdict(document)}


def _run(entry: PastRun, count: int) -> ComparedRun:
    return ComparedRun(entry.id, entry.machine_name, entry.versions, count)


def _change(change: Change) -> ComparedFigure:
    worse_by: float | None = change.change
    bound = change.bound
    if change.relative:
        worse_by, bound = _share(change.change), _share(change.bound)
    return ComparedFigure(
        plan=change.old.plan,
        step=change.old.step,
        metric=change.old.metric,
        unit=change.old.unit,
        old=change.old.value,
        new=change.new.value,
        worse_by=worse_by,
        bound=bound,
        relative=change.relative,
        verdict=change.verdict,
        suspect=change.suspect,
        source=change.source,
    )


def _share(logarithm: float | None) -> float | None:
    """0.1 for a tenth more; None where nobody knows, and where JSON has no number for it."""
    if logarithm is None or logarithm > math.log(1e6):
        return None
    return math.expm1(logarithm)
