"""The one line that says how a run went. It claims no more than was run and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tipc.certify.verdict import FAIL, UNCHECKED
from tipc.report.text import duration, plural
from tipc.report.view import SKIPPED, RunView, StepView
from tipc.run.record import (
    BLOCKED,
    FAILED,
    FLAKY,
    GOOD,
    INTERRUPTED,
    NOT_SELECTED,
    PENDING,
    STATES,
    TIMEOUT,
)


@dataclass(frozen=True)
class Headline:
    """The word, where it holds, and the counts behind it."""

    word: str  # PASSED, FAILED, NOT CERTIFIED, NOT CHECKED, INTERRUPTED, INCOMPLETE, NOTHING RUN
    where: str  # "on cpu"; empty if nothing passed
    details: tuple[str, ...]
    tone: str  # "good", "bad", "open"
    why: str = ""  # of a part of the chain: how much is missing

    @property
    def claim(self) -> str:
        """``PASSED on cpu``, ``NOT CERTIFIED: 5 of 12 steps were not selected``."""
        return " ".join(filter(None, (f"{self.word}:" if self.why else self.word, self.where, self.why)))

    def __str__(self) -> str:
        return " · ".join((self.claim, *self.details))


def headline(view: RunView) -> Headline:
    """What the run as a whole has shown."""
    states = Counter(_state(one) for one in view.steps)
    word, tone = _word(view, states)
    devices = sorted({one.step.device for one in view.steps if one.result.state in GOOD})
    where = f"on {', '.join(devices)}" if devices and word == "PASSED" else ""
    why = view.run.left_out if word == "NOT CERTIFIED" else ""
    return Headline(word, where, tuple(_details(view, states)), tone, why)


def _state(view: StepView) -> str:
    return NOT_SELECTED if view.result.left_out else view.result.state


def _word(view: RunView, states: Counter[str]) -> tuple[str, str]:
    verdict = view.verdict
    if not any(states[state] for state in STATES if state != PENDING):
        return "NOTHING RUN", "open"
    if states[FAILED] or states[TIMEOUT] or states[BLOCKED]:
        return "FAILED", "bad"
    if states[INTERRUPTED]:
        return "INTERRUPTED", "bad"
    # What was left out keeps a verdict from passing, and is no failure by itself.
    left_out = states[NOT_SELECTED] > 0
    alone = left_out and verdict is not None and not any(map(verdict.forbids, view.telling))
    if verdict is not None and not verdict.passed and not alone:
        return "FAILED", "bad"
    if states[PENDING]:
        return "INCOMPLETE", "open"
    if left_out:
        return "NOT CERTIFIED", "open"
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
