"""Charts as markup, drawn here so that the page needs no library. Colours come from the style sheet.

A plot carries its values (``data-v``) and where they were logged (``data-x``): the script of the page
reads them out under the pointer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from markupsafe import Markup, escape

from tipc.report.plain_text import figure

POINTS = 120
WIDE, HIGH = 300, 100
TICKS = 3  # intervals of an axis, about
PLOT = (
    '<div class="plot{more}" data-v="{values}"{places}><svg viewBox="0 0 300 100" role=img '
    'aria-label="{label}" preserveAspectRatio=none>{grid}<path d="{line}"/></svg>{ticks}</div>'
)
CURVE = (
    "<figure class=curve><figcaption><b>{title}</b>{first} → {last} {unit}</figcaption>{plot}"
    "<small>{begin}<span>{end}</span></small></figure>"
)
STAGES = "abc"  # the names that the style sheet has for where each colour of a bar ends


def thinned(values: Sequence[float], most: int = POINTS) -> list[tuple[int, float]]:
    """At most so many (index, value), the first and the last among them."""
    if len(values) <= most:
        return list(enumerate(values))
    last = len(values) - 1
    found = []
    for number in range(most):
        place = round(number * last / (most - 1))
        found.append((place, values[place]))
    return found


def axis(low: float, high: float) -> list[float]:
    """Round numbers from at or below the lowest value to at or above the highest."""
    if high <= low:
        spare = abs(low) / 10 or 1.0
        low, high = low - spare, high + spare
    step = _round_step((high - low) / TICKS)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def _round_step(rough: float) -> float:
    """The smallest round number that is hardly below the rough one."""
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1, 2, 2.5, 5):
        if power * factor >= rough * 0.999:
            return power * factor
    return power * 10


def curve(title: str, unit: str, values: Sequence[float], places: Sequence[str] = ()) -> Markup:
    """A line over the log's intervals with its axes; ``places`` say where each value was logged."""
    if not values:
        return Markup("")
    if len(places) != len(values):
        places = list(map(str, range(1, len(values) + 1)))
    # The words are escaped here, the rest are our own numbers: a page has thousands of curves.
    told = {
        "title": escape(title),
        "unit": escape(unit),
        "first": figure(values[0]),
        "last": figure(values[-1]),
        "begin": escape(places[0]),
        "end": "",
    }
    if len(values) > 1:
        told["end"] = escape(places[-1])
    return Markup(CURVE.format(plot=plot(title, values, places, axes=True), **told))


def plot(title: str, values: Sequence[float], places: Sequence[str] = (), *, axes: bool = False) -> Markup:
    """The line alone, or with a scale at its side."""
    low, high = min(values), max(values)
    if axes:
        ticks = axis(low, high)
    else:  # so small that the whole height is needed
        spare = (high - low) * 0.08 or abs(low) * 0.1 or 1.0
        ticks = [low - spare, high + spare]
    shown = thinned(values)
    points, figures, named = [], [], []
    for number, (place, value) in enumerate(shown):
        points.append((round(WIDE * number / max(len(shown) - 1, 1)), _height(value, ticks)))
        figures.append(figure(value))
        if places:
            named.append(places[place])
    if len(points) == 1:
        points.append((WIDE, points[0][1]))
    told = {
        "more": " spark",
        "values": " ".join(figures),
        "places": "",
        "label": escape(f"{title}: {figure(values[0])} → {figure(values[-1])}"),
        "line": _path(points),
        "grid": "",
        "ticks": "",
    }
    if named:
        told["places"] = Markup(' data-x="{}"').format("|".join(named))
    if axes:
        grid, labels = _scale(ticks)
        told.update(more="", grid=grid, ticks=labels)
    return Markup(PLOT.format(**told))


def _scale(ticks: Sequence[float]) -> tuple[str, str]:
    """The lines across a plot, and the numbers beside it."""
    lines = labels = ""
    for tick in ticks:
        height = _height(tick, ticks)
        lines += f"M0 {height}h{WIDE}"
        labels += f"<u style=top:{height}%>{figure(tick)}</u>"
    return f'<path class=grid d="{lines}"/>', labels


def _height(value: float, ticks: Sequence[float]) -> int:
    """How far below the top a value lies."""
    share = (value - ticks[0]) / (ticks[-1] - ticks[0])
    return round(HIGH * (1 - share))


def stages(latency: Mapping[str, Mapping[str, float]], scale: float) -> Markup:
    """A cell with a stacked bar of the mean milliseconds by stage; ``scale`` is what the full width means."""
    told = []
    end = 0.0
    for name, values in zip(STAGES, latency.values(), strict=False):
        end += max(0.0, values.get("mean", 0.0))
        told.append(f"--{name}:{100 * end / (scale or math.inf):.0f}")
    return Markup(f"<td style={';'.join(told) or '--a:0'}>")


def lane(bars: Sequence[tuple[str, float, float, int]]) -> Markup:
    """Steps on a line of time: kind, where it begins and how long it is as shares of the whole, and row."""
    paths: dict[str, str] = {}
    rows = 1
    for kind, left, width, row in bars:
        line = f"M{round(1000 * left)} {2 * row + 1}h{max(round(1000 * width) - 2, 4)}"
        paths[kind] = paths.get(kind, "") + line
        rows = max(rows, row + 1)
    drawn = "".join([f'<path class={kind} d="{line}"/>' for kind, line in paths.items()])
    box = f'viewBox="0 0 1000 {2 * rows}" preserveAspectRatio=none aria-hidden=true'
    return Markup(f"<svg class=lane {box}>{drawn}</svg>")


def _path(points: Sequence[tuple[int, int]]) -> str:
    """Steps from point to point: shorter than their places."""
    steps = []
    for (left, top), (x, y) in pairwise(points):
        steps.append(f"{x - left} {y - top}".replace(" -", "-"))
    return f"M{points[0][0]} {points[0][1]}l{' '.join(steps)}"
