"""How much a figure varies by itself: measured from repeated runs, or from the samples inside a run.

Figures that a machine decides are compared as ratios (in logarithms), loss and accuracy as differences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median

from tipc.report.figures import OF_THE_MACHINE
from tipc.report.history.history_store import Figure, PastRun

REPEATS = 4  # so many runs tell how much they differ from one to the next
RUNS = 8  # so many tell how the machine varies: its calm and busy times last for minutes
KNOWN = 12  # so many tell how far a single step can be off
TWINS = 3  # so many repeats of a run give a median
PRIOR = 8.0  # what like figures weigh, in degrees of freedom: a few repeats can agree by accident
EFFICIENCY = 0.37  # of a median of distances: it knows as much as so much of the values in a mean of squares
TRUSTED = 2  # of the samples inside a run: neighbours are disturbed by the same things
TIMED = ("", "time")  # what training speeds and inference times are to each other

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Spread:
    """A standard deviation of the difference between two runs, and how well it is known."""

    sigma: float
    freedom: float
    source: str  # "20 runs", "samples"


def on_scale(figure: Figure, value: float) -> float:
    """A value where differences mean something: the logarithm, or itself."""
    if figure.kind in OF_THE_MACHINE:
        return math.log(max(value, 1e-12))
    return value


def between_runs(values: Sequence[float]) -> Spread | None:
    """From the values of repeated runs, oldest first: the mean square of successive differences.

    A real change at some time in the past adds to it once, not at every run as it would to a deviation
    from the mean; and a machine that drifts slowly does not look noisy.
    """
    if len(values) < REPEATS:
        return None
    steps = [(after - before) ** 2 for before, after in pairwise(values)]
    variance = sum(steps) / len(steps)  # of a difference: twice that of one value
    return Spread(math.sqrt(variance), (len(values) - 1) * 2 / 3, f"{len(values)} runs")


def within_builds(groups: Iterable[Sequence[float]], *, robust: bool = False) -> Spread | None:
    """From the values of runs that repeat each other, a group for each version: how they lie around their
    middle. What a new version changed is not in it.

    With ``robust`` the runs that were disturbed do not count: how the median of several runs varies.
    """
    runs = 0
    freedom = 0
    squares = 0.0
    distances = []
    for group in groups:
        if len(group) < 2:
            continue
        runs += len(group)
        freedom += len(group) - 1
        mean, middle = fmean(group), median(group)
        for value in group:
            squares += (value - mean) ** 2
            distances.append(abs(value - middle) * math.sqrt(len(group) / (len(group) - 1)))
    if freedom < REPEATS - 1:
        return None
    source = f"{runs} runs"
    if robust:
        return Spread(math.sqrt(2) * 1.4826 * median(distances), EFFICIENCY * freedom, source)
    return Spread(math.sqrt(2 * squares / freedom), freedom, source)


def by_build(entries: Iterable[PastRun]) -> list[list[PastRun]]:
    """The runs that repeat each other, as far as can be told: same commits, same versions."""
    groups: dict[str, list[PastRun]] = {}
    for entry in entries:
        groups.setdefault(entry.build, []).append(entry)
    return list(groups.values())


def largest(entries: Iterable[PastRun], figures: Mapping[Key, Figure]) -> float | None:
    """The furthest that a speed or time was ever from the middle of its repeats; None: too few to tell."""
    found = []
    for group in by_build(entries):
        for key, like in figures.items():
            if _like(like) != TIMED:
                continue
            values = []
            for entry in group:
                value = entry.value(key)
                if value is not None:
                    values.append(on_scale(like, value))
            if len(values) >= KNOWN:
                middle = median(values)
                found.append(max(max(values) - middle, middle - min(values)))
    return max(found, default=None)


def of_middles(spread: Spread, old: int, new: int) -> Spread:
    """The spread of the difference between the medians of so many runs, from that between two runs."""
    return replace(spread, sigma=spread.sigma * math.sqrt((_share(old) + _share(new)) / 2))


def inside_runs(first: Figure, second: Figure) -> Spread | None:
    """From the samples inside two runs, where there are no repeats to learn from."""
    one, other = _standard_error(first), _standard_error(second)
    if one is None or other is None:
        return None
    freedom = float(min(20, first.count + second.count - 2))
    return Spread(math.hypot(one, other), max(freedom, 1.0), "samples")


class Pool:
    """What like figures know together of how much they vary: degrees of freedom, and squares."""

    def __init__(self, spreads: Mapping[Key, Spread], figures: Mapping[Key, Figure]) -> None:
        self.known: dict[tuple[str, str], tuple[int, float, float]] = {}
        for key, spread in spreads.items():
            like = _like(figures[key])
            count, freedom, squares = self.known.get(like, (0, 0.0, 0.0))
            self.known[like] = (count + 1, freedom + spread.freedom, squares + _squares(spread))

    def drawn(self, figure: Figure, own: Spread) -> Spread:
        """A spread drawn towards that of like figures, the more so the less it is known itself.

        What disturbs a machine hits any step at any time: a speed or a time is taken to vary at least as
        much as those of all steps do on the average, whether or not this one was hit so far.
        """
        like = _like(figure)
        count, freedom, squares = self.known[like]
        drawn = own
        if count > 1:
            # Of what all know together, its own part is taken away: a sum over the others for each of
            # them would take minutes for ten thousand steps.
            drawn = _drawn(own, freedom - own.freedom, squares - _squares(own))
        if like == TIMED:
            drawn = replace(drawn, sigma=max(drawn.sigma, math.sqrt(squares / freedom)))
        return drawn


def _squares(spread: Spread) -> float:
    """A variance, as often as it was seen."""
    return spread.freedom * spread.sigma**2


def _share(count: int) -> float:
    """The variance of the median of so many values, as a share of that of one."""
    if count < TWINS:
        return 1 / count
    return math.pi / 2 / count


def _like(figure: Figure) -> tuple[str, str]:
    if figure.metric.split(" ", 1)[0] in ("ips", "inference_ms"):
        return TIMED
    return figure.label.split(" ", 1)[0], figure.metric


def _drawn(own: Spread, freedom: float, squares: float) -> Spread:
    """A spread drawn towards what the others know together."""
    weight = min(PRIOR, freedom)
    common = max(0.0, squares) / freedom  # a difference of equal sums may be a little below zero
    variance = (_squares(own) + weight * common) / (own.freedom + weight)
    return Spread(math.sqrt(variance), own.freedom + weight, own.source)


def _standard_error(figure: Figure) -> float | None:
    """Of the figure's median on its scale; None where nothing was measured more than once."""
    if len(figure.samples) >= 4:
        points = [on_scale(figure, sample) for sample in figure.samples]
        middle = median(points)
        deviation = 1.4826 * median([abs(point - middle) for point in points])
        return 1.2533 * deviation / math.sqrt(min(len(points), TRUSTED))
    if figure.spread > 0 and figure.count >= 8 and figure.value > 0:
        deviation = figure.spread
        if figure.kind in OF_THE_MACHINE:
            deviation /= figure.value
        return 1.2533 * deviation / math.sqrt(min(figure.count, TRUSTED))
    return None
