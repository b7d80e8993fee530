"""What a rule gets to see: the file, its layout, and the lines put to the rows that they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tipc.config.layout import Config, Row
from tipc.config.lint.cases import CASES
from tipc.config.lint.finding import Edit, LintFinding, Told
from tipc.config.lint.line_alignment import LineAlignment
from tipc.config.rules import Dialect
from tipc.config.source import Line, Source, Value


class Context(NamedTuple):
    """One file under lint. ``source`` has no carriage returns; ``data`` is what is really in the file."""

    data: bytes
    source: Source
    repo: str | None  # None: the repository's own files are not there to be looked at
    chain: str = ""
    script: str = ""  # the text of the script that reads the file, where it is none of ours
    dialect: Dialect | None = None
    alignment: LineAlignment | None = None
    config: Config | None = None  # its lines are the aligned ones: a missing line shifts nothing here
    used: tuple[Row, ...] = ()  # the rows whose line is there and that the script uses

    def find(self, case: str, place: Value | Line | int, *edits: Edit, **params: Told) -> LintFinding:
        """A finding at a value, at the whole of a line, or at a line's number."""
        assert set(params) == set(CASES[case]), f"{case} has the parameters {CASES[case]}"
        if isinstance(place, Value):
            line, column, length = place.line, place.column, len(place.text)
        elif isinstance(place, Line):
            line, column, length = place.number, 1, len(place.text)
        else:
            line, column, length = place, 0, 0
        told = tuple(params.items())
        return LintFinding(self.source.path, line, column, max(length, 1), case, told, edits)

    def line(self, number: int) -> str:
        """The text of a physical line."""
        return self.source.lines[number - 1].text

    def replaced(self, value: Value, text: str) -> Edit:
        """The edit that writes ``text`` where a value stands."""
        line = self.line(value.line)
        start = value.column - 1
        return Edit(value.line, line[:start] + text + line[start + len(value.text) :])

    def lost_names(self) -> set[str]:
        """The names of rows whose line is missing, which is a finding already."""
        if self.dialect is None or self.alignment is None:
            return set()
        lost: set[str] = set()
        for row, line in zip(self.dialect.layout.rows, self.alignment.lines, strict=True):
            if line is None:
                lost.update(row.keys)
        return lost

    def rows(self, reads: str = "") -> Iterator[tuple[Row, Config]]:
        """The rows of which the script uses something (any of ``reads``) and whose line is there."""
        if self.config is None:
            return
        for row in self.used:
            if not reads or any(letter in row.reads for letter in reads):
                yield row, self.config


def is_null(value: Value | str) -> bool:
    """Whether a text means nothing, blanks aside."""
    return str(value).strip() in ("null", "")


@lru_cache(maxsize=256)
def closest(word: str, among: tuple[str, ...], cutoff: float) -> str:
    """The most similar of some words, or empty."""
    from difflib import get_close_matches

    return "".join(get_close_matches(word, among, 1, cutoff))
