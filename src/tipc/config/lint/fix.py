"""Mend what is mechanical: only what a finding says, atomically, until nothing mechanical is left."""

from __future__ import annotations

import os
from pathlib import Path

from tipc.config.lint.engine import Name, lint_bytes
from tipc.config.lint.model import Edit, Finding
from tipc.config.text import source_of

MOST_ROUNDS = 20


def fixed(
    data: bytes, shown: str, path: Name, *, dialect: str | None = None, repo: Name | None = None
) -> tuple[bytes, list[Finding], list[Finding]]:
    """The mended bytes, the findings that were mended, and those that remain. Once more changes nothing."""
    mended: list[Finding] = []
    findings = lint_bytes(data, shown, path, dialect=dialect, repo=repo)
    for _ in range(MOST_ROUNDS):
        chosen = _compatible(findings)
        after = apply(data, [edit for finding in chosen for edit in finding.edits])
        if after == data:
            break
        data = after
        mended += chosen
        findings = lint_bytes(data, shown, path, dialect=dialect, repo=repo)
    return data, mended, findings


def _compatible(findings: list[Finding]) -> list[Finding]:
    """Findings whose edits touch different lines. Those that move lines go first and alone."""
    shifting = [finding for finding in findings if finding.code in ("TC003", "TC005")] or [
        finding for finding in findings if finding.code in ("TC006", "TC011", "TC012") and finding.edits
    ]
    chosen, taken = [], set[int]()
    for finding in shifting[:1] or findings:
        lines = {edit.line for edit in finding.edits}
        if lines and not lines & taken:
            chosen.append(finding)
            taken |= lines
    return chosen


def apply(data: bytes, edits: list[Edit]) -> bytes:
    """The bytes after the edits. What no edit touches stays as it is, byte by byte."""
    if not edits:
        return data
    texts = [line.text for line in source_of(data, "").lines]
    inserted: dict[int, list[str]] = {}
    lines: list[str | None] = list(texts)
    for edit in edits:
        if edit.insert and edit.text is not None:
            inserted.setdefault(edit.line, []).append(edit.text)
        elif 1 <= edit.line <= len(lines):
            lines[edit.line - 1] = edit.text
    result = []
    for number, line in enumerate(lines, 1):
        result += inserted.get(number, [])
        if line is not None:
            result.append(line)
    return "".join(f"{line}\n" for line in result).encode("utf-8", "surrogateescape")


def write_atomically(path: Name, data: bytes) -> None:
    """Replace a file's content at once, and keep its mode."""
    target = Path(path).resolve()
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        fresh.write_bytes(data)
        fresh.chmod(target.stat().st_mode & 0o7777)
        fresh.replace(target)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
