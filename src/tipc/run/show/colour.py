"""Whether output is coloured: what ``--color`` says, else NO_COLOR, else whether it is a terminal."""

from __future__ import annotations

import os
from typing import TextIO

AUTO, ALWAYS, NEVER = "auto", "always", "never"
WHEN = (AUTO, ALWAYS, NEVER)
_chosen = AUTO


def choose_colour(when: str) -> None:
    """From now on, for the whole process."""
    global _chosen
    _chosen = when


def coloured(stream: TextIO) -> bool:
    """Whether to write colours to this stream."""
    if _chosen != AUTO:
        return _chosen == ALWAYS
    return stream.isatty() and not os.environ.get("NO_COLOR")
