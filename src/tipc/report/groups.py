"""Figures taken together: what slows every step down shows there long before it shows in one of them.

Other programs on a machine only ever make steps slower, some of them and for some time. So a run is judged
by the half of its steps that were slowed down least, and a training by its fastest intervals: a real
change slows those down as well, a disturbance hardly ever.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median, pvariance

from tipc.report.figures import LATENCY, LOWER
from tipc.report.history.history_store import Figure, PastRun
from tipc.report.history.spread import RUNS, TWINS, Spread, by_build, on_scale

ALL_STEPS, ALL_CONFIGS = "all steps", "all configs"
NAMES = {"peak_ips": "all trainings", "inference_ms": "all inferences"}
LEAST = 4  # figures in a group: fewer are often disturbed together
STEADY = 0.5  # of a variance: what neighbours differ by if there is no drift is about 1
USUAL = 2.0  # standard deviations that a run may lie off and still belong to the others
MOST = 2 / 3  # of the chance goes to the widest group, which is the surest; the others share the rest


@dataclass(frozen=True)
class Group:
    """Figures of one kind of steps, of one config or of all."""

    name: str
    plan: str  # empty: of all configs
    figures: tuple[Figure, ...]  # as the old run has them
    share: float = 0.0  # of the chance of a false alarm

    def figure(self, value: float) -> Figure:
        """The group as one figure: the time its steps take, 1 being that of the old run."""
        return Figure(self.plan, "", self.name, self.name, "time", LATENCY, LOWER, "×", value)


def groups_of(figures: Iterable[Figure]) -> list[Group]:
    """Of each config all training speeds and inference times, and either alone; of several configs all."""
    by_plan: dict[str, list[Figure]] = {}
    timed = []
    for figure in figures:
        if _metric(figure) in NAMES:
            timed.append(figure)
            by_plan.setdefault(figure.plan, []).append(figure)
    found = []
    if len(by_plan) > 1:
        found.append(Group(ALL_CONFIGS, "", tuple(timed)))
    for plan, of_plan in by_plan.items():
        found += _groups_of_plan(plan, of_plan)
    return _with_shares([group for group in found if len(group.figures) >= LEAST])


def _groups_of_plan(plan: str, figures: Sequence[Figure]) -> list[Group]:
    by_metric: dict[str, list[Figure]] = {metric: [] for metric in NAMES}
    for figure in figures:
        by_metric[_metric(figure)].append(figure)
    found = [Group(ALL_STEPS, plan, tuple(figures))]
    for metric, part in by_metric.items():
        if len(part) < len(figures):
            found.append(Group(NAMES[metric], plan, tuple(part)))
    return found


def _metric(figure: Figure) -> str:
    return figure.metric.split()[0]


def _with_shares(groups: Sequence[Group]) -> list[Group]:
    """The groups with their shares of the chance of a false alarm: most of it for the first, the widest."""
    if not groups:
        return []
    widest, *others = groups
    if not others:
        return [replace(widest, share=1.0)]
    rest = (1 - MOST) / len(others)
    return [replace(widest, share=MOST), *(replace(group, share=rest) for group in others)]


def judged(
    group: Group, olds: Sequence[PastRun], news: Sequence[PastRun], known: Iterable[PastRun]
) -> tuple[float, Spread | None]:
    """By how much the group became slower (a logarithm), and how much that varies by itself.

    ``olds`` and ``news`` are the repeats of either side, ``known`` earlier runs on the machine, oldest first.
    """
    ours = {entry.id for entry in news}
    told, earlier = [], []
    for entry in known:
        if _points(group, entry):
            told.append(entry)
            if entry.id not in ours:
                earlier.append(entry)
    before, after = _rows(group, olds), _rows(group, news)
    if not before or not after or len({entry.id for entry in earlier}) < RUNS:
        return 0.0, None
    source = f"{len(told)} runs"
    repeats = [_rows(group, runs) for runs in by_build(told)]
    freedom = sum(map(len, repeats)) - len(repeats)
    if len(before) < TWINS or freedom < RUNS - 1:
        level = _rows(group, earlier)
        if not _level(before[-1], level):
            return _against_one(before[-1], after, _rows(group, told), source)
        # Many versions that were run once each, and nothing changed between them: repeats as well.
        before, repeats, freedom = level, [level], len(level) - 1
    change = fmean(_slowness(after, before)) - fmean(_slowness(before, before))
    variance = _squares(repeats) / freedom
    sigma = math.sqrt(variance * (1 / len(before) + 1 / len(after)))
    return change, Spread(sigma, freedom, source)


def _rows(group: Group, entries: Iterable[PastRun]) -> list[list[float]]:
    """The slowness of every step of the group, run by run; runs that lack one are left out."""
    rows = []
    for entry in entries:
        points = _points(group, entry)
        if points:
            rows.append(points)
    return rows


def _squares(repeats: Iterable[Sequence[Sequence[float]]]) -> float:
    """The squared distances of runs from the mean of their repeats, added up."""
    total = 0.0
    for runs in repeats:
        total += pvariance(_slowness(runs, runs)) * len(runs)
    return total


def _level(run: Sequence[float], others: Sequence[Sequence[float]]) -> bool:
    """The runs lie around one level without a step or a drift, and this one lies there as well."""
    own = _slowness(others, others)
    variance = pvariance(own)
    steps = fmean((after - before) ** 2 for before, after in pairwise(own)) / 2
    (place,) = _slowness([run], others)
    return steps > STEADY * variance and abs(place - fmean(own)) <= USUAL * math.sqrt(variance)


def _against_one(
    before: Sequence[float], after: Sequence[Sequence[float]], known: Sequence[Sequence[float]], source: str
) -> tuple[float, Spread]:
    """Runs against one run, as each run of the history against the one before it."""
    steps = [_slower(one, other) for other, one in pairwise(known)]
    usual = median(steps)  # below zero: the least slowed half of steps that only differ by chance
    sigma = math.sqrt(fmean((step - usual) ** 2 for step in steps) * (1 + 1 / len(after)) / 2)
    change = fmean(_slower(point, before) for point in after) - usual
    return change, Spread(sigma, len(steps) * 2 / 3, source)


def _slowness(runs: Sequence[Sequence[float]], base: Sequence[Sequence[float]]) -> list[float]:
    """How much slower each run is than the middle of some."""
    middle = [median(column) for column in zip(*base, strict=True)]
    return [_slower(run, middle) for run in runs]


def _points(group: Group, entry: PastRun) -> list[float]:
    """The slowness of each step of a group; empty where one is missing."""
    points = []
    for figure in group.figures:
        value = entry.value(figure.key)
        if value is None:
            return []
        point = on_scale(figure, value)
        if figure.better != LOWER:
            point = -point
        points.append(point)
    return points


def _slower(after: Sequence[float], before: Sequence[float]) -> float:
    """Of the half of the steps that became slower least, by how much they did."""
    changes = sorted(y - x for x, y in zip(before, after, strict=True))
    return fmean(changes[: (len(changes) + 1) // 2])
