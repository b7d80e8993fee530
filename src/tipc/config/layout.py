"""What a dialect is: the layout of its files. What its script does with them is in ``tipc.config.rules``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from tipc.config.bash import VALUE_RULES, for_mode, items, key
from tipc.config.source import NOWHERE, Line, Source, Value


class Row(NamedTuple):
    """One line of a layout. ``reads`` says what the script takes from it:

    ``k`` the key, ``v`` the value, ``l`` the value as a ``|``-list, ``p`` the value for the mode; empty: the
    line is a header or a filler that no one reads.
    """

    index: int  # type: ignore[assignment]  # into the lines that the script sees, from 0
    name: str  # the field: "epoch"; of an unread line "header" or "filler"
    reads: str = ""
    keys: tuple[str, ...] = ()  # what stands before the colon, where it is always the same
    kind: str = (
        "text"  # of the value: text, name, python, gpus, trainers, script, path, flag, weights, number
    )
    unused: bool = False  # the script parses it and then never uses it


class Layout(NamedTuple):
    """The lines of one family of config files."""

    rows: tuple[Row, ...]
    limit: int | None = None  # the script reads no physical line beyond this one
    value: str = "second field"  # or "rest of line"
    after: tuple[
        tuple[str, str], ...
    ] = ()  # (field, word): the field is the line after the one with the word
    per_mode: bool = True  # False: the script forgets to pass the mode on, so a ``p`` row is always empty

    @property
    def length(self) -> int:
        """How many lines the layout has."""
        return self.rows[-1].index + 1

    def row(self, name: str) -> Row:
        """The line that holds a field."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)


class Config(NamedTuple):
    """One config file read by one layout: every field with its place."""

    source: Source
    layout: Layout
    lines: tuple[Line, ...]  # as the script sees them
    rows: Mapping[str, Row]

    def line(self, name: str) -> Value:
        """The whole line of a field; empty where the layout has no such field or the file no such line."""
        row = self.rows.get(name)
        line = self.lines[row.index] if row and row.index < len(self.lines) else NOWHERE
        return Value(line.text, line.number, 1 if line.number else 0)

    def key(self, name: str) -> Value:
        """The text before the colon."""
        return key(self.line(name))

    def value(self, name: str) -> Value:
        """The value as this family of scripts cuts it."""
        return VALUE_RULES[self.layout.value](self.line(name))

    def items(self, name: str) -> list[Value]:
        """The items of a list."""
        return items(self.value(name))

    def for_mode(self, name: str, mode: str) -> Value:
        """The value of a per-mode line."""
        return for_mode(self.line(name), mode)


def parse(source: Source, layout: Layout) -> Config:
    """Read a file by a layout. Never fails: what is missing is empty."""
    rows = {}
    for row in layout.rows:
        if row.reads:
            rows[row.name] = row
    for name, word in layout.after:
        rows[name] = Row(line_after(source, word), name, "kv", kind="script")
    return Config(source, layout, source.seen(layout.limit), rows)


def line_after(source: Source, word: str) -> int:
    """Where ``lines[$(grep -n -w word file)]`` points: a physical number as an index; 0 without a match."""
    if not any(word in line.text for line in source.lines):
        return 0
    alone = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    for line in source.lines:
        if alone.search(line.text):
            return line.number
    return 0
