"""Two runs side by side: what became worse by more than it varies by itself, what is new, what is gone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from tipc.report.figures import ACCURACY, LATENCY, LOSS, LOWER, MEMORY, OF_THE_MACHINE, SPEED, TIME
from tipc.report.history import Entry, Figure
from tipc.report.spread import Key, Spread, between_runs, inside_runs, on_scale, pooled, quantile
from tipc.report.view import BAD

CHANCE = 0.002  # of one false alarm in a whole comparison of equal runs
# The smallest change that is worth a word, however sure it is: ratios, and differences of loss and accuracy.
WORTH = {SPEED: 0.02, LATENCY: 0.02, MEMORY: 0.05, TIME: 0.05, LOSS: 0.01, ACCURACY: 0.005}
UNREPEATED = 4  # so many times that, where no repeated run tells how much loss and accuracy vary
WORSE, BETTER, EQUAL, UNJUDGED = "worse", "better", "equal", "not judged"
TWINS = 3  # repeats of the old run whose median is taken
ALL_STEPS = "all steps"


@dataclass(frozen=True)
class Change:
    """One figure in both runs."""

    old: Figure
    new: Figure
    change: float  # on the figure's scale; positive is worse
    bound: float | None  # how much worse it may look by chance; None: nobody knows
    verdict: str
    source: str = ""

    @property
    def relative(self) -> bool:
        """The change is a ratio."""
        return self.old.kind in OF_THE_MACHINE


@dataclass(frozen=True)
class Comparison:
    """Everything that differs between two runs."""

    old: Entry
    new: Entry
    changes: tuple[Change, ...]
    broken: tuple[tuple[str, str, str, str], ...]  # plan, cell, state before, state now
    appeared: tuple[tuple[str, str], ...]
    vanished: tuple[tuple[str, str], ...]
    like: bool  # the same kind of machine
    twins: int  # the old figures are the medians of so many runs; 0: they are those of one run

    @property
    def regression(self) -> bool:
        """A figure became worse, or what passed does not pass any more."""
        return bool(self.broken) or any(change.verdict == WORSE for change in self.changes)

    def of(self, verdict: str) -> list[Change]:
        """The changes with this verdict, the largest first."""
        found = [change for change in self.changes if change.verdict == verdict]
        return sorted(found, key=lambda change: -abs(change.change))


def compare(old: Entry, new: Entry, repeats: Sequence[Entry], *, worth: float | None = None) -> Comparison:
    """Compare two runs; ``repeats`` are earlier runs of the history, oldest first.

    Those on the same machine tell how much each figure varies. Those of them with the same commits and
    versions as ``old`` are repeats of it: of three or more, the median takes its place. ``worth`` replaces
    the smallest ratio that counts. Of unlike machines only loss and accuracy are compared.
    """
    like = old.machine == new.machine
    known = [entry for entry in repeats if entry.machine == new.machine and entry.id != new.id]
    twins = [entry for entry in known if entry.build == old.build] if like else []
    base = middle_of(old, twins)
    keys = [key for key in base if key in new.figures]
    keys = [key for key in keys if like or base[key].kind not in OF_THE_MACHINE]
    pairs = {key: (base[key], new.figures[key]) for key in keys}
    values = {key: _values(key, pairs[key][0], known) for key in keys}
    whole = _all_steps(pairs, known)
    repeated = min((sum(key in one.figures for one in twins) for key in keys), default=0)
    spreads: dict[Key, Spread] = {}
    for key, (before, after) in pairs.items():
        spread = between_runs(values[key]) or inside_runs(before, after)
        if spread is not None:
            spreads[key] = _against_middle(spread, sum(key in one.figures for one in twins))
    spreads = pooled(spreads, base)
    chance = CHANCE / 2 / max(len(spreads), 1)
    changes = [
        _change(before, after, spreads.get(key), chance, worth) for key, (before, after) in pairs.items()
    ]
    for before, after, points in whole:
        spread = between_runs(points)
        spread = _against_middle(spread, repeated) if spread else None
        changes.append(_change(before, after, spread, CHANCE / 2 / len(whole), worth))
    broken = [
        (*cell, state, new.cells[cell])
        for cell, state in old.cells.items()
        if cell in new.cells and new.cells[cell] in BAD and state not in BAD
    ]
    return Comparison(
        old,
        new,
        tuple(changes),
        tuple(broken),
        tuple(sorted(set(new.cells) - set(old.cells))),
        tuple(sorted(set(old.cells) - set(new.cells))),
        like,
        repeated if repeated >= TWINS else 0,
    )


def middle_of(old: Entry, twins: Sequence[Entry]) -> dict[Key, Figure]:
    """The figures of a run, each as the median over its repeats where there are enough of them."""
    middle = {}
    for key, figure in old.figures.items():
        values = [entry.figures[key].value for entry in twins if key in entry.figures]
        if len(values) >= TWINS:
            figure = replace(figure, value=median(values), samples=(), spread=0.0, count=1)
        middle[key] = figure
    return middle


def _against_middle(spread: Spread, count: int) -> Spread:
    """The spread of the difference to the median of so many runs, from that between two runs."""
    if count < TWINS:
        return spread
    return replace(spread, sigma=spread.sigma * math.sqrt((1 + math.pi / 2 / count) / 2))


def _values(key: Key, like: Figure, entries: Iterable[Entry]) -> list[float]:
    return [on_scale(like, entry.figures[key].value) for entry in entries if key in entry.figures]


def _all_steps(
    pairs: Mapping[Key, tuple[Figure, Figure]], known: Sequence[Entry]
) -> list[tuple[Figure, Figure, list[float]]]:
    """For each plan one figure over its training speeds and inference times: what slows everything down by
    a little shows there when each alone is still within its spread."""
    plans: dict[str, list[Key]] = {}
    for key, (before, _) in pairs.items():
        if before.metric.split()[0] in ("ips", "inference_ms"):
            plans.setdefault(key[0], []).append(key)
    found = []
    for plan, keys in plans.items():
        if len(keys) < 2:
            continue

        def slowness(figures: Mapping[Key, Figure], keys: Sequence[Key] = keys) -> float:
            return sum(_badness(figures[key]) for key in keys) / len(keys)

        then = slowness({key: pairs[key][0] for key in keys})
        now = slowness({key: pairs[key][1] for key in keys})
        points = [slowness(one.figures) for one in known if all(key in one.figures for key in keys)]
        old = Figure(plan, "", ALL_STEPS, ALL_STEPS, "time", LATENCY, LOWER, "×", 1.0)
        found.append((old, replace(old, value=math.exp(now - then)), points))
    return found


def _badness(figure: Figure) -> float:
    return on_scale(figure, figure.value) * (1 if figure.better == LOWER else -1)


def _change(old: Figure, new: Figure, spread: Spread | None, chance: float, worth: float | None) -> Change:
    change = _badness(new) - _badness(old)
    floor = WORTH[old.kind] if worth is None or old.kind not in OF_THE_MACHINE else worth
    if old.kind in OF_THE_MACHINE:
        floor = math.log1p(floor)
    elif old.kind == LOSS:
        floor *= max(abs(old.value), 1e-12)
    if spread is None:
        if old.kind in OF_THE_MACHINE and worth is None:
            return Change(old, new, change, None, UNJUDGED, "measured once")
        # Loss and accuracy repeat exactly where the training is seeded, which nobody knows yet.
        floor *= 1 if old.kind in OF_THE_MACHINE else UNREPEATED
        spread = Spread(0.0, 1.0, "one value each")
    bound = max(floor, quantile(chance, spread.freedom) * spread.sigma)
    verdict = WORSE if change > bound else BETTER if change < -bound else EQUAL
    return Change(old, new, change, bound, verdict, spread.source)
