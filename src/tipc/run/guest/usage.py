"""What a step uses: CPU time and the largest process as the kernel counts, the tree's memory by samples."""

from __future__ import annotations

import os
import resource
import time
from typing import Any

from tipc.run.guest.proctree import maps_library, memory

FIRST = 0.1  # seconds to the first sample; then twice as long each time, up to
LONGEST = 1.0
COST_LIMIT = 0.004  # of a core: the pause after a sample is as long as that takes
LOOK_FOR_PADDLE = 8  # samples: who has not loaded it by then probably never will


class Usage:
    """Adds up what the ended processes of a tree used, and samples those that live."""

    def __init__(self) -> None:
        self.cpu = 0.0
        self.peak = 0
        self.interval = FIRST
        self.due = time.monotonic() + FIRST
        self.looks = LOOK_FOR_PADDLE

    def add(self, used: resource.struct_rusage) -> None:
        """Count a process that has ended, with its own children that it waited for."""
        self.cpu += used.ru_utime + used.ru_stime
        self.peak = max(self.peak, used.ru_maxrss * 1024)

    def sample_if_due(self) -> bool:
        """Look at the living tree if it is time to (the dearer a look, the rarer); True: paddle has come."""
        begun = time.monotonic()
        if begun < self.due:
            return False
        spent = time.process_time()
        self.peak = max(self.peak, memory(os.getpid()))
        paddle = False
        if self.looks:
            self.looks -= 1
            paddle = maps_library(os.getpid(), "libpaddle")
            if paddle:
                self.looks = 0
        cost = time.process_time() - spent
        self.interval = min(self.interval * 2, LONGEST)
        self.due = begun + max(self.interval, cost / COST_LIMIT)
        return paddle

    def into(self, outcome: dict[str, Any]) -> None:
        """Write what is known so far into an outcome."""
        outcome["cpu"] = self.cpu
        outcome["peak_rss"] = self.peak
