"""Findings as people read them: text with carets, and GitHub's annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tipc.config.lint.finding import LintFinding
from tipc.config.source import Source
from tipc.language import plural, say
from tipc.visible import visible, visible_name

WIDTH = 100  # of the quoted text; a longer line is shown around its finding
MOST_CARETS = 40
BEFORE = 2  # lines of context
ALIKE = 4  # a finding in so many files is shown once
NAMED = 2  # of the other files
_COLOURS = {"error": "31", "warning": "33", "note": "36"}


def text(finding: LintFinding, source: Source, *, colour: bool = False) -> str:
    """One finding: where, what, the lines with carets, what the bash does, and what to write."""
    where = ":".join(str(part) for part in (visible_name(finding.path), finding.line, finding.column) if part)
    severity = say(finding.severity)
    if colour:
        severity = f"\x1b[{_COLOURS[finding.severity]};1m{severity}\x1b[0m"
    lines = [f"{where}  {severity} {finding.code}  {visible(finding.message)}"]
    lines += _quote(finding, source)
    hint = "   " + say("(tipc lint --fix can do it)") if finding.fixable else ""
    lines.append(f"   {say('fix: ')}{visible(finding.fix)}{hint}")
    return "\n".join(lines) + "\n"


def grouped(findings: Sequence[LintFinding], *, each: bool = False) -> list[list[LintFinding]]:
    """Findings in order; one code with one message in many files is one group, unless ``each`` is shown."""
    groups: dict[object, list[LintFinding]] = {}
    for number, finding in enumerate(findings):
        key: object = number if each else (finding.case, finding.params)
        groups.setdefault(key, []).append(finding)
    result = []
    for group in groups.values():
        if len({finding.path for finding in group}) >= ALIKE:
            result.append(group)
        else:
            result += [[finding] for finding in group]
    return sorted(result, key=lambda group: (group[0].path, group[0].line, group[0].column, group[0].code))


def others(group: Sequence[LintFinding]) -> str:
    """The line that says where else a group's finding is; empty for a single one."""
    if len(group) == 1:
        return ""
    files = list(dict.fromkeys(finding.path for finding in group))
    named = ", ".join(visible_name(file) for file in files[1 : 1 + NAMED])
    if len(files) > 1 + NAMED:
        named += " " + say("and {count} more", count=len(files) - 1 - NAMED)
    told = say("the same {times} times in other places: {named}", times=len(group) - 1, named=named)
    return f"   {told}   {say('(--each shows all)')}\n"


def _quote(finding: LintFinding, source: Source) -> list[str]:
    if not 1 <= finding.line <= len(source.lines):
        return [f"   {visible(finding.detail)}"]
    digits = max(4, len(str(finding.line)))
    column = max(finding.column, 1) - 1
    start = 0 if column + min(finding.length, 40) <= WIDTH else max(0, column - WIDTH // 2)
    quoted = [
        f"{line.number:>{digits}} │ {_shown(line.text, start if line.number == finding.line else 0)}"
        for line in source.lines[max(0, finding.line - 1 - BEFORE) : finding.line]
    ]
    mark = " " * (column - start + (1 if start else 0)) + "^" * min(finding.length, MOST_CARETS)
    quoted.append(f"{'':>{digits}} │ {mark} {visible(finding.detail)}")
    return quoted


def _shown(line: str, start: int) -> str:
    cut = line[start : start + WIDTH]
    clean = "".join(letter if letter.isprintable() else "·" for letter in cut)
    return ("…" if start else "") + clean + ("…" if start + WIDTH < len(line) else "")


def summary(findings: Sequence[LintFinding], files: int, hidden: int = 0) -> str:
    """``2 errors, 1 warning in 1 file``."""
    counted = Counter(finding.severity for finding in findings)
    parts = [plural(counted[name], name) for name in _COLOURS if counted[name]]
    found = ", ".join(parts) or say("nothing found")
    told = say("{found} in {files}", found=found, files=plural(files, "file"))
    if hidden:
        told += "  " + say("({notes}: --notes shows them)", notes=plural(hidden, "note"))
    return told


def github(finding: LintFinding) -> str:
    """An annotation of a GitHub workflow."""
    kind = {"error": "error", "warning": "warning", "note": "notice"}[finding.severity]
    place = f"file={_property(finding.path)},line={max(finding.line, 1)}"
    if finding.column:
        place += f",col={finding.column},endColumn={finding.column + finding.length}"
    body = _escaped(f"{finding.message}\n{finding.detail}\n{say('fix: ')}{finding.fix}")
    return f"::{kind} {place},title={finding.code}::{body}"


def _escaped(value: str) -> str:
    return visible(value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(value: str) -> str:
    return _escaped(value).replace(":", "%3A").replace(",", "%2C")
