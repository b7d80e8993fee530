"""The lines of a log, as a stream: any bytes, any size, any length of a line, little memory."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

CHUNK = 2**16
EDGE = 2**23  # of a giant log so much of its beginning and of its end is handed on whole
BLOCK = 2**20
MIDDLE = 2**22  # and at most so much of what lies between: lines with a word that is looked for
LOOKED_THROUGH = 2**27  # bytes of the middle in which it is looked for; in what follows lines are counted
COUNTED = 2**32  # bytes, and no longer beyond: numbers of lines are then too small
# A longer line is handed on in pieces, each with the line's number: nothing of it is lost.
LINE_LIMIT = 4000
# Colours and other commands to a terminal, and what sets its title.
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\^_]")


def lines(path: Path, wanted: re.Pattern[bytes] | None = None) -> Iterator[tuple[int, str]]:
    """Every line of a log with its number, without escapes; nothing if there is no such file.

    A progress bar writes its states over one another with carriage returns: each state is handed on by
    itself, under the number of its line. Of a log of more than two ``EDGE`` only the lines of its beginning
    and its end come whole, and of those between the ones in which ``wanted`` is found, as far as
    that is quickly done.
    """
    try:
        with open(path, "rb", opener=_open_at_once) as stream:
            state = os.fstat(stream.fileno())
            if not stat.S_ISREG(state.st_mode):
                return  # a pipe would be waited for, a device read for ever
            if state.st_size <= 2 * EDGE:
                yield from Splitter().split(_chunks(stream))
            else:
                yield from _giant(stream, state.st_size, wanted)
    except (OSError, ValueError):  # not there, or a name that no file can have
        return


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _chunks(stream: IO[bytes], until: int | None = None, size: int = CHUNK) -> Iterator[bytes]:
    """A file piece by piece, from where it stands up to a position or its end."""
    while True:
        count = size if until is None else min(size, until - stream.tell())
        chunk = stream.read(count) if count > 0 else b""
        if not chunk:
            return
        yield chunk


def _giant(stream: IO[bytes], size: int, wanted: re.Pattern[bytes] | None) -> Iterator[tuple[int, str]]:
    """The beginning, what is wanted of the middle, and the end. Cuts are made where no figure is cut."""
    splitter = Splitter()
    yield from splitter.split(_chunks(stream, EDGE), at_end=False)
    stream.seek(size - EDGE)
    end = size - EDGE + _first_break(stream.read(CHUNK))
    stream.seek(EDGE - len(splitter.rest))
    middle = Middle(splitter.number, wanted)
    yield from middle.look(_chunks(stream, min(end, EDGE + LOOKED_THROUGH), BLOCK))
    for block in _chunks(stream, min(end, EDGE + COUNTED), BLOCK):
        middle.number += block.count(b"\n")
    stream.seek(end)
    yield from Splitter(middle.number).split(_chunks(stream))


def _first_break(data: bytes) -> int:
    """Where a piece from the middle of a file may begin."""
    for mark in (b"\n", b"\r", b" "):
        found = data.find(mark)
        if found >= 0:
            return found + 1
    return 0


class Splitter:
    """Cuts chunks into numbered lines, and very long lines into pieces."""

    def __init__(self, number: int = 1) -> None:
        self.number = number  # of the line that ``rest`` belongs to
        self.rest = b""

    def split(self, chunks: Iterable[bytes], *, at_end: bool = True) -> Iterator[tuple[int, str]]:
        """The lines of the chunks; ``at_end``: the last one ends with them."""
        for chunk in chunks:
            *whole, self.rest = (self.rest + chunk).split(b"\n")
            for raw in whole:
                for text in _pieces(raw):
                    yield self.number, text
                self.number += 1
            while len(self.rest) > 2 * LINE_LIMIT:
                cut = _cut(self.rest)
                for text in _pieces(self.rest[:cut]):
                    yield self.number, text
                self.rest = self.rest[cut:]
        if at_end and self.rest:
            for text in _pieces(self.rest):
                yield self.number, text


class Middle:
    """Looks through the middle of a giant log at the speed of its reading."""

    def __init__(self, number: int, wanted: re.Pattern[bytes] | None) -> None:
        self.number = number
        self.wanted = wanted
        self.left = MIDDLE  # bytes that may still be handed on

    def look(self, blocks: Iterable[bytes]) -> Iterator[tuple[int, str]]:
        """The lines in which something is found, or the part of a very long line around it."""
        rest = b""
        for block in blocks:
            cut = block.rfind(b"\n") + 1 or len(block)
            yield from self._look(rest + block[:cut])
            rest = block[cut:]
        yield from self._look(rest)

    def _look(self, data: bytes) -> Iterator[tuple[int, str]]:
        place = 0  # up to here lines were counted, and handed on
        while self.wanted is not None and self.left > 0:
            match = self.wanted.search(data, place)
            if match is None:
                break
            # The line before comes, too: it may say what kind of a thing follows.
            newline = data.rfind(b"\n", place, match.start())
            before = data.rfind(b"\n", place, max(newline, place))
            begin = max(before + 1, place, match.start() - LINE_LIMIT // 2)
            end = data.find(b"\n", match.end(), match.end() + LINE_LIMIT // 2)
            if end < 0:
                end = min(match.end() + LINE_LIMIT // 2, len(data))
            self.number += data.count(b"\n", place, begin)
            self.left -= end - begin
            piece = Splitter(self.number)
            yield from piece.split([data[begin:end]])
            self.number = piece.number
            place = end
        self.number += data.count(b"\n", place)


def _pieces(raw: bytes) -> Iterator[str]:
    for state in raw.split(b"\r"):
        while len(state) > LINE_LIMIT:
            cut = _cut(state)
            yield _text(state[:cut])
            state = state[cut:]
        if state:
            yield _text(state)


def _cut(data: bytes) -> int:
    """Where a long line is cut: behind a comma or at a blank, so that no figure is cut in two."""
    comma = data.rfind(b",", 1, LINE_LIMIT) + 1
    blank = data.rfind(b" ", 1, LINE_LIMIT)
    for cut in (comma, blank):
        if cut > LINE_LIMIT // 2:
            return cut
    return LINE_LIMIT


def _text(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return ESCAPES.sub("", text) if "\x1b" in text else text
