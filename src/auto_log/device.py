"""Memory and utilisation while a benchmark runs, sampled by a light thread that never holds up the exit."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from typing import Any

from auto_log.times import mean

MEGABYTE = 1024 * 1024


class Sampler:
    """Samples the resident memory of some processes, and the memory and use of some GPUs, until stopped."""

    def __init__(self, pids: Sequence[int], gpus: Sequence[str], interval: float = 0.2) -> None:
        self.pids = tuple(pids)
        self.rss: list[float] = []
        self.gpu_memory: list[float] = []
        self.gpu_use: list[float] = []
        self._interval = interval
        self._handles = gpu_handles(gpus)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="auto_log", daemon=True)
        self._thread.start()
        # A daemon thread inside a C call while the interpreter is torn down can crash it: end it before.
        atexit.register(self.stop)

    def stop(self) -> None:
        """End the thread; can be called again, and in a forked child."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=2)
        atexit.unregister(self.stop)

    def sample(self) -> None:
        """Take one sample now."""
        used = resident(self.pids)
        if used:
            self.rss.append(used / MEGABYTE)
        if self._handles:
            import pynvml

            try:
                memory = [pynvml.nvmlDeviceGetMemoryInfo(handle).used for handle in self._handles]
                use = [pynvml.nvmlDeviceGetUtilizationRates(handle).gpu for handle in self._handles]
            except pynvml.NVMLError:  # the GPU fell off, or its driver does not tell
                return
            self.gpu_memory.append(sum(memory) / MEGABYTE)
            self.gpu_use.append(sum(use) / len(use))

    def summary(self) -> dict[str, float | None]:
        """Mean resident memory, largest GPU memory and use; None where there was nothing to sample."""
        return {
            "cpu_rss": mean(self.rss),
            "gpu_rss": max(self.gpu_memory, default=None),
            "gpu_util": max(self.gpu_use, default=None),
        }

    def _run(self) -> None:
        while not self._stop.is_set():
            self.sample()
            self._stop.wait(self._interval)


def resident(pids: Sequence[int]) -> int:
    """Bytes in memory of the processes that still live."""
    import psutil

    total = 0
    for pid in pids:
        try:
            total += psutil.Process(pid).memory_info().rss
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return total


def process_ids(pids: int | Sequence[int] | None, process_name: str | None) -> tuple[int, ...]:
    """The processes to watch: those given, else those of that name, else this one."""
    if pids is not None:
        return (pids,) if isinstance(pids, int) else tuple(pids)
    if process_name is None:
        return (os.getpid(),)
    import psutil

    named = (process for process in psutil.process_iter(["name"]) if process.info["name"] == process_name)
    return tuple(process.pid for process in named)


def gpu_names(gpu_ids: int | str | Sequence[int] | None, visible: str | None) -> tuple[str, ...]:
    """The physical GPUs (index or UUID) that are meant.

    ``auto`` is the first visible one. Scripts say 0 for the first GPU that they see, or cut the first digit
    off ``CUDA_VISIBLE_DEVICES=10``: an id that this process cannot see can only mean the first that it can.
    """
    if gpu_ids is None:
        return ()
    seen = [name.strip() for name in (visible or "").split(",") if name.strip()]
    wanted = [gpu_ids] if isinstance(gpu_ids, (int, str)) else list(gpu_ids)
    names = []
    for gpu in map(str, wanted):
        if gpu == "auto":
            names.append(seen[0] if seen else "0")
        else:
            names.append(gpu if gpu in seen or not seen else seen[0])
    return tuple(dict.fromkeys(names))


def gpu_handles(gpus: Sequence[str]) -> list[Any]:
    """NVML's handles of the GPUs; none where NVML or the GPU is not there."""
    if not gpus:
        return []
    try:
        import pynvml
    except ImportError:
        return []
    try:
        pynvml.nvmlInit()
        return [
            pynvml.nvmlDeviceGetHandleByIndex(int(name))
            if name.isdigit()
            else pynvml.nvmlDeviceGetHandleByUUID(name)
            for name in gpus
        ]
    except pynvml.NVMLError:
        return []
