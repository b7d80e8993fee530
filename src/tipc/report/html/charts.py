"""Charts as markup, drawn here so that the page needs no library. Colours come from the style sheet.

A plot carries its values (``data-v``) and where they were logged (``data-x``): the script of the page
reads them out under the pointer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

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
    places = (round(place * last / (most - 1)) for place in range(most))
    return [(place, values[place]) for place in places]


def axis(low: float, high: float) -> list[float]:
    """Round numbers from at or below the lowest value to at or above the highest."""
    if high <= low:
        spare = abs(low) / 10 or 1.0
        low, high = low - spare, high + spare
    rough = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def curve(title: str, unit: str, values: Sequence[float], places: Sequence[str] = ()) -> Markup:
    """A line over the log's intervals with its axes; ``places`` say where each value was logged."""
    if not values:
        return Markup("")
    if len(places) != len(values):
        places = [str(number) for number in range(1, len(values) + 1)]
    # The words are escaped here, the rest are our own numbers: a page has thousands of curves.
    told = {
        "title": escape(title),
        "unit": escape(unit),
        "first": figure(values[0]),
        "last": figure(values[-1]),
        "begin": escape(places[0]),
        "end": escape(places[-1]) if len(values) > 1 else "",
    }
    return Markup(CURVE.format(plot=plot(title, values, places, axes=True), **told))


def plot(title: str, values: Sequence[float], places: Sequence[str] = (), *, axes: bool = False) -> Markup:
    """The line alone, or with a scale at its side."""
    low, high = min(values), max(values)
    ticks = axis(low, high)
    if not axes:  # so small that the whole height is needed
        spare = (high - low) * 0.08 or abs(low) * 0.1 or 1.0
        ticks = [low - spare, high + spare]
    shown = thinned(values)
    points = [
        (round(WIDE * number / max(len(shown) - 1, 1)), _height(value, ticks))
        for number, (_place, value) in enumerate(shown)
    ]
    if len(points) == 1:
        points = [points[0], (WIDE, points[0][1])]
    named = [places[place] for place, _value in shown] if places else []
    told = {
        "more": "" if axes else " spark",
        "values": " ".join(figure(value) for _place, value in shown),
        "places": Markup(' data-x="{}"').format("|".join(named)) if named else "",
        "label": escape(f"{title}: {figure(values[0])} → {figure(values[-1])}"),
        "line": _path(points),
        "grid": "",
        "ticks": "",
    }
    if axes:
        heights = [_height(tick, ticks) for tick in ticks]
        told["grid"] = f'<path class=grid d="{"".join(f"M0 {height}h{WIDE}" for height in heights)}"/>'
        told["ticks"] = "".join(
            f"<u style=top:{height}%>{figure(tick)}</u>" for tick, height in zip(ticks, heights, strict=True)
        )
    return Markup(PLOT.format(**told))


def _height(value: float, ticks: Sequence[float]) -> int:
    """How far below the top a value lies."""
    share = (value - ticks[0]) / (ticks[-1] - ticks[0])
    return round(HIGH * (1 - share))


def stages(latency: Mapping[str, Mapping[str, float]], scale: float) -> Markup:
    """A cell with a stacked bar of the mean milliseconds by stage; ``scale`` is what the full width means."""
    ends = accumulate(max(0.0, values.get("mean", 0.0)) for values in latency.values())
    told = [
        f"--{name}:{100 * end / scale if scale else 0:.0f}" for name, end in zip(STAGES, ends, strict=False)
    ]
    return Markup(f"<td style={';'.join(told) or '--a:0'}>")


def lane(bars: Sequence[tuple[str, float, float, int]]) -> Markup:
    """Steps on a line of time: kind, where it begins and how long it is as shares of the whole, and row."""
    paths: dict[str, str] = {}
    for kind, left, width, row in bars:
        line = f"M{round(1000 * left)} {2 * row + 1}h{max(round(1000 * width) - 2, 4)}"
        paths[kind] = paths.get(kind, "") + line
    drawn = "".join(f'<path class={kind} d="{line}"/>' for kind, line in paths.items())
    rows = 1 + max((row for *_, row in bars), default=0)
    box = f'viewBox="0 0 1000 {2 * rows}" preserveAspectRatio=none aria-hidden=true'
    return Markup(f"<svg class=lane {box}>{drawn}</svg>")


def _path(points: Sequence[tuple[int, int]]) -> str:
    """Steps from point to point: shorter than their places."""
    steps = (f"{x - left} {y - top}".replace(" -", "-") for (left, top), (x, y) in pairwise(points))
    return f"M{points[0][0]} {points[0][1]}l{' '.join(steps)}"
