"""Checks and findings in the language of the user."""

from __future__ import annotations

from tipc.certify.registry import Check, all_checks
from tipc.certify.verdict import CONCLUDED_OPEN, Finding, Verdict
from tipc.language import described, say
from tipc.language.entry import Described


def check_words(check: Check) -> Described:
    """What explains a check."""
    return described(check.id, Described(check.title, check.reason, check.remedy, check.reads))


def finding_words(finding: Finding) -> Described:
    """Title and remedy of a finding."""
    words = described(finding.check, Described(finding.title, "", finding.remedy))
    check = all_checks().get(finding.check)
    if check is not None and finding.remedy == check.remedy:
        return words
    # One that is of this finding alone.
    remedy = say(finding.remedy) if finding.remedy else ""
    if "remedy" in finding.wordings:
        remedy = str(finding.wordings["remedy"])
    return words._replace(remedy=remedy)


def finding_message(finding: Finding, into: str = "") -> str:
    """What a check measured; in English where an older tipc wrote the verdict."""
    if "message" in finding.wordings:
        return finding.wordings["message"].spoken(into)
    return say(finding.message, into)


def why_open(verdict: Verdict) -> str:
    """What a verdict leaves open: ``parity unchecked``; empty where the conclusion is another."""
    if verdict.conclusion != CONCLUDED_OPEN:
        return ""
    return say("{topics} unchecked", topics=", ".join(say(topic) for topic in verdict.open_topics))
