"""Findings as plain text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tipc.certify.check_text import finding_message, finding_words, why_open
from tipc.certify.verdict import (
    CONCLUDED_OPEN,
    FAIL,
    NOT_CERTIFIED,
    PASS,
    STATUSES,
    UNCHECKED,
    Finding,
    Verdict,
)
from tipc.kinds import SIGNS, STATE_OF_STATUS, mark_of
from tipc.language import say

SHOWN = 8  # wrong items of one point on a terminal
WORDS = {PASS: "passed", FAIL: "failed", UNCHECKED: "unchecked", NOT_CERTIFIED: "not certified"}


def verdict_text(verdict: Verdict, left_out: str = "") -> str:
    """What is not in order, each with its remedy; what passed, counted; the verdict.

    ``left_out`` says of a run that is a part of its chain (``Run.left_out``) how much of it is missing.
    """
    lines: list[str] = []
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for finding in verdict.findings:
        if finding.status != PASS:
            key = (finding.check, finding.status, finding.message, finding.remedy)
            alike.setdefault(key, []).append(finding)
    for findings in alike.values():
        lines += finding_lines(findings[0], len(findings) - 1)
    counts = ", ".join(f"{verdict.count(status)} {say(WORDS[status])}" for status in STATUSES)
    conclusion = say(verdict.conclusion.upper())
    if left_out:
        conclusion = say(CONCLUDED_OPEN.upper())  # what was left out keeps it open, and is no failure
    if verdict.strict:
        conclusion += say(" (strict)")
    why = left_out or why_open(verdict)
    if why:
        conclusion = say("{title}: {text}", title=conclusion, text=why)
    return "\n".join([*lines, f"{conclusion} · {verdict.run} · {counts}", ""])


def finding_lines(finding: Finding, more: int = 0) -> Iterator[str]:
    """One finding: status, check, where, and in how many places more; the message; what to do."""
    where = finding.step or finding.cell or finding.plan
    if where and more:
        where += " " + say("and {count} more", count=f"{more:,}")
    words = finding_words(finding)
    status = say(WORDS[finding.status])
    if finding.status == UNCHECKED and not finding.required:
        status += say(" (not required)")
    line = f"{_mark(finding)} {finding.check}  {status}  {words.title}"
    if where:
        line += f"  [{where}]"
    yield line
    yield f"    {printable(finding_message(finding))}"
    if words.remedy:
        yield f"    {say('try: ')}{printable(words.remedy)}"


def _mark(finding: Finding) -> str:
    return SIGNS[STATE_OF_STATUS[finding.status]].mark


def printable(text: str) -> str:
    """One line without control characters: messages quote logs."""
    kept = ""
    for char in text:
        if char.isprintable():
            kept += char
        else:
            kept += " "
    return kept


def checklist_text(findings: Iterable[Finding]) -> str:
    """The checklist of ``tipc check``: every finding with the items that it rests on."""
    lines: list[str] = []
    for finding in findings:
        words = finding_words(finding)
        message = printable(finding_message(finding))
        told = say("{title}: {text}", title=words.title, text=message)
        lines.append(f"{_mark(finding)} {finding.check}  {told}")
        if finding.status == PASS:
            continue
        wrong = [item for item in finding.evidence.get("items", ()) if not item["ok"]]
        for item in wrong[:SHOWN]:
            entry = printable(entry_text(item))
            if entry != message:
                lines.append(f"      {mark_of(False)} {entry}")
        if len(wrong) > SHOWN:
            more = say("and {count} more (--json has them all)", count=len(wrong) - SHOWN)
            lines.append(f"      … {more}")
        if words.remedy:
            lines.append(f"      {say('try: ')}{printable(words.remedy)}")
    return "\n".join([*lines, ""])


def entry_text(item: Mapping[str, Any]) -> str:
    """An entry of a checklist; the words of tipc in the user's language, those of the repository as they
    are."""
    if not item["note"]:
        return str(item["what"])
    return say("{title}: {text}", title=item["what"], text=item["note"])


def checklist_markdown(findings: Iterable[Finding], title: str) -> str:
    """The same for a pull request: a task list, what is wrong below each point."""
    lines = [f"## {say('TIPC checklist: ')}{escape(title)}", ""]
    for finding in findings:
        box = " "
        if finding.status == PASS:
            box = "x"
        words = finding_words(finding)
        what = say("{title}: {text}", title=escape(words.title), text=escape(finding_message(finding)))
        lines.append(f"- [{box}] **{finding.check}** {what}")
        for item in finding.evidence.get("items", ()):
            lines.append(f"  - {mark_of(item['ok'])} {escape(entry_text(item))}")
        if finding.status != PASS and words.remedy:
            lines.append(f"  - {say('try: ')}{escape(words.remedy)}")
    return "\n".join([*lines, ""])


def escape(text: str) -> str:
    """Text of a repository in Markdown: nothing of it is markup."""
    kept = printable(text)
    for char in "\\`*_<>[]|#":
        kept = kept.replace(char, f"\\{char}")
    return kept
