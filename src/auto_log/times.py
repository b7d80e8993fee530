"""Stop-watch for the stages of an inference: start, a stamp after each stage, end."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

STAGES = ("preprocess_time", "inference_time", "postprocess_time")


class Times:
    """Seconds spent in each stage of each iteration. The first ``warmup`` samples of a stage never count."""

    def __init__(self, keys: Sequence[str] | None = None, warmup: int = 0) -> None:
        self.keys = list(keys or STAGES)
        self.warmup = warmup
        self.times: dict[str, list[float]] = {key: [] for key in self.keys}
        self.total_time: list[float] = []
        self.time_stamps: list[float] = []

    def start(self, stamp: bool = True) -> None:
        """Begin an iteration; an iteration that was not ended is forgotten."""
        self.time_stamps = [perf_counter()] if stamp else []

    def stamp(self) -> None:
        """End a stage. A stamp beyond the named stages is kept under ``stamps_<n>`` and not reported."""
        if not self.time_stamps:
            self.start()
        self.time_stamps.append(perf_counter())
        count = len(self.time_stamps) - 1
        key = self.keys[count - 1] if count <= len(self.keys) else f"stamps_{count}"
        self.times.setdefault(key, []).append(self.time_stamps[-1] - self.time_stamps[-2])

    def end(self, stamp: bool = False) -> None:
        """End an iteration; with ``stamp`` this moment also ends its last stage."""
        if stamp:
            self.stamp()
        if self.time_stamps:
            self.total_time.append(self.time_stamps[-1] - self.time_stamps[0])
        self.time_stamps = []

    def counted(self, key: str) -> list[float]:
        """The samples of a stage after the warm-up."""
        return self.times.get(key, [])[self.warmup :]

    def counted_total(self) -> list[float]:
        """Whole iterations after the warm-up."""
        return self.total_time[self.warmup :]


def mean(samples: Sequence[float]) -> float | None:
    """The arithmetic mean; None of nothing."""
    return sum(samples) / len(samples) if samples else None


def percentile(samples: Sequence[float], percent: float) -> float | None:
    """The percentile with linear interpolation, as numpy's default has it; None of nothing."""
    if not samples:
        return None
    ordered = sorted(samples)
    position = (len(ordered) - 1) * percent / 100
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
