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
    where = visible_name(finding.path)
    for number in (finding.line, finding.column):
        if number:
            where += f":{number}"
    severity = say(finding.severity)
    if colour:
        severity = f"\x1b[{_COLOURS[finding.severity]};1m{severity}\x1b[0m"
    fix = f"   {say('fix: ')}{visible(finding.fix)}"
    if finding.fixable:
        fix += "   " + say("(tipc lint --fix can do it)")
    head = f"{where}  {severity} {finding.code}  {visible(finding.message)}"
    return "\n".join([head, *_quote(finding, source), fix]) + "\n"


def grouped(findings: Sequence[LintFinding], *, each: bool = False) -> list[list[LintFinding]]:
    """Findings in order; one code with one message in many files is one group, unless ``each`` is shown."""
    alike: dict[object, list[LintFinding]] = {}
    for number, finding in enumerate(findings):
        key: object = (finding.case, finding.params)
        if each:
            key = number
        alike.setdefault(key, []).append(finding)
    groups = []
    for group in alike.values():
        if len({finding.path for finding in group}) >= ALIKE:
            groups.append(group)
        else:
            groups += [[finding] for finding in group]
    return sorted(groups, key=_place_of_group)


def _place_of_group(group: Sequence[LintFinding]) -> tuple[str, int, int, str]:
    first = group[0]
    return (first.path, first.line, first.column, first.code)


def others(group: Sequence[LintFinding]) -> str:
    """The line that says where else a group's finding is; empty for a single one."""
    if len(group) == 1:
        return ""
    files = list(dict.fromkeys(finding.path for finding in group))
    named = ", ".join(map(visible_name, files[1 : 1 + NAMED]))
    if len(files) > 1 + NAMED:
        named += " " + say("and {count} more", count=len(files) - 1 - NAMED)
    told = say("the same {times} times in other places: {named}", times=len(group) - 1, named=named)
    return f"   {told}   {say('(--each shows all)')}\n"


def _quote(finding: LintFinding, source: Source) -> list[str]:
    if not 1 <= finding.line <= len(source.lines):
        return [f"   {visible(finding.detail)}"]
    digits = max(4, len(str(finding.line)))
    column = max(finding.column, 1) - 1
    start = 0  # of what is shown of the finding's line
    if column + min(finding.length, MOST_CARETS) > WIDTH:
        start = max(0, column - WIDTH // 2)
    quoted = []
    for line in source.lines[max(0, finding.line - 1 - BEFORE) : finding.line - 1]:
        quoted.append(f"{line.number:>{digits}} │ {_shown(line.text, 0)}")
    shown = _shown(source.lines[finding.line - 1].text, start)
    quoted.append(f"{finding.line:>{digits}} │ {shown}")
    blanks = column - start
    if start:
        blanks += 1  # for the ellipsis
    mark = " " * blanks + "^" * min(finding.length, MOST_CARETS)
    quoted.append(f"{'':>{digits}} │ {mark} {visible(finding.detail)}")
    return quoted


def _shown(line: str, start: int) -> str:
    """A line from a column on, as far as there is room; ``…`` stands for what is left out."""
    shown = ""
    if start:
        shown = "…"
    for letter in line[start : start + WIDTH]:
        shown += letter if letter.isprintable() else "·"
    if start + WIDTH < len(line):
        shown += "…"
    return shown


def summary(findings: Sequence[LintFinding], files: int, hidden: int = 0) -> str:
    """``2 errors, 1 warning in 1 file``."""
    counted = Counter(finding.severity for finding in findings)
    parts = []
    for name in _COLOURS:
        if counted[name]:
            parts.append(plural(counted[name], name))
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
