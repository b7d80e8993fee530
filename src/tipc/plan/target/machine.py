"""What the machine has, as far as a plan depends on it. Found without starting anything."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

_DEVICE_FILES = {"gpu": "nvidia", "npu": "davinci", "xpu": "xpu"}


@dataclass(frozen=True)
class Machine:
    """Cores and accelerators that a plan may use."""

    cores: int = 1
    gpus: int = 0
    npus: int = 0
    xpus: int = 0

    def count(self, device: str) -> int:
        """How many devices of a kind there are; of a kind that cannot be counted, enough."""
        return {"cpu": self.cores, "gpu": self.gpus, "npu": self.npus, "xpu": self.xpus}.get(device, 1 << 30)

    def describe(self) -> str:
        """One line for a heading."""
        found = [
            f"{kind} ×{count}" for kind, count in (("gpu", self.gpus), ("npu", self.npus), ("xpu", self.xpus))
        ]
        present = [text for text in found if not text.endswith("×0")]
        return ", ".join([f"cpu ×{self.cores}", *(present or ["no GPU"])])


@cache
def _accelerators() -> dict[str, int]:
    """How many ``/dev/<prefix><number>`` there are of each kind."""
    try:
        names = os.listdir("/dev")
    except OSError:
        names = []
    return {
        kind: sum(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in names)
        for kind, prefix in _DEVICE_FILES.items()
    }


def this_machine() -> Machine:
    """The machine that tipc runs on; an empty CUDA_VISIBLE_DEVICES or ``-1`` hides its GPUs."""
    counts = dict(_accelerators())
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        counts["gpu"] = 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Machine(cores, counts["gpu"], counts["npu"], counts["xpu"])
