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
        by_plan: dict[str, list[tuple[PastRun, str]]] = {}
        for entry in self.entries:
            for plan, state in states_of(entry).items():
                by_plan.setdefault(plan, []).append((entry, state))
        newest = self.entries[-1]
        figures: dict[str, list[Figure]] = {}
        for figure in newest.figures.values():
            figures.setdefault(figure.plan, []).append(figure)
        found = []
        for plan in states_of(newest):
            if len(by_plan[plan]) > 1:
                found.append(_plan_course(plan, by_plan[plan][-RUNS:], figures.get(plan, [])))
        return found


def states_of(entry: PastRun) -> dict[str, str]:
    """The configs of a run, each with the worst state of its cells."""
    states: dict[str, str] = {}
    for (plan, _cell), state in entry.cells.items():
        states[plan] = min(states.get(plan, state), state, key=WORST_FIRST.index)
    return states


def past_of(history: History, now: PastRun) -> Past | None:
    """The past of a run that the history lists, compared with ``base_of`` it; None: it is the first one."""
    earlier = history.before(now)
    base = base_of(now, earlier)
    if base is None:
        return None
    base, now = history.filled(base), history.filled(now)
    earlier = history.valued(earlier, base, now)
    return Past((*earlier[-RUNS:], now), compare(base, now, earlier, brief=True))


def base_of(now: PastRun, earlier: Sequence[PastRun]) -> PastRun | None:
    """The run to compare with: the newest before it of another version, else the newest before it."""
    for entry in reversed(earlier):
        if entry.build != now.build:
            return entry
    if not earlier:
        return None
    return earlier[-1]


def _plan_course(plan: str, runs: Sequence[tuple[PastRun, str]], figures: Sequence[Figure]) -> PlanCourse:
    """``runs`` with the state of the config in each; ``figures`` are those of the newest one."""
    entries, states = zip(*runs, strict=True)
    return PlanCourse(plan, entries, states, tuple(_courses(entries, figures)))


def _courses(entries: Sequence[PastRun], newest: Sequence[Figure]) -> list[Course]:
    """Of the newest run's figures one of each kind; a run that lacks a step of it is left out."""
    found = []
    for kind, name in ((TIME, "wall_s"), (SPEED, "ips"), (LATENCY, "inference_ms"), (ACCURACY, "")):
        figures = _figures(newest, kind, name)
        if not figures:
            continue
        having, values = [], []
        for entry in entries:
            of_steps = _values(figures, entry)
            if of_steps:
                having.append(entry)
                values.append(_value(kind, of_steps))
        if len(having) > 1:
            found.append(Course(kind, figures[0].metric, figures[0].unit, tuple(having), tuple(values)))
    return found


def _figures(of_plan: Sequence[Figure], kind: str, name: str) -> list[Figure]:
    """The figures of one kind that a config's steps have."""
    figures: list[Figure] = []
    for figure in of_plan:
        if figure.kind != kind or not figure.metric.startswith(name):
            continue
        # Accuracies may be of several sorts: the first one that the evaluation names.
        if kind == ACCURACY and figures and figure.metric != figures[0].metric:
            continue
        figures.append(figure)
    return figures


def _values(figures: Sequence[Figure], entry: PastRun) -> list[float]:
    """What a run has for these figures; nothing if it lacks one."""
    values = []
    for figure in figures:
        value = entry.value(figure.key)
        if value is None:
            return []
        values.append(value)
    return values


def _value(kind: str, values: Sequence[float]) -> float:
    """All the time that the steps took; of other figures the middle one of the steps."""
    if kind == TIME:
        return sum(values)
    return float(median(values))
