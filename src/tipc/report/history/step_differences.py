"""A comparison as lines for a terminal."""

from __future__ import annotations

import math

from tipc.language import enumeration, plural, say
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
from tipc.report.machine_facts import spoken_machine
from tipc.report.plain_text import clean, figure
from tipc.report.terminal import Hanging, Line, Span, aligned

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
        Hanging([Span("A  ", "dim"), Span(_name(result.old))], 3),
        Hanging([Span("B  ", "dim"), Span(_name(result.new))], 3),
    ]
    for name, count in (("A", result.old_runs), ("B", result.new_runs)):
        if count > 1:
            text = say(
                "{name} is compared as the median of {count} runs with the same commits and versions",
                name=name,
                count=count,
            )
            lines.append(Hanging([Span(f"   {text}", "dim")], 3))
    if not result.like:
        text = say("the machines are not alike: only loss and accuracy are compared")
        lines.append(Hanging([Span(f"   {text}", "yellow")], 3))
    by_plan = _changes(result, everything)
    for plan, cells in _cells(result).items():
        by_plan.setdefault(plan, []).extend(cells)
    for plan, told in by_plan.items():
        lines += [[], [Span(clean(plan or say("all configs")), "bold")], *told]
    return [*lines, [], _conclusion(result), *_advice(result)]


def _changes(result: Comparison, everything: bool) -> dict[str, list[Line]]:
    """The table of changed figures, the part of each config by itself."""
    changes = [*result.of(WORSE), *result.of(BETTER)]
    if everything:
        changes += [*result.of(EQUAL), *result.of(UNJUDGED)]
    names = ("", "figure", "A", "B", "change", "chance gives up to", "from")
    head: list[Line] = [[Span(name and say(name), "dim")] for name in names]
    title, *rows = aligned([head, *map(_row, changes)], gap="  ", indent="", hanging=2, whole=True)
    by_plan: dict[str, list[Line]] = {}
    for change, row in zip(changes, rows, strict=True):
        by_plan.setdefault(change.old.plan, [title]).append(row)
    return by_plan


def _cells(result: Comparison) -> dict[str, list[Line]]:
    """What was broken, came and went, config by config."""
    by_plan: dict[str, list[Line]] = {}
    for plan, cell, before, now in result.broken:
        told = say("{title}: {text}", title=clean(cell), text=f"{say(before)} → {say(now)}")
        line = [Span(f"{say('broken')}  ", "bold red"), Span(told)]
        by_plan.setdefault(plan, []).append(line)
    for word, cells in (("new", result.appeared), ("gone", result.vanished)):
        for plan, cell in cells:
            by_plan.setdefault(plan, []).append([Span(f"{say(word):<8}", "yellow"), Span(clean(cell))])
    return by_plan


def _advice(result: Comparison) -> list[Line]:
    """What one run more would tell, and what no run could tell on this machine so far."""
    lines: list[Line] = []
    suspects = [one for one in result.changes if one.suspect]
    if suspects:
        suspects.sort(key=lambda one: -one.change)
        told = ", ".join([f"{_called(one)} {change_text(one, one.change)}" for one in suspects[:3]])
        if len(suspects) > 3:
            told += " " + say("and {count} more", count=len(suspects) - 3)
        lines.append(Hanging([Span(f"  {say('perhaps slower: ')}", "yellow"), Span(clean(told))], 4))
        missing = TWINS - result.new_runs
        text = say("more runs of either version would tell")
        if missing > 0:
            text = say(
                "a run can be disturbed: make {count} more of this version, and compare the last with A",
                count=missing,
            )
        lines.append(Hanging([Span(f"  {text}", "dim")], 4))
    if result.seen_from is not None:
        percent = f"{100 * math.expm1(result.seen_from):.1f}"
        text = say("what slows every step down is seen here from {percent} % on", percent=percent)
        lines.append(Hanging([Span(f"  {text}", "dim")], 4))
    elif result.like and result.changes and result.earlier < RUNS:
        text = say(
            "with fewer than {count} earlier runs on this machine, a time is worse only where it grew by"
            " more than half",
            count=RUNS,
        )
        lines.append(Hanging([Span(f"  {text}", "dim")], 4))
    return lines


def counted_verdicts(result: Comparison) -> list[str]:
    """How many figures are worse, better, and as they were."""
    told = []
    if result.broken:
        told.append(say("{count} broken", count=len(result.broken)))
    told.append(say("{count} worse", count=result.count(WORSE)))
    told.append(say("{count} better", count=result.count(BETTER)))
    told.append(say("{count} within their spread", count=result.count(EQUAL)))
    return told


def _conclusion(result: Comparison) -> Line:
    told = counted_verdicts(result)
    unjudged = result.count(UNJUDGED)
    if unjudged:
        told.append(
            say(
                "{count} not judged (measured once, fewer than 4 earlier runs on this machine)",
                count=unjudged,
            )
        )
    style = CONCLUSION_STYLES[result.conclusion]
    return Hanging([Span(say(result.conclusion).upper(), style), Span(f" · {enumeration(told)}")], 2)


def _name(entry: PastRun) -> str:
    return clean(f"{entry.id}  ({spoken_machine(entry.machine_name)}; {entry.versions})")


def _row(change: Change) -> list[Line]:
    old, new = change.old, change.new
    name = _called(change)
    style = STYLES[change.verdict]
    bound = "?"
    if change.bound is not None:
        bound = change_text(change, change.bound)
    return [
        [Span(say(change.verdict), style)],
        [Span(clean(name))],
        [Span(figure_text(old.value, old.unit))],
        [Span(figure_text(new.value, new.unit))],
        [Span(change_text(change, change.change), style)],
        [Span(bound)],
        [Span(source_text(change), "dim")],
    ]


def source_text(change: Change) -> str:
    """What the usual spread of a figure is known from."""
    runs = change.source.removesuffix(" runs")
    if runs.isdecimal():
        return plural(int(runs), "run")
    return say(change.source)


def _called(change: Change) -> str:
    return f"{change.old.step} · {change.old.metric}"


def figure_text(value: float, unit: str) -> str:
    """A value with its unit."""
    return f"{figure(value)} {unit}".rstrip()


def change_text(change: Change, amount: float) -> str:
    """The change as people say it: of the figure itself, so a speed falls when it becomes worse."""
    if change.old.better == HIGHER:
        amount = -amount
    if not change.relative:
        return f"{amount + 0.0:+.4g}"
    percent = 100 * math.expm1(min(amount, math.log(100)))
    if percent < 999:
        return f"{percent:+.1f} %"
    return "> +999 %"
