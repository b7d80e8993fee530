"""What the HTML page says about one cell: curves, latencies, pictures, checks and its steps."""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tipc.certify.check_text import finding_message
from tipc.kinds import BAD, FAILED, NOT_CERTIFIED, PASS, STATE_OF_STATUS, TIMEOUT, WORST_FIRST
from tipc.language import say, sentence, sentences
from tipc.plan.plan_text import asked_place
from tipc.report.evidence import operator_counts
from tipc.report.figures import Benchmark, Figures, curve_rows
from tipc.report.html import charts
from tipc.report.html.anchors import Anchors
from tipc.report.html.file_links import file_link
from tipc.report.html.pictures import Pictures
from tipc.report.plain_text import command, duration, figure, log_end, relative, size
from tipc.report.support_matrix import Place
from tipc.report.view import CellView, PlanView, StepView

TELLING = ("TP", "TQ", "TA")  # parity, quantisation, mixed precision: their figures are what people look for
MANY = 200  # steps
OPEN = 40  # steps of a page that packs nothing
WHOLE_LOGS, SHORT_LOGS = 20, 60  # failed steps whose logs are shown at length, and at all in the open
GZIP = 31  # zlib's word for a gzip header around 32 KB of memory
STAGES = ("preprocess", "inference", "postprocess")


StepFigures = Sequence[tuple[StepView, Figures]]


class PackedTexts:
    """Texts as a JSON list, compressed as they come: together they are long, and much alike."""

    def __init__(self) -> None:
        self._compressor = zlib.compressobj(wbits=GZIP)
        self._bytes = bytearray()
        self._count = 0

    def add(self, parts: Iterable[str]) -> None:
        """Append a text that comes in parts."""
        self._compress(',"' if self._count else '["')
        self._count += 1
        for part in parts:
            self._compress(json.dumps(part, ensure_ascii=False)[1:-1])
        self._compress('"')

    def _compress(self, text: str) -> None:
        self._bytes += self._compressor.compress(text.encode())

    def blob(self) -> str:
        """The whole list in Base64, at the end; nothing if there is none."""
        if not self._count:
            return ""
        self._bytes += self._compressor.compress(b"]") + self._compressor.flush()
        return base64.b64encode(self._bytes).decode()


@dataclass
class Budget:
    """How much of the logs and pictures fits, so that a page over many configs stays small."""

    steps: int
    plans: int
    findings: int = 0
    failed: int = 0
    pictures: Pictures = field(default_factory=Pictures)
    packed: PackedTexts = field(default_factory=PackedTexts)  # insides of cells, unpacked when one is opened

    @property
    def brief(self) -> bool:
        """There are so many findings that those which passed are only named."""
        return self.findings > 400

    def lines(self, view: StepView) -> int:
        """How many lines of a step's log to show."""
        if view.state in BAD:
            self.failed += bool(view.result.log)
            if self.failed <= WHOLE_LOGS:
                return 40
            return 8
        for steps, lines in ((60, 12), (MANY, 4), (2000, 2)):
            if self.steps <= steps:
                return lines
        return 0

    def packs(self, cell: CellView) -> bool:
        """The inside of this cell goes into the packed part: there are many, and it is not one to look at,
        or so many of those were shown that it hardly tells anything new."""
        return self.steps > OPEN and (cell.state not in BAD or self.failed > SHORT_LOGS)


@dataclass(frozen=True)
class Around:
    """What a cell's part of the page has to know beside the cell."""

    plan: PlanView
    place: Place
    clock: tuple[float, float]  # when the plan began and how long it took
    folder: str  # in which the page will lie
    anchors: Anchors
    budget: Budget


def cell_page(cell: CellView, around: Around) -> dict[str, Any]:
    """The template's data about a cell."""
    plan, budget = around.plan, around.budget
    data = cell.cell
    packed = budget.packs(cell)
    figures = _to_draw(cell.steps)
    latency, scale = _latency(figures)
    return {
        "anchor": around.anchors.cells[around.place],
        "trainer": data.trainer,
        "runs_on": asked_place(data),
        "state": cell.state,
        "packed": packed,
        "words": f"{data.precision} {data.amp_level}".strip(),
        "time": duration(cell.wall),
        "open": cell.state in BAD and plan.state in BAD and budget.plans < 30 and not packed,
        "lane": charts.lane(_bars(cell.steps, around.clock)),
        "not_certified": _not_certified(cell),
        "curves": _curves(figures, budget),
        "evaluation": _evaluation(figures),
        "latency": latency,
        "scale": figure(scale, 3),
        "operators": operator_counts(cell),
        "pictures": budget.pictures.of(plan, cell, budget.plans, around.folder),
        **_findings(cell, budget),
        "steps": (_step(view, around) for view in cell.steps),  # when its turn comes: there may be many
        "skips": _skips(cell),
    }


def _to_draw(views: Sequence[StepView]) -> StepFigures:
    """The steps of which there is a figure to be drawn: of most inference steps there is none."""
    found = []
    for view in views:
        known = view.figures
        if known.training or known.evaluation or known.benchmarks:
            found.append((view, known))
    return found


def _not_certified(cell: CellView) -> str:
    """Why a cell ran elsewhere than was asked; empty where a finding about it says so."""
    for finding in cell.findings:
        if finding.status == NOT_CERTIFIED:
            return ""
    return sentences(cell.cell.not_certified)


def _evaluation(figures: StepFigures) -> str:
    told = []
    for _view, known in figures:
        for name, value in known.evaluation.items():
            told.append(f"{name} {figure(value)}")
    return ", ".join(told)


