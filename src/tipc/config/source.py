"""A config file as text whose every piece knows where it stands: file, line, column.

Nothing is repaired here: any bytes can be read, ``\\r`` stays in the text, and a blank line keeps its number
although the scripts never see it.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import NamedTuple

from tipc.bounded import read_bounded
from tipc.errors import Message, UsageError, wording
from tipc.suggestions import path_meant


class Value(NamedTuple):
    """A piece of a config's text, and where it begins. ``line`` 0: the file has no such line."""

    text: str
    line: int = 0  # physical, from 1
    column: int = 0  # in characters, from 1

    def __str__(self) -> str:
        return self.text

    def part(self, start: int, text: str) -> Value:
        """A piece of this value that begins ``start`` characters into it."""
        return Value(text, self.line, self.column + start if self.line else 0)


class Line(NamedTuple):
    """One physical line without its ``\\n``; a ``\\r`` before that is kept, as the scripts keep it."""

    number: int
    text: str

    @property
    def blank(self) -> bool:
        """The scripts drop it: there is nothing at all on it (blanks alone are kept)."""
        return self.text == ""

    @property
    def crlf(self) -> bool:
        """It ends as lines do on Windows."""
        return self.text.endswith("\r")


MOST_LINES = 5000  # the longest upstream has a few hundred; a stranger's could keep us busy for hours
NOWHERE = Line(0, "")


class Source(NamedTuple):
    """A config file's text."""

    path: str  # as it was given
    lines: tuple[Line, ...]  # every physical line

    def seen(self, limit: int | None = None) -> tuple[Line, ...]:
        """What a script has in ``lines[]``: blank lines dropped, of the first ``limit`` physical ones."""
        return tuple([line for line in self.lines[:limit] if line.text])

    def error(
        self, message: str | Message, at: Value | Line | int = 0, *, remedy: str | Message = ""
    ) -> UsageError:
        """An error that points into this file."""
        line, column = 0, 0
        if isinstance(at, Value):
            line, column = at.line, at.column
        elif isinstance(at, Line):
            line = at.number
        else:
            line = at
        return UsageError(message, path=self.path, line=line, column=column, remedy=remedy)


@lru_cache(maxsize=16)  # to identify, lint and plan a config each begins with its text
def source_of(data: bytes, path: str) -> Source:
    """The text of any bytes; what is not UTF-8 survives as lone surrogates (PEP 383)."""
    text = data.decode("utf-8", "surrogateescape")
    if text.endswith("\n"):
        text = text[:-1]
    lines = text.split("\n") if data else []
    return Source(path, tuple(map(Line, range(1, len(lines) + 1), lines)))


def read_source(path: str | os.PathLike[str]) -> Source:
    """Read a config file, or say in one message why it is none: missing, a directory, empty, binary."""
    name = os.fspath(path)
    try:
        data = read_bounded(path)
    except FileNotFoundError:
        raise UsageError("there is no such config file", path=name, remedy=path_meant(name)) from None
    except IsADirectoryError:
        raise UsageError("this is a directory, not a config file", path=name) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            wording("the config file cannot be read: {reason}", reason=reason), path=name
        ) from None
    source = source_of(data, name)
    if len(source.lines) > MOST_LINES:
        raise UsageError(
            wording("the config file has more than {most} lines", most=MOST_LINES), path=name, line=MOST_LINES
        )
    if b"\0" in data:
        number, text = next(line for line in source.lines if "\0" in line.text)
        column = text.index("\0") + 1
        raise UsageError("this is a binary file (it has a NUL byte), not a config", path=name,
                         line=number, column=column)  # fmt: skip
    if not source.seen():
        raise UsageError("the config file is empty", path=name, line=1)
    return source
