"""What the HTML page says about one cell: curves, latencies, pictures, checks and its steps."""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tipc.kinds import BAD, FAILED, NOT_CERTIFIED, PASS, STATE_OF_STATUS, TIMEOUT, WORST_FIRST
from tipc.language import say, sentence, sentences
from tipc.report.evidence import operator_counts
from tipc.report.figures import curve_rows
from tipc.report.html import charts
from tipc.report.html.anchors import Anchors
from tipc.report.html.file_links import file_link
from tipc.report.html.pictures import Pictures
from tipc.report.plain_text import command, duration, figure, log_end, relative, size
from tipc.report.support_matrix import Place
from tipc.report.view import CellView, PlanView, StepView, asked

TELLING = ("TP", "TQ", "TA")  # parity, quantisation, mixed precision: their figures are what people look for
MANY = 200  # steps
OPEN = 40  # steps of a page that packs nothing
WHOLE_LOGS, SHORT_LOGS = 20, 60  # failed steps whose logs are shown at length, and at all in the open
STAGES = ("preprocess", "inference", "postprocess")


@dataclass
class Budget:
    """How much of the logs and pictures fits, so that a page over many configs stays small."""

    steps: int
    plans: int
    findings: int = 0
    failed: int = 0
    pictures: Pictures = field(default_factory=Pictures)
    packed: list[str] = field(default_factory=list)  # the insides of cells that the page unpacks when opened

    @property
    def brief(self) -> bool:
        """There are so many findings that those which passed are only named."""
        return self.findings > 400

    def lines(self, view: StepView) -> int:
        """How many lines of a step's log to show."""
        if view.state in BAD:
            self.failed += bool(view.result.log)
            return 40 if self.failed <= WHOLE_LOGS else 8
        for steps, lines in ((60, 12), (MANY, 4), (2000, 2)):
            if self.steps <= steps:
                return lines
        return 0

    def packs(self, cell: CellView) -> bool:
        """The inside of this cell goes into the packed part: there are many, and it is not one to look at,
        or so many of those were shown that it hardly tells anything new."""
        return self.steps > OPEN and (cell.state not in BAD or self.failed > SHORT_LOGS)

    def pack(self, inside: str) -> str:
        """Keep the inside of a cell for the packed part; nothing in its place."""
        self.packed.append(inside)
        return ""

    def blob(self) -> str:
        """All that was packed as compressed JSON: cells are much like each other."""
        if not self.packed:
            return ""
        text = json.dumps(self.packed, ensure_ascii=False, separators=(",", ":"))
        return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


@dataclass(frozen=True)
class Around:
    """What a cell's part of the page has to know beside the cell."""

    plan: PlanView
    place: Place
    clock: tuple[float, float]  # when the plan began and how long it took
    target: Path
    anchors: Anchors
    budget: Budget


def cell_page(cell: CellView, around: Around) -> dict[str, Any]:
    """The template's data about a cell."""
    plan, budget, target = around.plan, around.budget, around.target
    data = cell.cell
    ran = [view for view in cell.steps if view.result.started]
    packed = budget.packs(cell)
    latency, scale = _latency(cell)
    return {
        "anchor": around.anchors.cell(around.place),
        "id": data.id,
        "trainer": data.trainer,
        "runs_on": asked(data),
        "state": cell.state,
        "packed": packed,
        "words": " ".join(filter(None, (data.precision, data.amp_level))),
        "time": duration(cell.wall),
        "open": cell.state in BAD and plan.state in BAD and budget.plans < 30 and not packed,
        "lane": charts.lane(_bars(ran, around.clock)),
        "not_certified": ""
        if any(one.status == NOT_CERTIFIED for one in cell.findings)
        else sentences(data.not_certified),
        "curves": _curves(cell, budget),
        "evaluation": ", ".join(
            f"{name} {figure(value)}"
            for view in cell.steps
            for name, value in view.figures.evaluation.items()
        ),
        "latency": latency,
        "scale": figure(scale, 3),
        "operators": operator_counts(cell),
        "pictures": budget.pictures.of(plan, cell, budget.plans, target),
        **_findings(cell, budget),
        "steps": [_step(view, around) for view in cell.steps],
        "skips": _skips(cell),
    }


def _skips(cell: CellView) -> list[str]:
    """What was left out, each reason once, and of each command what it does not share with the one before."""
    reasons: dict[str, list[list[str]]] = {}
    for skip in cell.skips:
        reasons.setdefault(sentence(skip.reason), []).append(skip.label.split())
    return [f"{', '.join(map(' '.join, _unlike(skipped)))}: {reason}" for reason, skipped in reasons.items()]


