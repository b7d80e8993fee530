"""One figure over the runs, as lines for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import localtime, strftime

from tipc.report.figures import HIGHER, OF_THE_MACHINE
from tipc.report.history.history_store import Figure, PastRun
from tipc.report.history.spread import between_runs, on_scale
from tipc.report.plain_text import clean, figure
from tipc.report.terminal import Line, Span, aligned

BARS = "▁▂▃▄▅▆▇█"


def trends(entries: Sequence[PastRun], metric: str, words: str = "") -> list[Line]:
    """For each machine and each step that has the figure: its course, first and last value, and spread."""
    found: dict[tuple[str, str, str, str], list[tuple[PastRun, Figure]]] = {}
    for entry in entries:
        for one in entry.figures.values():
            if metric in (one.metric, one.kind) and words.lower() in f"{one.plan} {one.step}".lower():
                found.setdefault((entry.machine, *one.key), []).append((entry, one))
    courses = dict(sorted(found.items()))
    lines: list[Line] = []
    titles = ("figure", "course", "first", "last", "change", "varies by", "runs", "since")
    head: list[Line] = [[Span(word, "dim")] for word in titles]
    table = aligned([head, *(_row(course) for course in courses.values())], gap="  ")
    place = ("", "")
    for row, (machine, plan, _, _), course in zip(table[1:], courses, courses.values(), strict=True):
        if machine != place[0]:
            lines += [[Span(f"{clean(course[0][0].machine_name)}  ", "bold"), Span(machine, "dim")], table[0]]
        if (machine, plan) != place:
            lines.append([Span(f" {clean(plan)}", "bold")])
        place = (machine, plan)
        lines.append(row)
    return lines


def _row(course: Sequence[tuple[PastRun, Figure]]) -> list[Line]:
    figures = [one for _, one in course]
    first, last = figures[0], figures[-1]
    points = [on_scale(one, one.value) for one in figures]
    spread = between_runs(points)
    change = points[-1] - points[0]
    worse = (change < 0) == (last.better == HIGHER) and change != 0
    clear = spread is not None and abs(change) > 3 * spread.sigma
    style = ""
    if clear:
        style = "red" if worse else "green"
    relative = last.kind in OF_THE_MACHINE
    return [
        [Span(clean(f"{last.step} · {last.metric}"))],
        [Span(sparkline([one.value for one in figures]))],
        [Span(f"{figure(first.value)} {first.unit}".rstrip())],
        [Span(f"{figure(last.value)} {last.unit}".rstrip())],
        [Span(_amount(change, relative), style)],
        [Span(_amount(spread.sigma / math.sqrt(2), relative).lstrip("+") if spread else "?")],
        [Span(str(len(course)))],
        [Span(strftime("%Y-%m-%d %H:%M", localtime(course[0][0].started)), "dim")],
    ]


def sparkline(values: Sequence[float]) -> str:
    """The course of some values as a row of bars of eight heights."""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return "".join(BARS[min(7, int(8 * (value - low) / span))] for value in values)


def _amount(amount: float, relative: bool) -> str:
    return f"{100 * math.expm1(amount):+.1f} %" if relative else f"{amount:+.4g}"
