"""The one line that says how a run went. It claims no more than was run and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tipc.certify.verdict import FAIL, UNCHECKED, Verdict
from tipc.report.text import duration, plural
from tipc.report.view import SKIPPED, RunView, StepView
from tipc.run.journal import NOT_SELECTED
from tipc.run.record import BLOCKED, FAILED, FLAKY, GOOD, INTERRUPTED, PENDING, STATES, TIMEOUT


@dataclass(frozen=True)
class Headline:
    """The word, where it holds, and the counts behind it."""

    word: str  # "PASSED", "FAILED", "NOT CHECKED", "INTERRUPTED", "INCOMPLETE", "NOTHING RUN"
    where: str  # "on cpu"; empty if nothing passed
    details: tuple[str, ...]
    tone: str  # "good", "bad", "open"

    def __str__(self) -> str:
        first = " ".join(filter(None, (self.word, self.where)))
        return " · ".join((first, *self.details))


def headline(view: RunView) -> Headline:
    """What the run as a whole has shown."""
    states = Counter(_state(one) for one in view.steps)
    word, tone = _word(states, view.verdict)
    devices = sorted({one.step.device for one in view.steps if one.result.state in GOOD})
    where = f"on {', '.join(devices)}" if devices and word == "PASSED" else ""
    return Headline(word, where, tuple(_details(view, states)), tone)


def _state(view: StepView) -> str:
    chosen = view.result.state != PENDING or view.result.reason != NOT_SELECTED
    return view.result.state if chosen else NOT_SELECTED


def _word(states: Counter[str], verdict: Verdict | None) -> tuple[str, str]:
    if not any(states[state] for state in STATES if state != PENDING):
        return "NOTHING RUN", "open"
    if states[FAILED] or states[TIMEOUT] or states[BLOCKED]:
        return "FAILED", "bad"
    if states[INTERRUPTED]:
        return "INTERRUPTED", "bad"
    if verdict is not None and not verdict.passed:
        return "FAILED", "bad"
    if states[PENDING]:
        return "INCOMPLETE", "open"
    return ("NOT CHECKED", "open") if verdict is None else ("PASSED", "good")


def _details(view: RunView, states: Counter[str]) -> Iterator[str]:
    words = {TIMEOUT: "timed out", PENDING: "not run"}
    shown = (FAILED, TIMEOUT, BLOCKED, INTERRUPTED, PENDING, NOT_SELECTED, FLAKY)
    steps = [f"{states[state]:,} {words.get(state, state)}" for state in shown if states[state]]
    skipped = view.counts[SKIPPED]
    steps += [f"{skipped:,} skipped"] if skipped else []
    yield ", ".join([plural(len(view.steps), "step"), *steps])
    refuted = sum(finding.status == FAIL for finding in view.telling)
    if refuted:
        yield f"{plural(refuted, 'check')} failed"
    unproven = sum(finding.status == UNCHECKED and finding.required for finding in view.telling)
    if unproven:
        yield f"{plural(unproven, 'check')} could not be made"
    uncertified = sum(bool(cell.not_certified) for plan in view.plans for cell in plan.cells)
    if uncertified:
        strict = " (strict)" if view.verdict is not None and view.verdict.strict else ""
        yield f"{plural(uncertified, 'cell')} not certified{strict}"
    together = sum(one.result.wall for one in view.steps)
    spared = f" (steps one by one: {duration(together)})" if together > 1.2 * view.elapsed else ""
    yield duration(view.elapsed) + spared
