"""What the checks conclude. A finding passes, fails, or says why it was not checked; nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tipc.kinds import FAIL, NOT_CERTIFIED, PASS, STATUSES, UNCHECKED
from tipc.message import Message

# What a verdict concludes.
CONCLUDED_CERTIFIED = "certified"
CONCLUDED_OPEN = "not certified"  # nothing is wrong, and something that is required was not shown
CONCLUDED_FAILED = "failed"

# What a check is about, by the letters of its id: for one line that says what is open.
TOPICS = {
    "TS": "steps",
    "TL": "logs",
    "TA": "mixed precision",
    "TP": "parity",
    "TQ": "quantisation",
    "TR": "stored results",
    "TB": "benchmark",
    "TX": "artefacts",
    "TT": "training and evaluation",
    "TI": "inference",
    "TD": "documents",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One conclusion of one check, with what it rests on."""

    check: str  # "TP301"
    title: str
    status: str  # one of STATUSES
    message: str  # one line, names the cause; in English
    plan: str = ""  # Plan.key; "" for the repository
    cell: str = ""
    step: str = ""
    required: bool = True  # an unchecked finding that is required keeps the verdict from passing
    remedy: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)  # JSON; figures, counts, file:line
    # What message and remedy were made from, by these names, where they have parameters.
    wordings: Mapping[str, Message] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """All findings about a run, and what follows from them."""

    run: str
    findings: tuple[Finding, ...]
    strict: bool = False

    def count(self, status: str) -> int:
        """How many findings have this status."""
        return sum(finding.status == status for finding in self.findings)

    def forbids(self, finding: Finding) -> bool:
        """Whether this finding alone keeps the verdict from passing."""
        return (
            finding.status == FAIL
            or (finding.status == UNCHECKED and finding.required)
            or (self.strict and finding.status in (UNCHECKED, NOT_CERTIFIED))
        )

    @property
    def passed(self) -> bool:
        """Nothing failed, nothing required was left unchecked and, if strict, nothing is uncertified."""
        return bool(self.findings) and not any(map(self.forbids, self.findings))

    @property
    def conclusion(self) -> str:
        """Certified; not certified, where nothing is wrong but something was not shown; or failed."""
        if self.passed:
            return CONCLUDED_CERTIFIED
        if self.count(FAIL) or not self.findings:
            return CONCLUDED_FAILED
        return CONCLUDED_OPEN

    @property
    def open_topics(self) -> tuple[str, ...]:
        """What keeps the verdict from passing without being wrong: ``parity``, ``training``."""
        topics: dict[str, None] = {}
        for finding in self.findings:
            if finding.status != FAIL and self.forbids(finding):
                topics[TOPICS.get(finding.check[:2], finding.title)] = None
        return tuple(topics)


__all__ = ["FAIL", "NOT_CERTIFIED", "PASS", "STATUSES", "UNCHECKED", "Finding", "Verdict"]
