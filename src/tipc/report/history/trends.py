"""One figure over the runs, as lines for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import localtime, strftime

from tipc.language import say
from tipc.report.figures import HIGHER, OF_THE_MACHINE
from tipc.report.history.history_store import Figure, PastRun
from tipc.report.history.spread import between_runs, on_scale
from tipc.report.machine_facts import spoken_machine
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
    titles = ("figure", "course", "first", "last", "change", "varies by", "runs", "since")
    head: list[Line] = [[Span(say(word), "dim")] for word in titles]
    title, *rows = aligned([head, *map(_row, courses.values())], gap="  ")
    lines: list[Line] = []
    place = ("", "")
    for row, (machine, plan, _, _), course in zip(rows, courses, courses.values(), strict=True):
        if machine != place[0]:
            lines += [
                [Span(f"{clean(spoken_machine(course[0][0].machine_name))}  ", "bold"), Span(machine, "dim")],
                title,
            ]
        if (machine, plan) != place:
            lines.append([Span(f" {clean(plan)}", "bold")])
        place = (machine, plan)
        lines.append(row)
    return lines


def _row(course: Sequence[tuple[PastRun, Figure]]) -> list[Line]:
    first, last = course[0][1], course[-1][1]
    values, points = [], []
    for _entry, one in course:
        values.append(one.value)
        points.append(on_scale(one, one.value))
    relative = last.kind in OF_THE_MACHINE
    change = points[-1] - points[0]
    spread = between_runs(points)
    varies = "?"
    style = ""
    if spread is not None:
        varies = _amount(spread.sigma / math.sqrt(2), relative).lstrip("+")
        if abs(change) > 3 * spread.sigma:
            style = _style(change, last)
    return [
        [Span(clean(f"{last.step} · {last.metric}"))],
        [Span(sparkline(values))],
        [Span(f"{figure(first.value)} {first.unit}".rstrip())],
        [Span(f"{figure(last.value)} {last.unit}".rstrip())],
        [Span(_amount(change, relative), style)],
        [Span(varies)],
        [Span(str(len(course)))],
        [Span(strftime("%Y-%m-%d %H:%M", localtime(course[0][0].started)), "dim")],
    ]


def _style(change: float, figure: Figure) -> str:
    """The colour of a change that is more than chance."""
    if (change > 0) == (figure.better == HIGHER):
        return "green"
    return "red"


def sparkline(values: Sequence[float]) -> str:
    """The course of some values as a row of bars of eight heights."""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    bars = ""
    for value in values:
        bars += BARS[min(7, int(8 * (value - low) / span))]
    return bars


def _amount(amount: float, relative: bool) -> str:
    if relative:
        return f"{100 * math.expm1(amount):+.1f} %"
    return f"{amount:+.4g}"
