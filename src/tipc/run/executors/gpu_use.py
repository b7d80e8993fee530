"""What a step uses of the GPUs that it holds, asked of NVML (nvidia-ml-py) where there is one."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cache
from typing import Any

EVERY = 1.0  # seconds between samples


@cache
def nvml() -> Any | None:
    """NVML, ready to be asked; None without the package, the driver or a card."""
    try:
        library = importlib.import_module("pynvml")
    except ImportError:
        return None
    try:
        library.nvmlInit()
    except library.NVMLError:
        return None
    return library


@dataclass
class GpuUse:
    """Samples the GPUs of one step: the most memory of its processes at once, and the mean utilisation."""

    library: Any
    handles: list[Any]
    before: dict[int, int] = field(default_factory=dict)  # bytes that others held at the start, by GPU
    peak: int = 0
    due: float = 0.0
    _utilisation: list[int] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """Per cent, over the samples and the GPUs."""
        if not self._utilisation:
            return 0.0
        return sum(self._utilisation) / len(self._utilisation)

    def sample_if_due(self, processes: Callable[[], Collection[int]]) -> None:
        """Ask once, if it is time to. ``processes`` are the step's, by pid."""
        now = time.monotonic()
        if now < self.due:
            return
        self.due = now + EVERY
        ours = set(processes())
        try:
            total = 0
            rates = []
            for place, handle in enumerate(self.handles):
                total += self._memory(place, handle, ours)
                rates.append(self.library.nvmlDeviceGetUtilizationRates(handle).gpu)
        except self.library.NVMLError:  # a card that was lost, or that does not tell
            return
        self.peak = max(self.peak, total)
        self._utilisation += rates

    def _memory(self, place: int, handle: Any, ours: set[int]) -> int:
        """Bytes that the step holds on a GPU: its processes', or what came on top where pids are not told.

        In a container NVML names the processes by the host's pids, if at all. A GPU is held by one cell at a
        time, so then all that was not there before is the step's.
        """
        processes = self.library.nvmlDeviceGetComputeRunningProcesses(handle)
        known = [process for process in processes if process.pid in ours]
        if known:
            return sum(process.usedGpuMemory or 0 for process in known)
        used: int = self.library.nvmlDeviceGetMemoryInfo(handle).used
        return max(0, used - self.before.setdefault(place, used))


def watch(gpus: tuple[str, ...]) -> GpuUse | None:
    """Begin to watch GPUs, by index or UUID, before the step starts; None if there is nothing to ask."""
    if not gpus:
        return None
    library = nvml()
    if library is None:
        return None
    use = GpuUse(library, [])
    try:
        for place, gpu in enumerate(gpus):
            if gpu.isdigit():
                handle = library.nvmlDeviceGetHandleByIndex(int(gpu))
            else:
                handle = library.nvmlDeviceGetHandleByUUID(gpu)
            use.handles.append(handle)
            use.before[place] = library.nvmlDeviceGetMemoryInfo(handle).used
    except library.NVMLError:
        return None
    return use
