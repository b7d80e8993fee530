"""What the history knows beside a run: the runs before it, and what became of its figures since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from tipc.kinds import WORST_FIRST
from tipc.report.figures import ACCURACY, LATENCY, SPEED, TIME
from tipc.report.history.comparison import Comparison, compare
from tipc.report.history.history_store import Figure, History, PastRun

RUNS = 20  # that a course shows


@dataclass(frozen=True)
class Course:
    """One figure of a config over the runs that have it."""

    kind: str  # TIME, SPEED, LATENCY or ACCURACY
    name: str  # "inference_ms"
    unit: str
    entries: tuple[PastRun, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class PlanCourse:
    """A config over the last runs: how each ended, and its figures."""

    plan: str
    entries: tuple[PastRun, ...]
    states: tuple[str, ...]
    courses: tuple[Course, ...]


@dataclass(frozen=True)
class Past:
    """The last runs that share a config with this one on the same machine, oldest first, this one last."""

    entries: tuple[PastRun, ...]
    comparison: Comparison | None

    @property
    def plans(self) -> list[PlanCourse]:
        """The configs of this run that were run before."""
        now = self.entries[-1]
        found = []
        for plan in dict.fromkeys(plan for plan, _cell in now.cells):
            entries = [entry for entry in self.entries if any(name == plan for name, _ in entry.cells)]
            if len(entries) > 1:
                found.append(_plan_course(plan, entries[-RUNS:]))
        return found


def past_of(history: History, now: PastRun) -> Past:
    """The past of a run that is in the history, compared with ``base_of`` it."""
    earlier = history.before(now)
    base = base_of(now, earlier)
    comparison = compare(base, now, earlier) if base is not None else None
    return Past((*earlier[-RUNS:], now), comparison)


def base_of(now: PastRun, earlier: Sequence[PastRun]) -> PastRun | None:
    """The run to compare with: the newest before it of another version, else the newest before it."""
    other = next((entry for entry in reversed(earlier) if entry.build != now.build), None)
    if other is not None:
        return other
    return earlier[-1] if earlier else None


def _plan_course(plan: str, entries: Sequence[PastRun]) -> PlanCourse:
    states = []
    for entry in entries:
        mine = [state for (name, _cell), state in entry.cells.items() if name == plan]
        states.append(min(mine, key=WORST_FIRST.index))
    return PlanCourse(plan, tuple(entries), tuple(states), tuple(_courses(plan, entries)))


def _courses(plan: str, entries: Sequence[PastRun]) -> list[Course]:
    """Of the newest run's figures one of each kind; a run that lacks a step of it is left out."""
    now = entries[-1]
    mine = [figure for figure in now.figures.values() if figure.plan == plan]
    found = []
    for kind, name in ((TIME, "wall_s"), (SPEED, "ips"), (LATENCY, "inference_ms"), (ACCURACY, "")):
        figures = [figure for figure in mine if figure.kind == kind and figure.metric.startswith(name)]
        if kind == ACCURACY:  # they may be of several sorts: the first one that the evaluation names
            figures = [figure for figure in figures if figure.metric == figures[0].metric]
        if not figures:
            continue
        having = [entry for entry in entries if all(figure.key in entry.figures for figure in figures)]
        if len(having) > 1:
            values = tuple(_value(kind, figures, entry) for entry in having)
            found.append(Course(kind, figures[0].metric, figures[0].unit, tuple(having), values))
    return found


def _value(kind: str, figures: Sequence[Figure], entry: PastRun) -> float:
    """All the time that the steps took; of other figures the middle one of the steps."""
    values = [entry.figures[figure.key].value for figure in figures]
    return sum(values) if kind == TIME else float(median(values))
