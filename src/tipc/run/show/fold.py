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
    if cell_len(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip(" "))
    column = indent + hanging
    if width - column < LEAST_ROOM:
        return [line]
    rows: list[str] = []
    row = line[:indent]
    for piece in _PIECES.findall(line[indent:]):
        fits = cell_len(row + piece.rstrip()) <= width
        endless = cell_len(piece) > width - column  # a path: left to the terminal, whole for copying
        if fits or (endless and cell_len(row) < width):
            row += piece
            continue
        rows.append(row.rstrip())
        row = " " * column + piece.lstrip()
    return [*rows, row.rstrip()]
