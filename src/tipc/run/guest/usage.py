"""What a step uses: CPU time and the largest process as the kernel counts, the tree's memory by samples; and
for how long it had to wait for a processor that others used."""

from __future__ import annotations

import os
import resource
import time
from typing import Any

from tipc.run.guest.proctree import descendants, maps_library, memory, run_delay

FIRST = 0.1  # seconds to the first sample; then twice as long each time, up to
LONGEST = 1.0
COST_LIMIT = 0.004  # of a core: the pause after a sample is as long as that takes
TICK = 1 / os.sysconf("SC_CLK_TCK")
LOOK_FOR_PADDLE = 8  # samples: who has not loaded it by then probably never will


class Usage:
    """Adds up what the ended processes of a tree used, and samples those that live."""

    def __init__(self) -> None:
        self.cpu = 0.0
        self.peak = 0
        self.delays: dict[int, float] = {}  # seconds that each process could have run and did not, so far
        self.busy = machine_busy()
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
        for pid, _parent in descendants(os.getpid()):
            self.delays[pid] = max(run_delay(pid), self.delays.get(pid, 0.0))
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
        outcome["waited"] = self.waited()

    def waited(self) -> float:
        """Seconds that the step waited for a processor while others had it.

        A process waits for its own threads and relatives as well, but then nobody else works: others must
        have used as much. Of several processes the one that waited longest counts; they wait together.
        """
        others = machine_busy() - self.busy - self.cpu
        return max(0.0, min(max(self.delays.values(), default=0.0), others))


def machine_busy() -> float:
    """Seconds that all processors together have worked since the start of the machine, with those that a
    hypervisor gave to other machines."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return 0.0
    return (user + nice + system + irq + softirq + steal) * TICK
