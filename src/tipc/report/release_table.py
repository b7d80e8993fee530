"""One table of several runs of the same configs: what each cell came to, by release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tipc.kinds import FAIL, PASS, PREPARE, SIGNS, UNCERTIFIED, UNCHECKED
from tipc.language import say
from tipc.report.figures import ACCURACY, LATENCY, Metric
from tipc.report.plain_text import figure
from tipc.report.terminal import Line, Span, aligned
from tipc.report.view import CellView, PlanView, RunView

PARITY = ("TP301", "TP302", "TP305")  # the checks that hold an exported model against the trained one
NAMES = ("model", "chain", "on", "release", "verdict", "accuracy", "latency", "parity")
STAGE = "inference"  # of a benchmark block: the latency that people compare


@dataclass(frozen=True)
class CellOfRelease:
    """What one cell of one config came to on one release."""

    model: str
    trainer: str
    runs_on: str
    release: str
    verdict: str
    accuracy: str
    latency: str
    parity: str


def cells_of(release: str, view: RunView) -> list[CellOfRelease]:
    """The cells of a run, in its order."""
    found = []
    for plan in view.plans:
        for cell in plan.cells:
            kinds = {step.step.kind for step in cell.steps}
            if kinds - {PREPARE}:
                found.append(_cell(release, plan, cell))
    return found


def _cell(release: str, plan: PlanView, cell: CellView) -> CellOfRelease:
    return CellOfRelease(
        model=plan.plan.model,
        trainer=cell.cell.trainer,
        runs_on=cell.cell.runs_on,
        release=release,
        verdict=_verdict(cell),
        accuracy=_figure(cell, ACCURACY),
        latency=_figure(cell, LATENCY, STAGE),
        parity=_parity(cell),
    )


def release_table(releases: Sequence[tuple[str, RunView]]) -> list[Line]:
    """Lines for a terminal: a row for each model, trainer and release."""
    by_chain: dict[tuple[str, str, str], list[CellOfRelease]] = {}
    for release, view in releases:
        for cell in cells_of(release, view):
            by_chain.setdefault((cell.model, cell.trainer, cell.runs_on), []).append(cell)
    rows: list[list[Line]] = [[[Span(say(name), "dim")] for name in NAMES]]
    for where, cells in by_chain.items():
        for cell in cells:
            texts = [*where, cell.release, cell.verdict, cell.accuracy, cell.latency, cell.parity]
            rows.append([[Span(text)] for text in texts])
    return aligned(rows)


def _verdict(cell: CellView) -> str:
    """``✔ passed``; ``◇ passed on cpu`` of what passed on another device than the config asks for."""
    word = say(cell.state)
    if cell.state == UNCERTIFIED:
        devices = sorted({step.step.device for step in cell.steps})
        word = say("passed on {devices}", devices=", ".join(devices))
    return f"{SIGNS[cell.state].mark} {word}"


def _figure(cell: CellView, kind: str, beginning: str = "") -> str:
    """The first figure of this kind that a step of the cell has, of those whose names begin so."""
    for step in cell.steps:
        for metric in step.figures.metrics:
            if metric.kind == kind and metric.name.startswith(beginning):
                return _text(metric)
    return "–"


def _text(metric: Metric) -> str:
    return f"{metric.name} {figure(metric.value)} {metric.unit}".rstrip()


def _parity(cell: CellView) -> str:
    """The worst that the checks of parity said of the cell."""
    said = set()
    for finding in cell.every_finding:
        if finding.check in PARITY:
            said.add(finding.status)
    if FAIL in said:
        return say("differs")
    if UNCHECKED in said:
        return say("not checked")
    if PASS in said:
        return say("equal")
    return "–"
