"""One line of a terminal that says what is done at the moment, and is gone when it is done."""

from __future__ import annotations

import shutil
from types import TracebackType
from typing import TextIO

from tipc.visible import styled, visible_name

CLEAR = "\r\x1b[2K"


class StatusLine:
    """A context manager; on what is no terminal it says nothing."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = styled(stream)
        self._shown = False

    def __enter__(self) -> StatusLine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._stream.write(CLEAR)
            self._stream.flush()

    def show(self, text: str) -> None:
        """Replace what was said before. A line that does not fit would leave its first part behind."""
        if not self._stream.isatty():
            return
        from rich.cells import set_cell_size

        width = shutil.get_terminal_size().columns - 1
        self._stream.write(f"{CLEAR}{set_cell_size(visible_name(text), width).rstrip()}\r")
        self._stream.flush()
        self._shown = True
