"""Two runs side by side: what became worse by more than it varies by itself, what is new, what is gone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from tipc.kinds import BAD
from tipc.report.figures import ACCURACY, LATENCY, LOSS, LOWER, MEMORY, OF_THE_MACHINE, SPEED, TIME
from tipc.report.groups import Group, groups_of, judged
from tipc.report.history.history_store import Figure, PastRun
from tipc.report.history.spread import (
    RUNS,
    TWINS,
    Key,
    Pool,
    Spread,
    between_runs,
    inside_runs,
    largest,
    of_middles,
    on_scale,
    within_builds,
)
from tipc.report.history.student import quantile

CHANCE = 0.002  # of one false alarm in a whole comparison of equal runs
SINGLE = 0.25  # the share of it that single figures have; the groups are surer, and have the rest
SUSPECT = 0.05  # what chance gives more rarely is worth another run
# The smallest change that is worth a word, however sure it is: ratios, and differences of loss and accuracy.
WORTH = {SPEED: 0.02, LATENCY: 0.02, MEMORY: 0.05, TIME: 0.05, LOSS: 0.01, ACCURACY: 0.005}
DISTURBED = (
    1.5  # what else a machine does can make one step so much slower, as long as nobody has seen how much
)
BEYOND = 1.5  # times the largest such disturbance that the history knows
UNREPEATED = 4  # so many times that, where no repeated run tells how much loss and accuracy vary
TIMES = (SPEED, LATENCY, TIME)
VERDICTS = WORSE, BETTER, EQUAL, UNJUDGED = "worse", "better", "equal", "not judged"
REGRESSION, NO_REGRESSION = "regression", "no regression"
INCONCLUSIVE, NOTHING = "inconclusive", "nothing to compare"
CONCLUSIONS = (REGRESSION, INCONCLUSIVE, NO_REGRESSION, NOTHING)


@dataclass(frozen=True, slots=True)
class Change:
    """One figure in both runs."""

    old: Figure
    new: Figure
    change: float  # on the figure's scale; positive is worse
    bound: float | None  # how much worse it may look by chance; None: nobody knows
    verdict: str
    source: str = ""
    suspect: bool = False  # not sure enough to be called worse, and not likely to be chance

    @property
    def relative(self) -> bool:
        """The change is a ratio."""
        return self.old.kind in OF_THE_MACHINE


@dataclass(frozen=True)
class Comparison:
    """Everything that differs between two runs."""

    old: PastRun
    new: PastRun
    changes: tuple[Change, ...]  # in brief: of single figures only those that became worse or better, perhaps
    broken: tuple[tuple[str, str, str, str], ...]  # plan, cell, state before, state now
    appeared: tuple[tuple[str, str], ...]
    vanished: tuple[tuple[str, str], ...]
    like: bool  # the same kind of machine
    old_runs: int = 1  # the old figures are the medians of so many runs
    new_runs: int = 1
    earlier: int = 0  # runs of the history that tell how the figures vary
    seen_from: float | None = None  # what slows every step down by more than this is found
    left_out: Mapping[str, int] = field(default_factory=dict)  # changes that are not listed, by verdict
    unsure: bool = False  # one of those looks worse than could be judged

    @property
    def regression(self) -> bool:
        """A figure became worse, or what passed does not pass any more."""
        return bool(self.broken) or bool(self.of(WORSE))

    @property
    def conclusion(self) -> str:
        """One of CONCLUSIONS.

        Inconclusive: nothing is worse for sure, but something looks worse than could be judged: a suspect, or
        a figure that was measured once and is off by more than is worth a word.
        """
        if self.regression:
            return REGRESSION
        if not self.changes and not self.left_out:
            return NOTHING
        if self.unsure or any(map(_looks_worse, self.changes)):
            return INCONCLUSIVE
        return NO_REGRESSION

    def count(self, verdict: str) -> int:
        """How many changes have this verdict, listed or not."""
        return self.left_out.get(verdict, 0) + sum(change.verdict == verdict for change in self.changes)

    def of(self, verdict: str) -> list[Change]:
        """The changes with this verdict, the largest first."""
        found = [change for change in self.changes if change.verdict == verdict]
        return sorted(found, key=lambda change: -abs(change.change))


@dataclass(frozen=True)
class Sides:
    """The runs that stand for either side of a comparison, and those that tell how figures vary."""

    olds: tuple[PastRun, ...]
    news: tuple[PastRun, ...]
    known: tuple[PastRun, ...]  # earlier runs on the machine of the new one, oldest first
    like: bool  # both sides ran on the same kind of machine


@dataclass(frozen=True)
class Pairs:
    """The figures that are compared, each made when it is asked for: all at once take too much memory."""

    old: PastRun
    new: PastRun
    sides: Sides
    keys: Sequence[Key]

    def __iter__(self) -> Iterator[tuple[Key, Figure, Figure]]:
        for key in self.keys:
            yield key, self.before(key), middle_of(self.new.figures[key], self.sides.news)

    def before(self, key: Key) -> Figure:
        """The old side of one."""
        return middle_of(self.old.figures[key], self.sides.olds)


def compare(
    old: PastRun,
    new: PastRun,
    repeats: Sequence[PastRun],
    *,
    worth: float | None = None,
    brief: bool = False,
) -> Comparison:
    """Compare two runs; ``repeats`` are earlier runs of the history, oldest first.

    Those on the same machine tell how much each figure varies. Those of them with the same commits and
    versions as ``old`` or ``new`` are repeats of it, and the median of them takes its place (of an old run
    from three on). ``worth`` replaces the smallest ratio that counts. Of unlike machines only loss and
    accuracy are compared. In ``brief``, figures that did not change are counted and not listed.
    """
    sides = _sides(old, new, repeats)
    compared = []
    for key, before in old.figures.items():
        if key in new.figures and (sides.like or before.kind not in OF_THE_MACHINE):
            compared.append(key)
    pairs = Pairs(old, new, sides, compared)
    changes = []
    left_out: Counter[str] = Counter()
    unsure = False
    for change in _single_changes(sides, pairs, worth):
        if brief and change.verdict in (EQUAL, UNJUDGED) and not change.suspect:
            left_out[change.verdict] += 1
            unsure = unsure or _looks_worse(change)
        else:
            changes.append(change)
    together = _group_changes(sides, pairs, worth)
    seen_from = None
    if together:
        seen_from = together[0].bound
    return Comparison(
        old=old,
        new=new,
        changes=(*changes, *together),
        broken=_broken(old, new),
        appeared=tuple(sorted(set(new.cells) - set(old.cells))),
        vanished=tuple(sorted(set(old.cells) - set(new.cells))),
        like=sides.like,
        old_runs=min([_having(key, sides.olds) for key in compared], default=1),
        new_runs=min([_having(key, sides.news) for key in compared], default=1),
        earlier=len(_ids(sides.known) - _ids(sides.news)),
        seen_from=seen_from,
        left_out=left_out,
        unsure=unsure,
    )


def _looks_worse(change: Change) -> bool:
    """By more than could be judged."""
    if change.suspect:
        return True
    return change.verdict == UNJUDGED and change.change > math.log1p(WORTH[change.old.kind])


def _ids(entries: Iterable[PastRun]) -> set[str]:
    return {entry.id for entry in entries}


def _sides(old: PastRun, new: PastRun, repeats: Sequence[PastRun]) -> Sides:
    known, olds, news = [], [], []
    for entry in repeats:
        if entry.machine != new.machine or entry.id == new.id:
            continue
        known.append(entry)
        # Repeats of the new run are no repeats of the old one: where both are the same version, it is alone.
        if entry.build == old.build:
            olds.append(entry)
        elif entry.build == new.build:
            news.append(entry)
    if old.machine != new.machine:
        return Sides((old,), (new,), tuple(known), like=False)
    if len(olds) < TWINS:
        olds = [old]
    return Sides(tuple(olds), (*news, new), tuple(known), like=True)


def _single_changes(sides: Sides, pairs: Pairs, worth: float | None) -> Iterator[Change]:
    """Every figure by itself."""
    spreads = _spreads(sides, pairs)
    pool = Pool(spreads, pairs.old.figures)
    # The chance of a false alarm is shared by all figures that are judged.
    chance = CHANCE * SINGLE / max(len(spreads), 1)
    least = _disturbance(sides, pairs.old.figures)
    for key, before, after in pairs:
        spread = spreads.get(key)
        if spread is not None:
            spread = pool.drawn(before, spread)
        found = _change(before, after, spread, chance, worth)
        sure = _having(key, sides.news) >= TWINS and _having(key, sides.known) >= RUNS
        if before.kind in TIMES and not sure:
            found = _alone(found, least)
        yield found


def _spreads(sides: Sides, pairs: Pairs) -> dict[Key, Spread]:
    """How much each figure varies: by earlier runs, else by the samples inside the two."""
    found: dict[Key, Spread] = {}
    for key, before, after in pairs:
        olds, news = _having(key, sides.olds), _having(key, sides.news)
        spread = _repeated(key, before, sides.known, robust=news >= TWINS)
        if spread is not None:
            found[key] = of_middles(spread, olds, news)
            continue
        spread = inside_runs(before, after)
        if spread is not None:
            found[key] = spread
    return found


def _disturbance(sides: Sides, base: Mapping[Key, Figure]) -> float:
    """By how much the time of one step can be off because the machine did something else (a logarithm)."""
    timed = {}
    for key, before in base.items():
        if before.kind in TIMES:
            timed[key] = before
    worst = largest(sides.known, timed)
    if worst is None:
        return math.log(DISTURBED)
    return min(BEYOND * worst, math.log(DISTURBED))


def _group_changes(sides: Sides, pairs: Pairs, worth: float | None) -> list[Change]:
    """The steps taken together."""
    found = []
    for group in groups_of(pairs.old.figures[key] for key in pairs.keys):
        change, spread = judged(group, sides.olds, sides.news, sides.known)
        if spread is not None:
            found.append(_together(group, change, spread, worth))
    return found


def _broken(old: PastRun, new: PastRun) -> tuple[tuple[str, str, str, str], ...]:
    """The cells that passed and do not pass any more."""
    found = []
    for (plan, cell), state in old.cells.items():
        now = new.cells.get((plan, cell))
        if now is not None and now in BAD and state not in BAD:
            found.append((plan, cell, state, now))
    return tuple(found)


def middle_of(figure: Figure, repeats: Sequence[PastRun]) -> Figure:
    """A figure of a run as the median over its repeats where there are any."""
    values = []
    for entry in repeats:
        value = entry.value(figure.key)
        if value is not None:
            values.append(value)
    if len(values) > 1:
        return replace(figure, value=median(values))
    return figure


def _repeated(key: Key, like: Figure, known: Sequence[PastRun], *, robust: bool) -> Spread | None:
    """How much a figure varies from run to run: between repeats, else between neighbours."""
    points = []
    by_version: dict[str, list[float]] = {}
    for entry in known:
        value = entry.value(key)
        if value is not None:
            point = on_scale(like, value)
            points.append(point)
            by_version.setdefault(entry.build, []).append(point)
    return within_builds(by_version.values(), robust=robust) or between_runs(points)


def _alone(change: Change, least: float) -> Change:
    """A time of one step, of a run or two: what is within the disturbances of earlier runs may be another.

    ``least`` takes the place of a smaller bound, whichever way the time went; what was worse by the
    smaller one only becomes a suspect.
    """
    if change.bound is None or change.bound >= least or change.change < -least:
        return change
    if change.verdict != WORSE or change.change > least:
        return replace(change, bound=least)
    return replace(change, bound=least, verdict=EQUAL, suspect=True)


def _having(key: Key, entries: Sequence[PastRun]) -> int:
    return max(1, sum(entry.value(key) is not None for entry in entries))


def _together(group: Group, change: float, spread: Spread, worth: float | None) -> Change:
    """A group as one figure: 1 before, e^change after, since its change is a mean of logarithms.

    It has its share of the chance of a false alarm. Beyond what chance gives once in twenty, and within the
    bound, it is a suspect: named, without consequences.
    """
    old, new = group.figure(1.0), group.figure(math.exp(change))
    chance = CHANCE * (1 - SINGLE) * group.share
    found = _change(old, new, spread, chance, worth)
    doubt = quantile(SUSPECT * group.share, spread.freedom) * spread.sigma
    return replace(found, suspect=found.verdict == EQUAL and change > max(doubt, _floor(old, worth)))


def _badness(figure: Figure) -> float:
    value = on_scale(figure, figure.value)
    if figure.better == LOWER:
        return value
    return -value


def _change(old: Figure, new: Figure, spread: Spread | None, chance: float, worth: float | None) -> Change:
    change = _badness(new) - _badness(old)
    floor = _floor(old, worth)
    of_the_machine = old.kind in OF_THE_MACHINE
    if spread is None and of_the_machine and worth is None:
        return Change(old, new, change, None, UNJUDGED, "measured once")
    if spread is None:
        spread = Spread(0.0, 1.0, "one value each")
        if not of_the_machine:
            # Loss and accuracy repeat exactly where the training is seeded, which nobody knows yet.
            floor *= UNREPEATED
    bound = max(floor, quantile(chance, spread.freedom) * spread.sigma)
    verdict = EQUAL
    if change > bound:
        verdict = WORSE
    elif change < -bound:
        verdict = BETTER
    return Change(old, new, change, bound, verdict, spread.source)


def _floor(figure: Figure, worth: float | None) -> float:
    """The smallest change that counts, on the figure's scale."""
    least = WORTH[figure.kind]
    if figure.kind not in OF_THE_MACHINE:
        if figure.kind == LOSS:
            least *= max(abs(figure.value), 1e-12)
        return least
    if worth is not None:
        least = worth
    return math.log1p(least)
