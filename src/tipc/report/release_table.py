"""One table of several runs of the same configs: what each cell came to, by release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tipc.kinds import FAIL, PASS, PREPARE, SIGNS, UNCHECKED
from tipc.report.figures import ACCURACY, LATENCY, Metric
from tipc.report.plain_text import figure
from tipc.report.terminal import Line, Span, aligned
from tipc.report.view import CellView, PlanView, RunView

PARITY = ("TP301", "TP302", "TP305")  # the checks that hold an exported model against the trained one
STAGE = "inference"  # of a benchmark block: the latency that people compare


@dataclass(frozen=True)
class CellOfRelease:
    """What one cell of one config came to on one release."""

    model: str
    trainer: str
    runs_on: str
    release: str
    state: str
    accuracy: str
    latency: str
    parity: str


def cells_of(release: str, view: RunView) -> list[CellOfRelease]:
    """The cells of a run, in its order."""
    found = []
    for plan in view.plans:
        chains = [cell for cell in plan.cells if any(step.step.kind != PREPARE for step in cell.steps)]
        found += [_cell(release, plan, cell) for cell in chains]
    return found


def _cell(release: str, plan: PlanView, cell: CellView) -> CellOfRelease:
    return CellOfRelease(
        model=plan.plan.model,
        trainer=cell.cell.trainer,
        runs_on=cell.cell.runs_on,
        release=release,
        state=cell.state,
        accuracy=_figure(cell, ACCURACY),
        latency=_figure(cell, LATENCY, STAGE),
        parity=_parity(cell),
    )


def release_table(releases: Sequence[tuple[str, RunView]]) -> list[Line]:
    """Lines for a terminal: a row for each model, trainer and release."""
    cells = [cell for release, view in releases for cell in cells_of(release, view)]
    order = list(dict.fromkeys((cell.model, cell.trainer, cell.runs_on) for cell in cells))
    cells.sort(key=lambda cell: order.index((cell.model, cell.trainer, cell.runs_on)))
    names = ("model", "chain", "on", "release", "verdict", "accuracy", "latency", "parity")
    rows: list[list[Line]] = [[[Span(name, "dim")] for name in names]]
    for cell in cells:
        verdict = f"{SIGNS[cell.state].mark} {cell.state}"
        where = [cell.model, cell.trainer, cell.runs_on, cell.release]
        texts = [*where, verdict, cell.accuracy, cell.latency, cell.parity]
        rows.append([[Span(text)] for text in texts])
    return aligned(rows)


def _figure(cell: CellView, kind: str, beginning: str = "") -> str:
    """The first figure of this kind that a step of the cell has, of those whose names begin so."""
    for step in cell.steps:
        for metric in step.figures.metrics:
            if metric.kind == kind and metric.name.startswith(beginning):
                return _text(metric)
    return "–"


def _text(metric: Metric) -> str:
    return f"{metric.name} {figure(metric.value)}{' ' + metric.unit if metric.unit else ''}"


def _parity(cell: CellView) -> str:
    """The worst that the checks of parity said of the cell."""
    said = {finding.status for finding in cell.every_finding if finding.check in PARITY}
    if FAIL in said:
        return "differs"
    if UNCHECKED in said:
        return "not checked"
    return "equal" if PASS in said else "–"
