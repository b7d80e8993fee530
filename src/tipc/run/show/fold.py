"""Lines for a terminal: what does not fit is broken between words, and goes on below its start.

Chinese has no blanks between words and may be broken at any character but before a mark that closes.
"""

from __future__ import annotations

import re
import shutil
from typing import TextIO

from rich.cells import cell_len

FURTHER = 2  # columns
LEAST_ROOM = 20  # columns
_WIDE = r"\u2e80-\u303f\u3041-\uabff\uf900-\ufaff\ufe30-\uff60"
_OPENING, _CLOSING = "（「『【《“‘", "，。；：、）」』】》！？”’"
# One wide character or a word, with the marks that open and close it; blanks.
_PIECES = re.compile(rf"[{_OPENING}]*(?:[{_WIDE}]|[^\s{_WIDE}]+)[{_CLOSING}]*|\s+")


def write_folded(stream: TextIO, text: str, hanging: int = FURTHER) -> None:
    """Write lines, folded on a terminal; elsewhere as they are, for a program may read them."""
    if not stream.isatty():
        stream.write(text)
        return
    width = shutil.get_terminal_size().columns
    for line in text.splitlines():
        stream.write("\n".join(folded(line, width, hanging)) + "\n")


def folded(line: str, width: int, hanging: int = FURTHER) -> list[str]:
    """The rows of a line; all but the first begin ``hanging`` columns further in than it does."""
    column = len(line) - len(line.lstrip(" ")) + hanging
    rows = []
    start = 0
    for place in [*breaks(line, width, column), len(line)]:
        before = " " * column
        if not start:
            before = ""
        rows.append(before + line[start:place].rstrip())
        start = place
    return rows


def breaks(line: str, width: int, column: int) -> list[int]:
    """At which characters a line is broken so that it fits, if the rows after the first begin at ``column``.

    A word that fits no row, such as a path, is left to the terminal: whole, so that it can be copied.
    """
    if cell_len(line) <= width or width - column < LEAST_ROOM:
        return []
    places: list[int] = []
    filled = place = 0
    for piece in _PIECES.findall(line):
        needed = cell_len(piece.rstrip())
        endless = needed > width - column
        if filled + needed > width and needed and not (endless and filled < width):
            places.append(place)
            filled = column
        filled += cell_len(piece)
        place += len(piece)
    return places
