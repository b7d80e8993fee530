"""An output that may go away: a closed pipe or terminal must not end a run, let alone pass for a success."""

from __future__ import annotations

import os
from typing import Any, TextIO

from tipc.visible import styled


class Enduring:
    """A text stream that goes silent, for good, when nobody reads it any more."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def styled(self) -> Enduring:
        """The same for tipc's own colours and movements."""
        return Enduring(styled(self._stream))

    def write(self, text: str) -> int:
        """Write, or be silent."""
        try:
            return self._stream.write(text)
        except OSError:
            self._go_silent()
            return len(text)

    def flush(self) -> None:
        """Flush, or be silent."""
        try:
            self._stream.flush()
        except OSError:
            self._go_silent()

    def _go_silent(self) -> None:
        """Let the descriptor lead nowhere, so that what is still in buffers does no harm either."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
