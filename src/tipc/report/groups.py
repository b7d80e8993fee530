"""Figures taken together: what slows every step down shows there long before it shows in one of them.

Other programs on a machine only ever make steps slower, some of them and for some time. So a run is judged
by the half of its steps that were slowed down least, and a training by its fastest intervals: a real
change slows those down as well, a disturbance hardly ever.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from tipc.report.figures import LATENCY, LOWER
from tipc.report.history import Entry, Figure
from tipc.report.spread import RUNS, TWINS, Key, Spread, by_build, on_scale

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
    keys: tuple[Key, ...]
    share: float = 0.0  # of the chance of a false alarm

    def figure(self, value: float) -> Figure:
        """The group as one figure: the time its steps take, 1 being that of the old run."""
        return Figure(self.plan, "", self.name, self.name, "time", LATENCY, LOWER, "×", value)


def groups_of(figures: Mapping[Key, Figure]) -> list[Group]:
    """Of each config all training speeds and inference times, and either alone; of several configs all."""
    timed = [key for key in figures if key[2].split()[0] in NAMES]
    plans = list(dict.fromkeys(key[0] for key in timed))
    found = [Group(ALL_CONFIGS, "", tuple(timed))] if len(plans) > 1 else []
    for plan in plans:
        mine = tuple(key for key in timed if key[0] == plan)
        found.append(Group(ALL_STEPS, plan, mine))
        for metric, name in NAMES.items():
            part = tuple(key for key in mine if key[2].split()[0] == metric)
            if part != mine:
                found.append(Group(name, plan, part))
    found = [one for one in found if len(one.keys) >= LEAST]
    rest = (1 - MOST) / max(len(found) - 1, 1)
    return [
        Group(one.name, one.plan, one.keys, (MOST if len(found) > 1 else 1.0) if place == 0 else rest)
        for place, one in enumerate(found)
    ]


def judged(
    group: Group, olds: Sequence[Entry], news: Sequence[Entry], known: Iterable[Entry]
) -> tuple[float, Spread | None]:
    """By how much the group became slower (a logarithm), and how much that varies by itself.

    ``olds`` and ``news`` are the repeats of either side, ``known`` earlier runs on the machine, oldest first.
    """
    points = {one.id: _points(group, one) for one in (*olds, *news, *known)}
    told = [one for one in known if points[one.id]]
    earlier = len({one.id for one in told} - {one.id for one in news})
    before = [points[one.id] for one in olds if points[one.id]]
    after = [points[one.id] for one in news if points[one.id]]
    if not before or not after or earlier < RUNS:
        return 0.0, None
    repeats = [[points[one.id] for one in runs] for runs in by_build(told)]
    freedom = sum(len(runs) - 1 for runs in repeats)
    source = f"{len(told)} runs"
    if len(before) < TWINS or freedom < RUNS - 1:
        ours = {one.id for one in news}
        level = [points[one.id] for one in told if one.id not in ours]
        if not _level(before[-1], level):
            return _against_one(before[-1], after, [points[one.id] for one in told], source)
        # Many versions that were run once each, and nothing changed between them: repeats as well.
        before, repeats, freedom = level, [level], len(level) - 1
    change = fmean(_slowness(after, before)) - fmean(_slowness(before, before))
    squares = 0.0
    for runs in repeats:
        own = _slowness(runs, runs)
        squares += sum((value - fmean(own)) ** 2 for value in own)
    sigma = math.sqrt(squares / freedom * (1 / len(before) + 1 / len(after)))
    return change, Spread(sigma, freedom, source)


def _level(run: Sequence[float], others: Sequence[Sequence[float]]) -> bool:
    """The runs lie around one level without a step or a drift, and this one lies there as well."""
    own = _slowness(others, others)
    variance = fmean((value - fmean(own)) ** 2 for value in own)
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


def _points(group: Group, entry: Entry) -> list[float]:
    """The slowness of each step of a group; empty where one is missing."""
    if not all(key in entry.figures for key in group.keys):
        return []
    return [
        on_scale(figure, figure.value) * (1 if figure.better == LOWER else -1)
        for figure in (entry.figures[key] for key in group.keys)
    ]


def _slower(after: Sequence[float], before: Sequence[float]) -> float:
    """Of the half of the steps that became slower least, by how much they did."""
    changes = sorted(y - x for x, y in zip(before, after, strict=True))
    return fmean(changes[: (len(changes) + 1) // 2])
