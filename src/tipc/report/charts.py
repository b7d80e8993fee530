"""Charts as markup, drawn here so that the page needs no library. Colours come from the style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from markupsafe import Markup, escape

from tipc.report.text import figure

POINTS = 120
LEFT, RIGHT, TOP, BOTTOM = 2, 298, 8, 84
CURVE = (
    "<figure class=curve><figcaption><b>{title}</b>{first} → {last} {unit}</figcaption>"
    '<svg viewBox="0 0 300 92" role=img aria-label="{title}" preserveAspectRatio=none>'
    '<path d="{line}"/></svg><small>min {low}<span>max {high}</span></small></figure>'
)
STAGES = "abc"  # the names that the style sheet has for where each colour of a bar ends


def thinned(values: Sequence[float], most: int = POINTS) -> list[tuple[int, float]]:
    """At most so many (index, value), the first and the last among them."""
    if len(values) <= most:
        return list(enumerate(values))
    last = len(values) - 1
    places = (round(place * last / (most - 1)) for place in range(most))
    return [(place, values[place]) for place in places]


def curve(title: str, unit: str, values: Sequence[float]) -> Markup:
    """A line over the log's intervals, with its first, last, least and greatest value in words."""
    if not values:
        return Markup("")
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    wide = max(len(values) - 1, 1)
    points = [
        (
            round(LEFT + (RIGHT - LEFT) * place / wide),
            round(BOTTOM - (BOTTOM - TOP) * ((value - low) / span)),
        )
        for place, value in thinned(values)
    ]
    if len(points) == 1:
        middle = (TOP + BOTTOM) // 2
        points = [(LEFT, middle), (RIGHT, middle)]
    # The words are escaped here, the rest are our own numbers: a page has thousands of curves.
    told = {"first": figure(values[0]), "last": figure(values[-1]), "low": figure(low), "high": figure(high)}
    return Markup(CURVE.format(title=escape(title), unit=escape(unit), line=_path(points), **told))


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
    return Markup(f'<svg class=lane viewBox="0 0 1000 {2 * rows}" preserveAspectRatio=none>{drawn}</svg>')


def _path(points: Sequence[tuple[int, int]]) -> str:
    """Steps from point to point: shorter than their places."""
    steps = (f"{x - left} {y - top}".replace(" -", "-") for (left, top), (x, y) in pairwise(points))
    return f"M{points[0][0]} {points[0][1]}l{' '.join(steps)}"
