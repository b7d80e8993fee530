"""A comparison as lines for a terminal."""

from __future__ import annotations

import math
from collections import Counter

from tipc.report.figures import HIGHER
from tipc.report.history.comparison import (
    BETTER,
    EQUAL,
    INCONCLUSIVE,
    NO_REGRESSION,
    NOTHING,
    REGRESSION,
    UNJUDGED,
    WORSE,
    Change,
    Comparison,
)
from tipc.report.history.history_store import PastRun
from tipc.report.history.spread import RUNS, TWINS
from tipc.report.plain_text import clean, figure
from tipc.report.terminal import Line, Span, aligned

CONCLUSION_STYLES = {
    REGRESSION: "bold red",
    INCONCLUSIVE: "bold yellow",
    NO_REGRESSION: "bold green",
    NOTHING: "bold yellow",
}
STYLES = {WORSE: "bold red", BETTER: "green", EQUAL: "dim", UNJUDGED: "dim"}


def differences(result: Comparison, *, everything: bool = False) -> list[Line]:
    """What became worse, better, new and gone; the rest as a count, or with ``everything`` in full."""
    lines: list[Line] = [
        [Span("A  ", "dim"), Span(_name(result.old))],
        [Span("B  ", "dim"), Span(_name(result.new))],
    ]
    for name, count in (("A", result.old_runs), ("B", result.new_runs)):
        if count > 1:
            text = f"{name} is compared as the median of {count} runs with the same commits and versions"
            lines.append([Span(f"   {text}", "dim")])
    if not result.like:
        text = "the machines are not alike: only loss and accuracy are compared"
        lines.append([Span(f"   {text}", "yellow")])
    verdicts = (WORSE, BETTER, EQUAL, UNJUDGED) if everything else (WORSE, BETTER)
    changes = [change for verdict in verdicts for change in result.of(verdict)]
    head: list[Line] = [
        [Span(name, "dim")] for name in ("", "figure", "A", "B", "change", "chance gives up to", "from")
    ]
    table = aligned([head, *map(_row, changes)], gap="  ", indent="")
    plans = [change.old.plan for change in changes]
    plans += [cell[0] for cell in (*result.broken, *result.appeared, *result.vanished)]
    for plan in dict.fromkeys(plans):
        lines += [[], [Span(clean(plan or "all configs"), "bold")]]
        mine = [row for row, change in zip(table[1:], changes, strict=True) if change.old.plan == plan]
        lines += [table[0], *mine] if mine else []
        lines += [
            [Span("broken  ", "bold red"), Span(f"{clean(cell)}: {before} → {now}")]
            for name, cell, before, now in result.broken
            if name == plan
        ]
        for word, cells in (("new", result.appeared), ("gone", result.vanished)):
            lines += [
                [Span(f"{word:<8}", "yellow"), Span(clean(cell))] for name, cell in cells if name == plan
            ]
    return [*lines, [], _conclusion(result), *_advice(result)]


def _advice(result: Comparison) -> list[Line]:
    """What one run more would tell, and what no run could tell on this machine so far."""
    lines: list[Line] = []
    suspects = sorted((one for one in result.changes if one.suspect), key=lambda one: -one.change)
    if suspects:
        told = ", ".join(f"{_called(one)} {change_text(one, one.change)}" for one in suspects[:3])
        more = f" and {len(suspects) - 3} more" if len(suspects) > 3 else ""
        lines.append([Span("  perhaps slower: ", "yellow"), Span(clean(told) + more)])
        missing = TWINS - result.new_runs
        text = "more runs of either version would tell"
        if missing > 0:
            text = f"a run can be disturbed: make {missing} more of this version, and compare the last with A"
        lines.append([Span(f"  {text}", "dim")])
    if result.seen_from is not None:
        text = f"what slows every step down is seen here from {100 * math.expm1(result.seen_from):.1f} % on"
        lines.append([Span(f"  {text}", "dim")])
    elif result.like and result.changes and result.earlier < RUNS:
        text = f"fewer than {RUNS} earlier runs on this machine: times are judged from half as slow again on"
        lines.append([Span(f"  {text}", "dim")])
    return lines


def _conclusion(result: Comparison) -> Line:
    counts = Counter(change.verdict for change in result.changes)
    told = [f"{len(result.broken)} broken"] if result.broken else []
    told += [f"{counts[WORSE]} worse", f"{counts[BETTER]} better", f"{counts[EQUAL]} within their spread"]
    if counts[UNJUDGED]:
        told.append(
            f"{counts[UNJUDGED]} not judged (measured once, fewer than 4 earlier runs on this machine)"
        )
    style = CONCLUSION_STYLES[result.conclusion]
    return [Span(result.conclusion.upper(), style), Span(f" · {', '.join(told)}")]


def _name(entry: PastRun) -> str:
    return clean(f"{entry.id}  ({entry.machine_name}; {entry.versions})")


def _row(change: Change) -> list[Line]:
    old, new = change.old, change.new
    name = _called(change)
    style = STYLES[change.verdict]
    return [
        [Span(change.verdict, style)],
        [Span(clean(name))],
        [Span(figure_text(old.value, old.unit))],
        [Span(figure_text(new.value, new.unit))],
        [Span(change_text(change, change.change), style)],
        [Span("?" if change.bound is None else change_text(change, change.bound))],
        [Span(change.source, "dim")],
    ]


def _called(change: Change) -> str:
    return f"{change.old.step} · {change.old.metric}"


def figure_text(value: float, unit: str) -> str:
    """A value with its unit."""
    return f"{figure(value)} {unit}".rstrip()


def change_text(change: Change, amount: float) -> str:
    """The change as people say it: of the figure itself, so a speed falls when it becomes worse."""
    sign = -1 if change.old.better == HIGHER else 1
    if change.relative:
        percent = 100 * math.expm1(min(sign * amount, math.log(100)))
        return f"{percent:+.1f} %" if percent < 999 else "> +999 %"
    return f"{sign * amount + 0.0:+.4g}"
