"""The one line that says how a run went. It claims no more than was run and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tipc.certify.check_text import why_open
from tipc.certify.verdict import CONCLUDED_FAILED
from tipc.kinds import (
    BLOCKED,
    FAIL,
    FAILED,
    FLAKY,
    GOOD,
    INTERRUPTED,
    NOT_SELECTED,
    OUTDATED,
    PENDING,
    SKIPPED,
    STATES,
    TIMEOUT,
    UNCHECKED,
)
from tipc.language import plural, say, sentence
from tipc.report.plain_text import duration
from tipc.report.view import RunView, StepView


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
        word = say(self.word)
        if self.why:
            word = say("{word}:", word=word)
        return " ".join(filter(None, (word, self.where, self.why)))

    def __str__(self) -> str:
        return " · ".join((self.claim, *self.details))


def headline(view: RunView) -> Headline:
    """What the run as a whole has shown."""
    states = Counter(shown_state(one) for one in view.steps)
    word, tone = _word(view, states)
    devices = sorted({one.step.device for one in view.steps if one.result.state in GOOD})
    where = ""
    if devices and word == "PASSED":
        where = say("on {devices}", devices=", ".join(devices))
    why = ""
    if word == "NOT CERTIFIED":
        why = sentence(view.run.left_out)
        if not why and view.verdict is not None:
            why = why_open(view.verdict)
    return Headline(word, where, tuple(_details(view, states)), tone, why)


def shown_state(view: StepView) -> str:
    """How a step is shown: of one that is pending, why."""
    if view.result.left_out:
        return NOT_SELECTED
    return OUTDATED if view.result.outdated else view.result.state


def _word(view: RunView, states: Counter[str]) -> tuple[str, str]:
    verdict = view.verdict
    if not any(states[state] for state in STATES if state != PENDING):
        return "NOTHING RUN", "open"
    if states[FAILED] or states[TIMEOUT] or states[BLOCKED]:
        return "FAILED", "bad"
    if states[INTERRUPTED]:
        return "INTERRUPTED", "bad"
    # What was left out keeps a verdict from passing, and is no failure by itself.
    left_out = states[NOT_SELECTED] + states[OUTDATED] > 0
    alone = left_out and verdict is not None and not any(map(verdict.forbids, view.telling))
    if verdict is not None and verdict.conclusion == CONCLUDED_FAILED and not alone:
        return "FAILED", "bad"
    if states[PENDING]:
        return "INCOMPLETE", "open"
    if left_out or (verdict is not None and not verdict.passed):
        return "NOT CERTIFIED", "open"
    return ("NOT CHECKED", "open") if verdict is None else ("PASSED", "good")


def _details(view: RunView, states: Counter[str]) -> Iterator[str]:
    words = {TIMEOUT: say("timed out"), PENDING: say("not run")}
    shown = (FAILED, TIMEOUT, BLOCKED, INTERRUPTED, PENDING, NOT_SELECTED, OUTDATED, FLAKY)
    steps = [f"{states[state]:,} {words.get(state, say(state))}" for state in shown if states[state]]
    skipped = view.counts[SKIPPED]
    steps += [f"{skipped:,} {say(SKIPPED)}"] if skipped else []
    yield ", ".join([plural(len(view.steps), "step"), *steps])
    refuted = sum(finding.status == FAIL for finding in view.telling)
    if refuted:
        yield say("{checks} failed", checks=plural(refuted, "check"))
    unproven = sum(finding.status == UNCHECKED and finding.required for finding in view.telling)
    if unproven:
        yield say("{checks} could not be made", checks=plural(unproven, "check"))
    uncertified = sum(bool(cell.not_certified) for plan in view.plans for cell in plan.cells)
    if uncertified:
        strict = say(" (strict)") if view.verdict is not None and view.verdict.strict else ""
        yield say("{cells} not certified", cells=plural(uncertified, "cell")) + strict
    together = sum(one.result.wall for one in view.steps)
    spared = ""
    if together > 1.2 * view.elapsed:
        spared = say(" (its steps add up to {time})", time=duration(together))
    yield duration(view.elapsed) + spared
