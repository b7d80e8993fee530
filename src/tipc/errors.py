"""The errors that a user can meet, and the exit code that each of them has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tipc.language import DEFAULT, say
from tipc.visible import visible, visible_name

PASSED = 0
FAILED = 1
USAGE = 2
ENVIRONMENT = 3
INTERRUPTED = 130
FILES_NAMED = 5  # of those that have the same problem, besides the first


@dataclass(frozen=True)
class ErrorText:
    """A text for people: its English template, and what is put into it. ``str`` is in the user's language."""

    english: str
    values: dict[str, object]

    def __str__(self) -> str:
        return say(self.english, **self.values)

    def in_english(self) -> str:
        """For files and for programs, which must not depend on who reads."""
        values = {name: _in_english(value) for name, value in self.values.items()}
        return say(self.english, DEFAULT, **values)


def _in_english(value: object) -> object:
    return value.in_english() if isinstance(value, ErrorText) else value


def wording(english: str, **values: object) -> ErrorText:
    """What an error says: ``wording("there is no device `{name}`", name=name)``."""
    return ErrorText(english, values)


class TipcError(Exception):
    """An expected error: one message, where it is, and what to do. Never shown as a traceback."""

    exit_code = ENVIRONMENT

    def __init__(
        self,
        message: str | ErrorText,
        *,
        path: str | None = None,
        line: int = 0,
        column: int = 0,
        remedy: str | ErrorText = "",
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
        return str(_in_english(self.told))

    @property
    def remedy(self) -> str:
        """What to do about it, in English."""
        return str(_in_english(self.advice))

    def __str__(self) -> str:
        where = visible_name(self.path or "")
        if where and self.line:
            where += f":{self.line}" + (f":{self.column}" if self.column else "")
        message = visible(_spoken(self.told))
        text = f"{where}: {message}" if where else message
        remedy = _spoken(self.advice)
        return f"{text}\n  {say('try: ')}{visible(remedy)}" if remedy else text


def _spoken(text: str | ErrorText) -> str:
    """In the user's language; a text without parameters is its own template."""
    return say(text) if isinstance(text, str) else str(text)


def told_once(problems: Sequence[TipcError]) -> list[str]:
    """Problems as lines: what is wrong with several files in the same way is told once, with all of them."""
    files: dict[tuple[str, str], list[TipcError]] = {}
    for problem in problems:
        key = (problem.message, problem.remedy)
        if problem.line:
            key = (str(problem), "")
        files.setdefault(key, []).append(problem)
    lines = []
    for same in files.values():
        others = [visible_name(one.path) for one in same[1:] if one.path]
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
