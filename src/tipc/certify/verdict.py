"""What the checks conclude. A finding passes, fails, or says why it was not checked; nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PASS = "pass"
FAIL = "fail"
UNCHECKED = "unchecked"  # the repository should have shown it and did not make it checkable
NOT_CERTIFIED = "not_certified"  # this machine cannot show it (no GPU, AMP on a CPU)
STATUSES = (PASS, FAIL, UNCHECKED, NOT_CERTIFIED)


@dataclass(frozen=True)
class Finding:
    """One conclusion of one check, with what it rests on."""

    check: str  # "TP301"
    title: str
    status: str  # one of STATUSES
    message: str  # one line, names the cause
    plan: str = ""  # Plan.key; "" for the repository
    cell: str = ""
    step: str = ""
    required: bool = True  # an unchecked finding that is required keeps the verdict from passing
    remedy: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)  # JSON; figures, counts, file:line


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
