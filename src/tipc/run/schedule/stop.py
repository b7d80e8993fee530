"""Ctrl-C, a hang-up or TERM: noted, never thrown into the middle of something; the scheduler asks for it."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest:
    """Within the block, the signals only set ``asked``. A thread other than the main one hears none."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            # What is ignored (by nohup, or by a shell for a job in the background) stays ignored.
            heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
            self._before = {number: signal.signal(number, self._note) for number in heard}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal.signal returned

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
