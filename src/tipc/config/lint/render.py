"""Findings as people and machines read them: text with carets, JSON, and GitHub's annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tipc.config.lint.model import Finding
from tipc.config.text import Source

WIDTH = 100  # of the quoted text; a longer line is shown around its finding
MOST_CARETS = 40
BEFORE = 2  # lines of context
_COLOURS = {"error": "31", "warning": "33", "note": "36"}


def text(finding: Finding, source: Source, *, colour: bool = False) -> str:
    """One finding: where, what, the lines with carets, what the bash does, and what to write."""
    where = ":".join(str(part) for part in (finding.path, finding.line, finding.column) if part)
    severity = finding.severity
    if colour:
        severity = f"\x1b[{_COLOURS[severity]};1m{severity}\x1b[0m"
    lines = [f"{where}  {severity} {finding.code}  {finding.message}"]
    lines += _quote(finding, source)
    hint = "   (tipc lint --fix can do it)" if finding.fixable else ""
    lines.append(f"   fix: {finding.fix}{hint}")
    return "\n".join(lines) + "\n"


def _quote(finding: Finding, source: Source) -> list[str]:
    if not 1 <= finding.line <= len(source.lines):
        return [f"   {finding.detail}"]
    digits = max(4, len(str(finding.line)))
    column = max(finding.column, 1) - 1
    start = 0 if column + min(finding.length, 40) <= WIDTH else max(0, column - WIDTH // 2)
    quoted = [
        f"{line.number:>{digits}} │ {_shown(line.text, start if line.number == finding.line else 0)}"
        for line in source.lines[max(0, finding.line - 1 - BEFORE) : finding.line]
    ]
    mark = " " * (column - start + (1 if start else 0)) + "^" * min(finding.length, MOST_CARETS)
    quoted.append(f"{'':>{digits}} │ {mark} {finding.detail}")
    return quoted


def _shown(line: str, start: int) -> str:
    cut = line[start : start + WIDTH]
    clean = "".join(letter if letter.isprintable() else "·" for letter in cut)
    return ("…" if start else "") + clean + ("…" if start + WIDTH < len(line) else "")


def summary(findings: Sequence[Finding], files: int, hidden: int = 0) -> str:
    """``2 errors, 1 warning in 1 file``."""
    counted = Counter(finding.severity for finding in findings)
    parts = [f"{count} {name}{'s' if count > 1 else ''}" for name in _COLOURS if (count := counted[name])]
    told = f"{', '.join(parts) or 'nothing found'} in {files} file{'s' if files != 1 else ''}"
    return told + (f"  ({hidden} note{'s' if hidden > 1 else ''}: --notes shows them)" if hidden else "")


def as_json(findings: Sequence[Finding], files: int, mended: Sequence[Finding]) -> str:
    """All findings in one object; ``version`` grows when a field changes its meaning."""
    import json

    counted = Counter(finding.severity for finding in findings)
    document = {
        "version": 1,
        "files": files,
        "errors": counted["error"],
        "warnings": counted["warning"],
        "notes": counted["note"],
        "findings": [_object(finding) for finding in findings],
        "fixed": [_object(finding) for finding in mended],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _object(finding: Finding) -> Mapping[str, object]:
    return {
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "length": finding.length,
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "bash": finding.detail,
        "fix": finding.fix,
        "fixable": finding.fixable,
    }


def github(finding: Finding) -> str:
    """An annotation of a GitHub workflow."""
    kind = {"error": "error", "warning": "warning", "note": "notice"}[finding.severity]
    place = f"file={_property(finding.path)},line={max(finding.line, 1)}"
    if finding.column:
        place += f",col={finding.column},endColumn={finding.column + finding.length}"
    body = _escaped(f"{finding.message}\n{finding.detail}\nfix: {finding.fix}")
    return f"::{kind} {place},title={finding.code}::{body}\n"


def _escaped(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _escaped(value).replace(":", "%3A").replace(",", "%2C")
