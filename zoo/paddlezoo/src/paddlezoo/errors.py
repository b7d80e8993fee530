"""What a user can do wrong with a zoo script, told in one line; and the wrapper that tells it."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable

FAILED = 1
INTERRUPTED = 130


class ZooError(Exception):
    """An expected error: its text is one line that says what is wrong and, where it can, what to do."""


def run(main: Callable[[], int | None]) -> int:
    """Call ``main``; an expected error becomes one line on stderr and an exit code that is not 0."""
    try:
        return main() or 0
    except ZooError as error:
        return _fail(" ".join(str(error).split("\n")))
    except OSError as error:
        return _fail(explain_os_error(error))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def explain_os_error(error: OSError) -> str:
    """The file and what the system said about it, in one line."""
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        reason = f"the disk is full ({reason})"
    return f"{error.filename}: {reason}" if error.filename else reason


def _fail(text: str) -> int:
    sys.stdout.flush()
    print(f"error: {text}", file=sys.stderr, flush=True)
    return FAILED