def _unlike(commands: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    before: Sequence[str] = ()
    for words in commands:
        yield [word for word in words if word not in before] or words
        before = words


def _findings(cell: CellView, budget: Budget) -> dict[str, Any]:
    """What did not pass and what people look for in the open; the other checks that passed folded away, on a
    page over many configs only by name. Of a step that did not pass its state says enough."""
    found = [*cell.findings, *(one for view in cell.steps if view.result.ok for one in view.findings)]
    found.sort(key=lambda one: (WORST_FIRST.index(STATE_OF_STATUS[one.status]), one.check))
    shown = [
        one for one in found if one.status != PASS or (one.check.startswith(TELLING) and not budget.brief)
    ]
    rest = [one for one in found if one not in shown]
    told = [f"{one.check} {one.message}" for one in rest if one.check.startswith(TELLING)]
    names = Counter(one.check for one in rest if not one.check.startswith(TELLING))
    told.append(" ".join(f"{check} ×{count}" if count > 1 else check for check, count in names.items()))
    return {
        "findings": shown,
        "passed": " · ".join(filter(None, told)),
        "more_findings": [] if budget.brief else rest,
    }


def _bars(views: Sequence[StepView], clock: tuple[float, float]) -> list[tuple[str, float, float, int]]:
    """The steps on a line of time; those that ran at once lie below each other."""
    first, span = clock
    ends: list[float] = []
    bars = []
    for view in sorted(views, key=lambda view: view.result.started):
        begun, wall = view.result.started, view.result.wall
        row = next((number for number, end in enumerate(ends) if end <= begun + 0.01 * span), len(ends))
        ends[row : row + 1] = [begun + wall]
        kind = "x" if view.state in BAD else f"k-{view.step.kind}"
        bars.append((kind, (begun - first) / span, wall / span, row))
    return bars


def _curves(cell: CellView, budget: Budget) -> list[Any]:
    found = []
    for view in cell.steps:
        series = view.figures.training
        for name, title, unit in (
            ("loss", say("loss"), ""),
            ("avg_ips", say("speed"), say("images/s")),
            ("lr", say("learning rate"), ""),
        ):
            rows = curve_rows(series, name)
            values = [value for value, _row in rows]
            if values and (name != "lr" or (len(set(values)) > 1 and not budget.brief)):
                found.append(charts.curve(title, unit, values, [_logged(row) for _value, row in rows]))
    return found


def _logged(row: Mapping[str, Any]) -> str:
    """Where in the training a line was logged: ``epoch 3, iter 12``."""
    words = [f"{say(name)} {row[name]}" for name in ("epoch", "iter") if name in row]
    return ", ".join(words) or f"{say('line')} {row.get('line', '?')}"


def _latency(cell: CellView) -> tuple[list[dict[str, Any]], float]:
    measured = [(view, one) for view in cell.steps for one in view.figures.benchmarks if one.stages]
    scale = max((one.total for _, one in measured), default=0.0)
    rows = []
    for view, one in measured:
        inference = one.stages.get("inference", {})
        memory = one.rss * 2**20 if one.rss else view.result.peak_rss
        rows.append(
            {
                "label": " ".join(filter(None, (view.label.removeprefix("infer "), one.name))),
                "bar": charts.stages(one.stages, scale),
                "figures": [
                    *(_figure(one.stages.get(stage, {}), "mean") for stage in STAGES),
                    _figure(inference, "p50"),
                    _figure(inference, "p95"),
                    size(memory) if memory else "–",
                ],
            }
        )
    return rows, scale


def _figure(values: Mapping[str, float], name: str) -> str:
    return figure(values[name], 4) if name in values else "–"


def _step(view: StepView, around: Around) -> dict[str, Any]:
    step, result, target = view.step, view.result, around.target
    memory = [size(value) for value in (result.peak_rss, result.peak_gpu) if value]
    lines = around.budget.lines(view)
    return {
        "anchor": around.anchors.step(around.place, step.id),
        "log": relative(relative(result.log, around.plan.plan.repo), str(target.parent.absolute())),
        "link": file_link(result.log, target),
        "tail": "\n".join(log_end(result.log, lines)) if result.log else "",
        "attempts": result.attempts,
        "command": command(step.argv, step.env, "" if step.cwd == "." else step.cwd, step.shell),
        "label": view.label,
        "state": view.state,
        "reason": sentence(result.reason) if not result.ok else "",
        "time": duration(result.wall) if result.started else "",
        "memory": " + ".join(memory),
        "open": view.state in (FAILED, TIMEOUT),
    }
