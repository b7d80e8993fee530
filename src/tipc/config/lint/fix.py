"""Mend what is mechanical: only what a finding says, atomically, until nothing mechanical is left."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tipc.bounded import open_fresh
from tipc.config.lint.finding import Edit, LintFinding
from tipc.config.lint.linter import Name, lint_bytes
from tipc.config.source import source_of
from tipc.reasons import Reason, because

# What a change of a file would cost; None: nothing.
Risk = Callable[[bytes, bytes], Reason | None]


class Refused(NamedTuple):
    """A mechanical change that was not made, and what it would cost."""

    finding: LintFinding
    risk: Reason


class FixedText(NamedTuple):
    """What became of a file."""

    data: bytes
    mended: list[LintFinding]
    findings: list[LintFinding]  # those that remain
    refused: list[Refused]


def no_risk(_before: bytes, _after: bytes) -> Reason | None:
    """For a caller that cannot plan: every mechanical change is made."""
    return None


def fixed(
    data: bytes,
    shown: str,
    path: Name,
    *,
    dialect: str | None = None,
    repo: Name | None = None,
    risk: Risk = no_risk,
) -> FixedText:
    """The mended file. Once more changes nothing.

    A change is made only if ``risk`` has nothing against it and if fewer findings remain; else it is undone.
    """
    mended: list[LintFinding] = []
    refused: dict[object, Refused] = {}
    findings = lint_bytes(data, shown, path, dialect=dialect, repo=repo)
    together = True  # several findings at once, until one of them is refused
    # It ends: a round leaves fewer findings, or refuses one more of them, or goes on one by one.
    while True:
        left = [finding for finding in findings if (finding.case, finding.params) not in refused]
        chosen = _compatible(left)
        if not together:
            chosen = chosen[:1]
        edits: list[Edit] = []
        for finding in chosen:
            edits += finding.edits
        after = apply(data, edits)
        if after == data:
            break
        remaining = lint_bytes(after, shown, path, dialect=dialect, repo=repo)
        cost = risk(data, after)
        if not cost and len(remaining) >= len(findings):
            cost = because("lint-as-many-remain")
        if cost is None:
            data, findings = after, remaining
            mended += chosen
            refused.clear()  # what was not possible before may be now
        elif len(chosen) > 1:
            together = False
        else:
            refused[chosen[0].case, chosen[0].params] = Refused(chosen[0], cost)
    return FixedText(data, mended, findings, list(refused.values()))


def _compatible(findings: list[LintFinding]) -> list[LintFinding]:
    """Findings whose edits touch different lines. Those that move lines go first and alone."""
    shifting = _moving_lines(findings)
    if shifting:
        findings = [shifting]
    chosen = []
    taken: set[int] = set()
    for finding in findings:
        lines = {edit.line for edit in finding.edits}
        if lines and not lines & taken:
            chosen.append(finding)
            taken |= lines
    return chosen


def _moving_lines(findings: list[LintFinding]) -> LintFinding | None:
    """The first finding whose edits change where lines are: of the line ends before all others."""
    for finding in findings:
        if finding.code in ("TC003", "TC005"):
            return finding
    for finding in findings:
        if finding.code in ("TC006", "TC011", "TC012") and finding.edits:
            return finding
    return None


def apply(data: bytes, edits: list[Edit]) -> bytes:
    """The bytes after the edits. What no edit touches stays as it is, byte by byte."""
    if not edits:
        return data
    inserted: dict[int, list[str]] = {}
    lines: list[str | None] = [line.text for line in source_of(data, "").lines]
    for edit in edits:
        if edit.insert and edit.text is not None:
            inserted.setdefault(edit.line, []).append(edit.text)
        elif 1 <= edit.line <= len(lines):
            lines[edit.line - 1] = edit.text
    text = ""
    for number, line in enumerate(lines, 1):
        for before in inserted.get(number, ()):
            text += f"{before}\n"
        if line is not None:
            text += f"{line}\n"
    return text.encode("utf-8", "surrogateescape")


def write_atomically(path: Name, data: bytes) -> None:
    """Replace a file's content at once, and keep its mode."""
    target = Path(path).resolve()
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open_fresh(fresh) as file:
            file.write(data)
        fresh.chmod(target.stat().st_mode & 0o7777)
        fresh.replace(target)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
