"""How a process that waits for several things is woken by the end of a child."""

from __future__ import annotations

import os
import signal


def wake_on_child() -> int:
    """A descriptor that becomes readable when a child ends."""
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    os.set_blocking(writable, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    inherited = signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    if inherited >= 0:
        os.close(inherited)
    return readable


def drain(descriptor: int) -> None:
    """Read away what has come, if anything."""
    try:
        while os.read(descriptor, 4096):
            pass
    except BlockingIOError:
        return
