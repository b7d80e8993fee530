"""The errors that a user can meet, and the exit code that each of them has."""

from __future__ import annotations

from collections.abc import Sequence

from tipc.language import say
from tipc.message import Message, in_english, spoken, wording
from tipc.visible import visible, visible_name

PASSED = 0
FAILED = 1
USAGE = 2
ENVIRONMENT = 3
INTERRUPTED = 130
FILES_NAMED = 5  # of those that have the same problem, besides the first


def code_of(passed: bool) -> int:
    """The exit code of a command that judges."""
    if passed:
        return PASSED
    return FAILED


class TipcError(Exception):
    """An expected error: one message, where it is, and what to do. Never shown as a traceback."""

    exit_code = ENVIRONMENT

    def __init__(
        self,
        message: str | Message,
        *,
        path: str | None = None,
        line: int = 0,
        column: int = 0,
        remedy: str | Message = "",
    ) -> None:
        super().__init__(message)
        self.told = message
        self.path = path
        self.line = line
        self.column = column
        self.advice = remedy

    @property
    def message(self) -> str:
        """What is wrong, in English: it may be kept in a file."""
        return in_english(self.told)

    @property
    def remedy(self) -> str:
        """What to do about it, in English."""
        return in_english(self.advice)

    def __str__(self) -> str:
        where = visible_name(self.path or "")
        if where and self.line:
            where += f":{self.line}"
            if self.column:
                where += f":{self.column}"
        text = visible(spoken(self.told))
        if where:
            text = f"{where}: {text}"
        remedy = spoken(self.advice)
        if remedy:
            text += f"\n  {say('try: ')}{visible(remedy)}"
        return text


def deduplicated(problems: Sequence[TipcError]) -> list[str]:
    """Problems as lines: what is wrong with several files in the same way is told once, with all of them."""
    files: dict[tuple[str, str], list[TipcError]] = {}
    for problem in problems:
        key = (problem.message, problem.remedy)
        if problem.line:
            key = (str(problem), "")
        files.setdefault(key, []).append(problem)
    lines = []
    for same in files.values():
        others = []
        for one in same[1:]:
            if one.path:
                others.append(visible_name(one.path))
        lines.append(str(same[0]))
        if others:
            lines.append(f"  {say('also: ')}{', '.join(others[:FILES_NAMED])}")
        if len(others) > FILES_NAMED:
            lines[-1] += ", " + say("and {count} more", count=len(others) - FILES_NAMED)
    return lines


class UsageError(TipcError):
    """The config file or the call is wrong: exit code 2."""

    exit_code = USAGE


class EnvironmentProblem(TipcError):
    """This machine lacks what is needed (an interpreter, a disk with room, …): exit code 3."""

    exit_code = ENVIRONMENT


__all__ = [
    "ENVIRONMENT",
    "FAILED",
    "INTERRUPTED",
    "PASSED",
    "USAGE",
    "EnvironmentProblem",
    "Message",
    "TipcError",
    "UsageError",
    "deduplicated",
    "wording",
]
