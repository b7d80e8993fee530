"""What lint found, for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from tipc.config.lint.finding import LintFinding, Told
from tipc.reasons import Parameter, Reason, reason_to_json

SCHEMA = "tipc.lint/1"


@dataclass(frozen=True)
class FindingDocument:
    """One thing that is wrong. Compare ``case`` and ``params``, not sentences, which are in a language."""

    path: str
    line: int  # 0: the whole file
    column: int  # from 1; 0: the whole line
    length: int
    code: str
    case: str
    params: Mapping[str, str | int | list[str] | dict[str, Parameter]]
    severity: str
    message: str
    bash: str  # what the bash does with it
    fix: str
    fixable: bool


@dataclass(frozen=True)
class LintDocument:
    """All findings of a call."""

    files: int
    errors: int
    warnings: int
    notes: int
    findings: list[FindingDocument]
    fixed: list[FindingDocument]


def as_json(findings: Sequence[LintFinding], files: int, mended: Sequence[LintFinding]) -> str:
    """All findings in one object."""
    counted = Counter(finding.severity for finding in findings)
    document = LintDocument(
        files=files,
        errors=counted["error"],
        warnings=counted["warning"],
        notes=counted["note"],
        findings=[_document(finding) for finding in findings],
        fixed=[_document(finding) for finding in mended],
    )
    return json.dumps({"schema": SCHEMA, **asdict(document)}, indent=2, ensure_ascii=True) + "\n"


def _document(finding: LintFinding) -> FindingDocument:
    return FindingDocument(
        path=finding.path,
        line=finding.line,
        column=finding.column,
        length=finding.length,
        code=finding.code,
        case=finding.case,
        params={name: _plain(value) for name, value in finding.params},
        severity=finding.severity,
        message=finding.message,
        bash=finding.detail,
        fix=finding.fix,
        fixable=finding.fixable,
    )


def _plain(value: Told) -> str | int | list[str] | dict[str, Parameter]:
    if isinstance(value, Reason):
        return reason_to_json(value)
    if isinstance(value, tuple):
        return list(value)
    return value
