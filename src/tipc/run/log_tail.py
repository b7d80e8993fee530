"""The end of a log, whatever bytes it holds and however long it is."""

from __future__ import annotations

import os
import re
from pathlib import Path

_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f]")
_REACH = 64 << 10
_WIDTH = 400


def tail(path: str | Path, lines: int = 12, reach: int = _REACH) -> list[str]:
    """The last lines that hold something, as plain text: no control codes, nothing broken or endless."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - reach))
            raw = file.read(reach)
    except OSError:
        return []
    # A progress bar rewrites its line with \r: what counts is what was last seen.
    shown = (line.rstrip("\r").rpartition("\r")[2] for line in raw.decode("utf-8", "replace").split("\n"))
    plain = [_CONTROL.sub("", line).rstrip() for line in shown]
    return [line[:_WIDTH] for line in plain if line][-lines:]
