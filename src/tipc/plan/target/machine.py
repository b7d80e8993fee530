"""What the machine has, as far as a plan depends on it. Found without starting anything."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

from tipc.kinds import CPU, DEVICES, GPU

UNCOUNTED = 1 << 30  # of a kind that leaves no files to count: enough


@dataclass(frozen=True)
class Machine:
    """Cores and accelerators that a plan may use."""

    cores: int = 1
    gpus: int = 0
    others: tuple[tuple[str, int], ...] = ()  # other kinds that can be counted, and how many there are

    def count(self, device: str) -> int:
        """How many devices of a kind there are; of a kind that cannot be counted, enough."""
        counts = {CPU: self.cores, GPU: self.gpus, **dict(self.others)}
        return counts.get(device, UNCOUNTED)


@cache
def _device_files(prefix: str) -> int:
    """How many ``/dev/<prefix><number>`` there are."""
    try:
        names = os.listdir("/dev")
    except OSError:
        return 0
    return sum(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in names)


def this_machine() -> Machine:
    """The machine that tipc runs on; an empty CUDA_VISIBLE_DEVICES or ``-1`` hides its GPUs."""
    counts = {}
    for name, device in DEVICES.items():
        if device.files:
            counts[name] = _device_files(device.files)
    gpus = counts.pop(GPU)
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        gpus = 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Machine(cores, gpus, tuple(counts.items()))
