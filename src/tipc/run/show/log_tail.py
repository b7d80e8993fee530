"""The end of a log, whatever bytes it holds and however long it is."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

# What a terminal would obey: escape sequences (CSI, OSC and other strings, single ones) in seven or eight
# bits, and every control character but the tab.
_CONTROL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x08\x0a-\x1f\x7f-\x9f]"
    r"|[\u202a-\u202e\u2066-\u2069]"  # and what turns the direction of the text that follows
)
_REACH = 64 << 10
_WIDTH = 400


def tail(path: str | Path, lines: int = 12, reach: int = _REACH) -> list[str]:
    """The last lines that hold something, as plain text: no control codes, nothing broken or endless."""
    raw = _end_of(path, reach)
    # A progress bar rewrites its line with \r: what counts is what was last seen.
    shown = []
    for line in raw.decode("utf-8", "replace").split("\n"):
        last = line.rstrip("\r").rpartition("\r")[2]  # what a progress bar has written last
        plain = harmless(last).rstrip()
        if plain:
            shown.append(plain[:_WIDTH])
    return shown[-lines:]


def harmless(text: str) -> str:
    """The text without anything that a terminal would obey. Line ends go, too: give it lines."""
    if text.isprintable():  # most lines are, and need no looking through
        return text
    return _CONTROL.sub("", text)


def _end_of(path: str | Path, reach: int) -> bytes:
    """The last bytes of a regular file; nothing of anything else (a pipe would wait for ever)."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):  # not there; or a name that no file can have
        return b""
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            return b""
        return os.pread(descriptor, reach, max(0, state.st_size - reach))
    except OSError:
        return b""
    finally:
        os.close(descriptor)
