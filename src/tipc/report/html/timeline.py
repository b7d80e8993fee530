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
        mine = [self._named(say("core {number}", number=number + 1)) for number in range(self.cores)]
        free = [row for row in mine if self.free[row] <= begun + 0.05]
        # Where none is free (a launch may begin on half of its cores) it shares the one that is free first.
        return free[:wanted] or [min(mine, key=lambda row: self.free[row])]

    def _named(self, name: str) -> int:
        if name not in self.rows:
            self.rows.append(name)
            self.free.append(0.0)
        return self.rows.index(name)


def timeline(view: RunView, cells: Mapping[tuple[str, str], int]) -> dict[str, Any] | None:
    """The template's data; ``cells`` gives the number of a (plan, cell) on the page. None: nothing ran."""
    ran = [
        (cells.get((plan.plan.key, cell.cell.id), -1), one)
        for plan in view.plans
        for cell in plan.cells
        for one in cell.steps
        if one.result.started and one.result.wall > 0
    ]
    if not ran:
        return None
    ran.sort(key=lambda item: item[1].result.started)
    first = ran[0][1].result.started
    span = max(max(one.result.started + one.result.wall for _, one in ran) - first, 1e-3)
    cores = _cores(view)
    machines: dict[str, _Machine] = {}
    bars: list[tuple[str, str, float, float, str, int, int]] = []
    for cell, one in ran:
        machine = machines.setdefault(one.result.host, _Machine(cores))
        for row in machine.take(one):
            name = one.step.kind if one.step.kind in STEP_KINDS else "other"
            kind = "x" if one.state in BAD else f"k-{name}"
            left, width = (one.result.started - first) / span, one.result.wall / span
            bars.append((kind, name, left, width, one.result.host, row, cell))
    rows = [(host, row) for host, machine in machines.items() for row in range(len(machine.rows))]
    used = {(bar[4], bar[5]) for bar in bars}
    rows = [row for row in rows if row in used][:MOST_ROWS]
    names = [
        f"{host} {machines[host].rows[row]}" if len(machines) > 1 else machines[host].rows[row]
        for host, row in rows
    ]
    spent = sum(one.result.cpu for _, one in ran)
    told = [plural(len(ran), "step"), duration(span)]
    if spent and len(machines) == 1:
        share = f"{100 * spent / (span * cores):.0f} %"
        told.append(say("processor time {share} of {cores}", share=share, cores=plural(cores, "core")))
    places = {row: number for number, row in enumerate(rows)}
    return {
        "names": names,
        "told": " · ".join(told),
        "span": round(span, 3),
        "height": ROW * len(rows),
        "paths": _paths(bars, places),
        "ticks": _ticks(span),
    }


def _cores(view: RunView) -> int:
    cpu = view.run.environment.get("cpu")
    cores = cpu.get("cores") if isinstance(cpu, Mapping) else None
    return max(1, cores) if isinstance(cores, int) else 1


def _paths(
    bars: Sequence[tuple[str, str, float, float, str, int, int]], places: Mapping[tuple[str, int], int]
) -> Markup:
    """One path for each kind of step; ``data-c`` has the number of each bar's cell."""
    lines: dict[tuple[str, str], list[str]] = {}
    cells: dict[tuple[str, str], list[str]] = {}
    for kind, name, left, width, host, row, cell in bars:
        place = places.get((host, row))
        if place is None:
            continue
        begin = round(WIDE * left)
        wide = max(round(WIDE * (left + width)) - begin - 1, 2)
        lines.setdefault((kind, name), []).append(f"M{begin} {ROW * place + ROW // 2}h{wide}")
        cells.setdefault((kind, name), []).append(str(cell))
    drawn = []
    for (kind, name), parts in lines.items():
        about = f'data-kind="{say(name)}" data-c="{" ".join(cells[kind, name])}"'
        drawn.append(f'<path class={kind} {about} d="{"".join(parts)}"/>')
    return Markup("".join(drawn))


def _ticks(span: float) -> list[tuple[str, str]]:
    """Times at round distances: the label, and where it stands in per cent."""
    step = next((tick for tick in TICKS if span / tick <= 10), math.ceil(span / 10))
    count = int(span / step) + 1
    return [(_clock(number * step), f"{100 * number * step / span:.2f}") for number in range(count)]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
