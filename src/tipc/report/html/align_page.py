"""The page of ``tipc align``: every tensor of two recordings, and a plot of how far each is off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from tipc.align import Alignment, TensorDifference
from tipc.language import language, say

WIDTH = 440
ROW = 22
LEFT, RIGHT = 18, WIDTH - 18
LEAST = 1e-10  # a difference of nothing has no logarithm; it stands at the left edge


@dataclass(frozen=True)
class Mark:
    """Where one tensor stands in the plot: its difference and what it may have."""

    difference: float
    threshold: float


def align_page(alignment: Alignment, reference: str, ours: str, verdict: str, details: str) -> str:
    """The page as HTML: one file, offline."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(loader=PackageLoader("tipc.report"), autoescape=True, undefined=StrictUndefined)
    low, high = decades(alignment.tensors)
    return templates.get_template("align.html").render(
        css=(resources.files("tipc.report") / "templates" / "report.css").read_text(encoding="utf-8"),
        alignment=alignment,
        reference=reference,
        ours=ours,
        verdict=verdict,
        details=details,
        language=language(),
        say=say,
        marks=[(tensor, mark(tensor, low, high)) for tensor in alignment.tensors],
        ticks=[(position(10.0**power, low, high), f"1e{power}") for power in range(low, high + 1)],
        width=WIDTH,
        row=ROW,
    )


def decades(tensors: Sequence[TensorDifference]) -> tuple[int, int]:
    """The powers of ten between which every difference and threshold lies."""
    low = high = LEAST
    for tensor in tensors:
        for value in (tensor.mean, tensor.threshold):
            if value > 0:
                low, high = min(low, value), max(high, value)
    return math.floor(math.log10(low)), max(-3, math.ceil(math.log10(high)))


def position(value: float, low: int, high: int) -> float:
    """Where a value stands from left to right, by its logarithm."""
    share = (math.log10(max(value, 10.0**low)) - low) / (high - low)
    return round(LEFT + (RIGHT - LEFT) * min(1.0, share), 1)


def mark(tensor: TensorDifference, low: int, high: int) -> Mark:
    """One tensor. What cannot be compared (missing, another shape, not finite) stands at the right edge."""
    difference = position(tensor.mean, low, high)
    if not tensor.ok and not tensor.mean:
        difference = float(RIGHT)
    return Mark(difference, position(tensor.threshold, low, high))
