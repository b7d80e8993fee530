"""Charts as markup, drawn here so that the page needs no library. Colours come from the style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from tipc.report.text import figure

POINTS = 120
LEFT, RIGHT, TOP, BOTTOM = 2, 298, 8, 84
CURVE = (
    '<figure class="curve"><figcaption><b>{title}</b><span>{first} → <strong>{last}</strong> {unit}</span>'
    '</figcaption><svg viewBox="0 0 300 92" role="img" aria-label="{title}" preserveAspectRatio="none">'
    '<path class="grid" d="M2 8H298M2 84H298"/><polyline class="line" points="{line}"/></svg>'
    "<small><span>min {low}</span><span>max {high}</span></small></figure>"
)


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
        f"{LEFT + (RIGHT - LEFT) * place / wide:.0f},{BOTTOM - (BOTTOM - TOP) * ((value - low) / span):.0f}"
        for place, value in thinned(values)
    ]
    if len(points) == 1:
        middle = (TOP + BOTTOM) // 2
        points = [f"{LEFT},{middle}", f"{RIGHT},{middle}"]
    # The words are escaped here, the rest are our own numbers: a page has thousands of curves.
    told = {"first": figure(values[0]), "last": figure(values[-1]), "low": figure(low), "high": figure(high)}
    return Markup(CURVE.format(title=escape(title), unit=escape(unit), line=" ".join(points), **told))


def stages(latency: Mapping[str, Mapping[str, float]], scale: float) -> Markup:
    """A stacked bar of the mean milliseconds by stage; ``scale`` is what the full width means."""
    widths = (100 * max(0.0, values.get("mean", 0.0)) / scale if scale else 0 for values in latency.values())
    parts = "".join(f'<i style="width:{width:.1f}%"></i>' for width in widths)
    return Markup(f'<span class="bar">{parts}</span>')
