"""What the page says about the runs before: courses of figures, and the comparison with one of them."""

from __future__ import annotations

from collections.abc import Mapping
from time import localtime, strftime
from typing import Any

from tipc.language import enumeration, say
from tipc.report.figures import ACCURACY, LATENCY, SPEED, TIME
from tipc.report.history.comparison import (
    BETTER,
    INCONCLUSIVE,
    NO_REGRESSION,
    REGRESSION,
    UNJUDGED,
    WORSE,
    Change,
    Comparison,
)
from tipc.report.history.past import Course, Past, PlanCourse
from tipc.report.history.step_differences import change_text, counted_verdicts, figure_text, source_text
from tipc.report.html import charts
from tipc.report.plain_text import duration, figure

LARGE = 3  # configs whose courses are drawn large
ROWS = 40  # figures, and cells, of a comparison
TITLES = {TIME: "time of all steps", SPEED: "training speed", LATENCY: "latency", ACCURACY: "accuracy"}
TONES = {REGRESSION: "bad", INCONCLUSIVE: "open", NO_REGRESSION: "good"}


def past_page(past: Past | None, models: Mapping[str, str], anchors: Mapping[str, str]) -> dict[str, Any]:
    """The template's data; ``models`` and ``anchors`` are those of the page's plans."""
    if past is None:
        return {"trends": None, "comparison": None}
    comparison = None
    if past.comparison:
        comparison = _comparison(past.comparison, models)
    plans = [plan for plan in past.plans if plan.plan in models]
    if not plans:
        return {"trends": None, "comparison": comparison}
    large = len(plans) <= LARGE
    rows = []
    count = 0
    for plan in plans:
        row = {
            "model": models[plan.plan],
            "plan": plan.plan,
            "anchor": anchors[plan.plan],
            "runs": _runs(plan),
            "charts": [_chart(course, large) for course in plan.courses],
        }
        rows.append(row)
        count = max(count, len(plan.entries))
    return {"trends": {"rows": rows, "large": large, "count": count}, "comparison": comparison}


def _runs(plan: PlanCourse) -> list[tuple[str, str]]:
    """The state of each run and when it was."""
    told = []
    for entry, state in zip(plan.entries, plan.states, strict=True):
        told.append((state, f"{_moment(entry.started)} · {say(state)} · {duration(entry.seconds)}"))
    return told


def _chart(course: Course, large: bool) -> dict[str, Any]:
    title = say(TITLES[course.kind])
    if course.kind == ACCURACY:
        title = course.name
    moments = [_moment(entry.started) for entry in course.entries]
    if large:
        return {"kind": course.kind, "drawn": charts.curve(title, course.unit, course.values, moments)}
    return {
        "kind": course.kind,
        "last": f"{figure(course.values[-1])} {course.unit}".strip(),
        "drawn": charts.plot(title, course.values, moments),
    }


def _moment(started: float) -> str:
    return strftime("%m-%d %H:%M", localtime(started))


def _comparison(result: Comparison, models: Mapping[str, str]) -> dict[str, Any]:
    changes = [*result.of(WORSE), *result.of(BETTER)]
    for change in result.changes:
        if change.suspect:
            changes.append(change)
    told = counted_verdicts(result)
    unjudged = result.count(UNJUDGED)
    if unjudged:
        told.append(say("{count} not judged: measured too seldom", count=unjudged))
    return {
        "old": result.old.id,
        "started": strftime("%Y-%m-%d %H:%M", localtime(result.old.started)),
        "versions": result.old.versions,
        "conclusion": say(result.conclusion),
        "tone": TONES.get(result.conclusion, "open"),
        "told": enumeration(told),
        "alike": result.like,
        "changes": [_change(change, models) for change in changes[:ROWS]],
        "more": max(0, len(changes) - ROWS),
        "cells": _cells(result, models)[:ROWS],
    }


def _cells(result: Comparison, models: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """The cells that came, went or broke: in a word, where, and what happened."""
    cells = []
    for plan, cell, before, now in result.broken:
        cells.append((say("broken"), models.get(plan, plan), cell, f"{say(before)} → {say(now)}"))
    for plan, cell in result.appeared:
        cells.append((say("new"), models.get(plan, plan), cell, ""))
    for plan, cell in result.vanished:
        if plan in models:  # of a config that was not called now, nothing is gone
            cells.append((say("gone"), models[plan], cell, ""))
    return cells


def _change(change: Change, models: Mapping[str, str]) -> dict[str, Any]:
    verdict = say(change.verdict)
    if change.suspect:
        verdict = say("perhaps worse")
    bound = "?"
    if change.bound is not None:
        bound = change_text(change, change.bound)
    return {
        "verdict": verdict,
        "tone": {WORSE: "bad", BETTER: "good"}.get(change.verdict, "open"),
        "model": models.get(change.old.plan, change.old.plan) or say("all configs"),
        "step": change.old.step,
        "metric": change.old.metric,
        "old": figure_text(change.old.value, change.old.unit),
        "new": figure_text(change.new.value, change.new.unit),
        "change": change_text(change, change.change),
        "bound": bound,
        "source": source_text(change),
    }
