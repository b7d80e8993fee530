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
    TIMEOUT,
    UNCHECKED,
)
from tipc.language import enumeration, plural, say, sentence
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
        if self.where:
            word = say("{word} {where}", word=word, where=self.where)
        if self.why:
            return say("{title}: {text}", title=word, text=self.why)
        return word

    def __str__(self) -> str:
        return " · ".join((self.claim, *self.details))


def headline(view: RunView) -> Headline:
    """What the run as a whole has shown."""
    states: Counter[str] = Counter()
    devices = set()
    for one in view.steps:
        states[shown_state(one)] += 1
        if one.result.state in GOOD:
            devices.add(one.step.device)
    word, tone = _word(view, states)
    where = ""
    if devices and word == "PASSED":
        where = say("on {devices}", devices=", ".join(sorted(devices)))
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
    if view.result.outdated:
        return OUTDATED
    return view.result.state


def _word(view: RunView, states: Counter[str]) -> tuple[str, str]:
    verdict = view.verdict
    left_out = states[NOT_SELECTED] + states[OUTDATED]
    if states[PENDING] + left_out == states.total():
        return "NOTHING RUN", "open"
    if states[FAILED] or states[TIMEOUT] or states[BLOCKED]:
        return "FAILED", "bad"
    if states[INTERRUPTED]:
        return "INTERRUPTED", "bad"
    if _refuted(view, left_out > 0):
        return "FAILED", "bad"
    if states[PENDING]:
        return "INCOMPLETE", "open"
    if left_out or (verdict is not None and not verdict.passed):
        return "NOT CERTIFIED", "open"
    if verdict is None:
        return "NOT CHECKED", "open"
    return "PASSED", "good"


def _refuted(view: RunView, left_out: bool) -> bool:
    """Whether the checks failed the run; what was left out keeps it from passing, and is no failure."""
    verdict = view.verdict
    if verdict is None or verdict.conclusion != CONCLUDED_FAILED:
        return False
    return not left_out or any(map(verdict.forbids, view.telling))


def _details(view: RunView, states: Counter[str]) -> Iterator[str]:
    yield enumeration([plural(len(view.steps), "step"), *_counted(view, states)])
    refuted = unproven = 0
    for finding in view.telling:
        refuted += finding.status == FAIL
        unproven += finding.status == UNCHECKED and finding.required
    if refuted:
        yield say("{checks} failed", checks=plural(refuted, "check"))
    if unproven:
        yield say("{checks} could not be made", checks=plural(unproven, "check"))
    uncertified = 0
    for plan in view.plans:
        uncertified += sum(bool(cell.not_certified) for cell in plan.cells)
    if uncertified:
        told = say("{cells} not certified", cells=plural(uncertified, "cell"))
        if view.verdict is not None and view.verdict.strict:
            told += say(" (strict)")
        yield told
    took = duration(view.elapsed)
    together = sum(one.result.wall for one in view.steps)
    if together > 1.2 * view.elapsed:
        took += say(" (its steps add up to {time})", time=duration(together))
    yield took


def _counted(view: RunView, states: Counter[str]) -> Iterator[str]:
    """How many steps did not simply pass, by state."""
    words = {TIMEOUT: say("timed out"), PENDING: say("not run")}
    for state in (FAILED, TIMEOUT, BLOCKED, INTERRUPTED, PENDING, NOT_SELECTED, OUTDATED, FLAKY):
        if states[state]:
            word = words.get(state, say(state))
            yield say("{count} {state}", count=f"{states[state]:,}", state=word)
    skipped = view.counts[SKIPPED]
    if skipped:
        yield say("{count} {state}", count=f"{skipped:,}", state=say(SKIPPED))