def _skips(cell: CellView) -> list[str]:
    """What was left out, each reason once, and of each command what it does not share with the one before."""
    reasons: dict[str, list[list[str]]] = {}
    for skip in cell.skips:
        reasons.setdefault(sentence(skip.reason), []).append(skip.label.split())
    told = []
    for reason, commands in reasons.items():
        told.append(f"{', '.join(_unlike(commands))}: {reason}")
    return told


def _unlike(commands: Sequence[Sequence[str]]) -> Iterator[str]:
    before: Sequence[str] = ()
    for words in commands:
        own = [word for word in words if word not in before]
        yield " ".join(own or words)
        before = words


def _findings(cell: CellView, budget: Budget) -> dict[str, Any]:
    """What did not pass and what people look for in the open; the other checks that passed folded away, on a
    page over many configs only by name. Of a step that did not pass its state says enough."""
    found = list(cell.findings)
    for view in cell.steps:
        if view.result.ok:
            found += view.findings
    found.sort(key=lambda one: (WORST_FIRST.index(STATE_OF_STATUS[one.status]), one.check))
    shown, folded, told = [], [], []
    names: Counter[str] = Counter()
    for one in found:
        telling = one.check.startswith(TELLING)
        if one.status != PASS or (telling and not budget.brief):
            shown.append(one)
            continue
        folded.append(one)
        if telling:
            told.append(f"{one.check} {finding_message(one)}")
        else:
            names[one.check] += 1
    if names:
        told.append(" ".join(map(_times, names, names.values())))
    more = folded
    if budget.brief:
        more = []
    return {"findings": shown, "passed": " · ".join(told), "more_findings": more}


def _times(name: str, count: int) -> str:
    if count == 1:
        return name
    return f"{name} ×{count}"


def _bars(views: Sequence[StepView], clock: tuple[float, float]) -> list[tuple[str, float, float, int]]:
    """The steps on a line of time; those that ran at once lie below each other."""
    first, span = clock
    ends: list[float] = []  # of the last bar in each row
    bars = []
    for view in sorted(views, key=lambda view: view.result.started):
        begun, wall = view.result.started, view.result.wall
        if not begun:
            continue
        row = 0
        while row < len(ends) and ends[row] > begun + 0.01 * span:
            row += 1
        ends[row : row + 1] = [begun + wall]
        kind = f"k-{view.step.kind}"
        if view.state in BAD:
            kind = "x"
        bars.append((kind, (begun - first) / span, wall / span, row))
    return bars


def _curves(figures: StepFigures, budget: Budget) -> list[Any]:
    found = []
    drawn = (
        ("loss", say("loss"), ""),
        ("avg_ips", say("speed"), say("images/s")),
        ("lr", say("learning rate"), ""),
    )
    for _view, known in figures:
        logged = _logged(known.training)
        for name, title, unit in drawn:
            values, places = [], []
            for value, row in curve_rows(known.training, name):
                values.append(value)
                places.append(logged[id(row)])
            # A learning rate that stays the same tells nothing.
            if values and (name != "lr" or (len(set(values)) > 1 and not budget.brief)):
                found.append(charts.curve(title, unit, values, places))
    return found


def _logged(series: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Where in the training each line was logged, ``epoch 3, iter 12``, by its identity."""
    epoch, iteration, line = say("epoch"), say("iter"), say("line")
    found = {}
    for row in series:
        words = []
        if "epoch" in row:
            words.append(f"{epoch} {row['epoch']}")
        if "iter" in row:
            words.append(f"{iteration} {row['iter']}")
        found[id(row)] = ", ".join(words) or f"{line} {row.get('line', '?')}"
    return found


def _latency(figures: StepFigures) -> tuple[list[dict[str, Any]], float]:
    """Rows of measured latencies, and the milliseconds that the longest bar stands for."""
    measured = []
    for view, known in figures:
        for benchmark in known.benchmarks:
            if benchmark.stages:
                measured.append((view, benchmark))
    scale = max([benchmark.total for _, benchmark in measured], default=0.0)
    rows = []
    for view, benchmark in measured:
        shown = [_figure(benchmark.stages.get(stage, {}), "mean") for stage in STAGES]
        inference = benchmark.stages.get("inference", {})
        shown += [_figure(inference, "p50"), _figure(inference, "p95"), _memory(view, benchmark)]
        label = f"{view.label.removeprefix('infer ')} {benchmark.name}".strip()
        rows.append({"label": label, "bar": charts.stages(benchmark.stages, scale), "figures": shown})
    return rows, scale


def _memory(view: StepView, benchmark: Benchmark) -> str:
    """The memory that the script says it used, else what its process was seen to use."""
    if benchmark.rss:
        return size(benchmark.rss * 2**20)
    if view.result.peak_rss:
        return size(view.result.peak_rss)
    return "–"


def _figure(values: Mapping[str, float], name: str) -> str:
    if name not in values:
        return "–"
    return figure(values[name], 4)


def _step(view: StepView, around: Around) -> dict[str, Any]:
    step, result, folder = view.step, view.result, around.folder
    time = reason = ""
    if result.started:
        time = duration(result.wall)
    if not result.ok:
        reason = sentence(result.reason)
    memory = []
    for value in (result.peak_rss, result.peak_gpu):
        if value:
            memory.append(size(value))
    lines = around.budget.lines(view)
    return {
        "anchor": around.anchors.steps[around.place[0], around.place[1], step.id],
        "log": relative(relative(result.log, around.plan.plan.repo), folder),
        "link": file_link(result.log, folder),
        "tail": "\n".join(log_end(result.log, lines)),
        "attempts": result.attempts,
        "command": command(step.argv, step.env, step.cwd, step.shell),
        "label": view.label,
        "state": view.state,
        "reason": reason,
        "time": time,
        "memory": " + ".join(memory),
        "open": view.state in (FAILED, TIMEOUT),
    }
