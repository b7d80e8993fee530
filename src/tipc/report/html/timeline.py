"""The whole run on one line of time: a row for each core of a machine and for each of its devices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from tipc.kinds import BAD, STEP_KINDS
from tipc.language import plural, say
from tipc.report.plain_text import duration
from tipc.report.view import RunView, StepView
from tipc.run.schedule.resources import cores_of

WIDE = 1000
ROW = 10  # units of height
MOST_ROWS = 64
TICKS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)


@dataclass
class _Machine:
    """The rows of one machine, and when each of them is free again."""

    cores: int
    rows: list[str] = field(default_factory=list)
    free: list[float] = field(default_factory=list)

    def take(self, view: StepView) -> list[int]:
        """The rows that a step is drawn in: those of its devices, else as many as it has cores."""
        begun, end = view.result.started, view.result.started + view.result.wall
        if view.step.gpus:
            rows = [self._named(f"{view.step.device}:{gpu}") for gpu in view.step.gpus]
        else:
            rows = self._cores(cores_of(view.step, self.cores), begun)
        for row in rows:
            self.free[row] = max(end, self.free[row])
        return rows

    def _cores(self, wanted: int, begun: float) -> list[int]:
        mine, free = [], []
        for number in range(1, self.cores + 1):
            row = self._named(say("core {number}", number=number))
            mine.append(row)
            if self.free[row] <= begun + 0.05:
                free.append(row)
        # Where none is free (a launch may begin on half of its cores) it shares the one that is free first.
        return free[:wanted] or [min(mine, key=lambda row: self.free[row])]

    def _named(self, name: str) -> int:
        if name not in self.rows:
            self.rows.append(name)
            self.free.append(0.0)
        return self.rows.index(name)


@dataclass(frozen=True, slots=True)
class _Bar:
    """A step in one of the rows of its machine."""

    shown_as: str  # the name of its colour
    kind: str
    left: float  # of the whole time
    width: float
    row: tuple[str, int]  # the machine, and which of its rows
    cell: int  # its number on the page


def timeline(view: RunView, cells: Mapping[tuple[str, str], int]) -> dict[str, Any] | None:
    """The template's data; ``cells`` gives the number of a (plan, cell) on the page. None: nothing ran."""
    ran = _steps(view, cells)
    if not ran:
        return None
    first = ran[0][1].result.started
    last = max([one.result.started + one.result.wall for _, one in ran])
    span = max(last - first, 1e-3)
    cores = _cores(view)
    machines: dict[str, _Machine] = {}
    bars = []
    for cell, one in ran:
        machine = machines.setdefault(one.result.host, _Machine(cores))
        kind, shown_as = _kind(one)
        left, width = (one.result.started - first) / span, one.result.wall / span
        for row in machine.take(one):
            bars.append(_Bar(shown_as, kind, left, width, (one.result.host, row), cell))
    places, names = _drawn_rows(bars, machines)
    told = [plural(len(ran), "step"), duration(span)]
    spent = sum(one.result.cpu for _, one in ran)
    if spent and len(machines) == 1:
        share = f"{100 * spent / (span * cores):.0f} %"
        told.append(say("processor time {share} of {cores}", share=share, cores=plural(cores, "core")))
    return {
        "names": names,
        "told": " · ".join(told),
        "span": round(span, 3),
        "height": ROW * len(names),
        "paths": _paths(bars, places),
        "ticks": _ticks(span),
    }


def _steps(view: RunView, cells: Mapping[tuple[str, str], int]) -> list[tuple[int, StepView]]:
    """The steps that ran, in the order of their start, each with the number of its cell."""
    ran = []
    for plan in view.plans:
        for cell in plan.cells:
            number = cells.get((plan.plan.key, cell.cell.id), -1)
            for one in cell.steps:
                if one.result.started and one.result.wall > 0:
                    ran.append((number, one))
    ran.sort(key=lambda item: item[1].result.started)
    return ran


def _kind(view: StepView) -> tuple[str, str]:
    """The kind of a step, and the name of its colour: one for all that went wrong."""
    kind = view.step.kind
    if kind not in STEP_KINDS:
        kind = "other"
    if view.state in BAD:
        return kind, "x"
    return kind, f"k-{kind}"


def _drawn_rows(
    bars: Sequence[_Bar], machines: Mapping[str, _Machine]
) -> tuple[dict[tuple[str, int], int], list[str]]:
    """Where the rows with a bar are drawn, machine by machine, and their names."""
    used = {bar.row for bar in bars}
    places: dict[tuple[str, int], int] = {}
    names: list[str] = []
    for host, machine in machines.items():
        for row, name in enumerate(machine.rows):
            if (host, row) not in used or len(names) == MOST_ROWS:
                continue
            places[host, row] = len(names)
            if len(machines) > 1:
                name = f"{host} {name}"
            names.append(name)
    return places, names


def _cores(view: RunView) -> int:
    cpu = view.run.environment.get("cpu")
    if not isinstance(cpu, Mapping):
        return 1
    cores = cpu.get("cores")
    if not isinstance(cores, int):
        return 1
    return max(1, cores)


def _paths(bars: Sequence[_Bar], places: Mapping[tuple[str, int], int]) -> Markup:
    """One path for each kind of step; ``data-c`` has the number of each bar's cell."""
    lines: dict[tuple[str, str], list[str]] = {}
    cells: dict[tuple[str, str], list[str]] = {}
    for bar in bars:
        place = places.get(bar.row)
        if place is None:
            continue
        begin = round(WIDE * bar.left)
        wide = max(round(WIDE * (bar.left + bar.width)) - begin - 1, 2)
        key = (bar.shown_as, bar.kind)
        lines.setdefault(key, []).append(f"M{begin} {ROW * place + ROW // 2}h{wide}")
        cells.setdefault(key, []).append(str(bar.cell))
    drawn = []
    for (shown_as, kind), parts in lines.items():
        about = f'data-kind="{say(kind)}" data-c="{" ".join(cells[shown_as, kind])}"'
        drawn.append(f'<path class={shown_as} {about} d="{"".join(parts)}"/>')
    return Markup("".join(drawn))


def _ticks(span: float) -> list[tuple[str, str]]:
    """Times at round distances: the label, and where it stands in per cent."""
    step = math.ceil(span / 10)
    for tick in reversed(TICKS):
        if span / tick <= 10:
            step = tick
    count = int(span / step) + 1
    return [(_clock(number * step), f"{100 * number * step / span:.2f}") for number in range(count)]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes}:{rest:02d}"
    return f"{hours}:{minutes:02d}:{rest:02d}"
