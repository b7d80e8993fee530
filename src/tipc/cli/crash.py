"""A bug in tipc leaves a report that can be pasted into an issue, and says so in two lines."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import tempfile
import traceback

from tipc import __version__
from tipc.language import say


def write_crash_report(argv: list[str]) -> str:
    """Write the current exception to a file of its own; return the message for the user."""
    kind, error, _ = sys.exc_info()
    text = (
        f"tipc {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"$ tipc {shlex.join(argv)}\n\n{traceback.format_exc()}"
    )
    name = getattr(kind, "__name__", "error")
    try:
        handle, path = tempfile.mkstemp(prefix="tipc-crash-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return say("this is a bug in tipc ({error}):\n{text}", error=f"{name}: {error}", text=text)
    return say(
        "this is a bug in tipc ({error}); please report it with {path}\n", error=f"{name}: {error}", path=path
    )
