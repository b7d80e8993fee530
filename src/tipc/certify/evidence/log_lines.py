"""The lines of a log, as a stream: any bytes, any size, any length of a line, little memory."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CHUNK = 2**16
EDGE = 2**23  # of a giant log so much of its beginning and of its end is handed on whole
BLOCK = 2**20
LOOKED_THROUGH = 2**34  # bytes of the middle; of what follows not even the lines are counted
# A longer line is handed on in pieces, each with the line's number: nothing of it is lost.
LINE_LIMIT = 4000
# Colours and other commands to a terminal, and what sets its title.
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\^_]")


@dataclass
class Wanted:
    """What is looked for in the middle of a giant log, and how much of it may be handed on."""

    pattern: re.Pattern[bytes]  # of small letters only where ``any_case``
    budget: int  # bytes
    any_case: bool = False
    following: int = 0  # so many bytes that follow are handed on, too
    missed: bool = False  # there was more of it than the budget, or the middle was not looked through


def lines(path: Path, wanted: Sequence[Wanted] = ()) -> Iterator[tuple[int, str]]:
    """Every line of a log with its number, without escapes; nothing if there is no such file.

    A progress bar writes its states over one another with carriage returns: each state is handed on by
    itself, under the number of its line. Of a log of more than two ``EDGE`` only the lines of its beginning
    and its end come whole, and of those between the ones in which something ``wanted`` is found.
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


def _giant(stream: IO[bytes], size: int, wanted: Sequence[Wanted]) -> Iterator[tuple[int, str]]:
    """The beginning, what is wanted of the middle, and the end. Cuts are made where no figure is cut."""
    splitter = Splitter()
    yield from splitter.split(_chunks(stream, EDGE), at_end=False)
    stream.seek(size - EDGE)
    end = size - EDGE + _first_break(stream.read(CHUNK))
    stream.seek(EDGE - len(splitter.rest))
    middle = Middle(splitter.number - 1, wanted)
    yield from middle.look(_chunks(stream, min(end, EDGE + LOOKED_THROUGH), BLOCK))
    if end > EDGE + LOOKED_THROUGH:
        for one in wanted:
            one.missed = True
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
    """Looks through the middle of a giant log at the speed of its reading, a block at a time."""

    def __init__(self, number: int, wanted: Sequence[Wanted]) -> None:
        self.number = number
        self.wanted = wanted
        self.following = 0  # bytes behind something that was found and that are handed on whole

    def look(self, blocks: Iterable[bytes]) -> Iterator[tuple[int, str]]:
        """The lines in which something is found, or the part of a very long line around it."""
        rest = b"\n"  # a pattern may want to know that a line begins
        for block in blocks:
            cut = _end_of_lines(block)
            yield from self._look(rest + block[:cut])
            rest = block[cut:]
        yield from self._look(rest)

    def _look(self, data: bytes) -> Iterator[tuple[int, str]]:
        place = 0  # up to here lines were counted, and handed on
        matches = BlockMatches(self.wanted, data)
        while True:
            if self.following > 0:
                end = self._end(data, min(place + self.following, len(data)))
                yield from self._hand_on(data, place, end)
                self.following -= end - place
                if end < len(data):
                    self.following = 0
                place = end
            found = matches.next(place)
            if found is None:
                break
            one, match = found
            # The line before comes, too: it may say what kind of a thing follows.
            newline = data.rfind(b"\n", place, match.start())
            before = data.rfind(b"\n", place, max(newline, place))
            begin = max(before + 1, place)
            if match.start() - begin > LINE_LIMIT // 2:
                begin = match.start() - LINE_LIMIT // 2
                begin += _first_break(data[begin : match.start()])
            end = self._end(data, match.end())
            self.number += data.count(b"\n", place, begin)
            yield from self._hand_on(data, begin, end)
            place = end
            self.following = one.following
            one.budget -= end - begin + one.following
        self.number += data.count(b"\n", place)

    @staticmethod
    def _end(data: bytes, place: int) -> int:
        """The end of the line in which a place is, or of the part of a long one around it."""
        end = data.find(b"\n", place, place + LINE_LIMIT // 2)
        if end >= 0:
            return end
        end = min(place + LINE_LIMIT // 2, len(data))
        for mark in (b"\r", b",", b" "):
            cut = data.rfind(mark, place, end) + 1
            if cut and end < len(data):
                return cut
        return end

    def _hand_on(self, data: bytes, begin: int, end: int) -> Iterator[tuple[int, str]]:
        piece = Splitter(self.number)
        yield from piece.split([data[begin:end]])
        self.number = piece.number


class BlockMatches:
    """Where something wanted stands in a block, one place after the other."""

    def __init__(self, wanted: Sequence[Wanted], data: bytes) -> None:
        self.data = data
        self.small = data
        if any(one.any_case for one in wanted):
            self.small = data.lower()
        self.left = [(one, self._search(one, 0)) for one in wanted]

    def _search(self, one: Wanted, place: int) -> re.Match[bytes] | None:
        if one.missed:
            return None
        if one.any_case:
            return one.pattern.search(self.small, place)
        return one.pattern.search(self.data, place)

    def next(self, place: int) -> tuple[Wanted, re.Match[bytes]] | None:
        """The first one from a place on; None: there is no more. What has no budget left is missed."""
        first = None
        for index, (one, match) in enumerate(self.left):
            if match is not None and match.start() < place:
                match = self._search(one, place)
                self.left[index] = one, match
            if match is None:
                continue
            if one.budget <= 0:
                one.missed = True
                self.left[index] = one, None
            elif first is None or match.start() < first[1].start():
                first = one, match
        return first


def _end_of_lines(block: bytes) -> int:
    """Where a block may be cut: before the end of its last line, or behind a state or a figure of a very long
    one."""
    newline = block.rfind(b"\n")
    if newline >= 0:
        return newline
    for mark in (b"\r", b","):
        cut = block.rfind(mark) + 1
        if cut:
            return cut
    return len(block)


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
