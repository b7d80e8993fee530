"""The training log of the spec: what is said goes to the terminal and to a file, with the fields that tools
read.

A line of training is ``[time] epoch: [1/5], iter: [3/4], loss: 2.31, …, lr: 0.001, avg_reader_cost: 0.00123
sec, avg_batch_cost: 0.2100 sec, avg_samples: 4.0, avg_ips: 19.0 images/sec, eta: 0:00:12``; the averages are
over the iterations since the line before.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from paddlezoo.errors import ZooError, explain_os_error


class Log:
    """Says a line on the terminal and in a file. A process that is not the main one says nothing."""

    def __init__(self, path: Path | None = None, enabled: bool = True) -> None:
        self._path = path if enabled else None
        self._enabled = enabled
        if self._path:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._path.touch()
            except OSError as error:
                raise ZooError(f"cannot write the log {path}: {explain_os_error(error)}") from None

    def __call__(self, text: str) -> None:
        if not self._enabled:
            return
        line = f"[{datetime.now():%Y-%m-%d %H:%M:%S}] {text}"
        print(line, flush=True)
        if self._path:
            try:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
            except OSError as error:
                raise ZooError(f"cannot write the log {self._path}: {explain_os_error(error)}") from None

    def warn(self, text: str) -> None:
        """Say it, and say it on stderr too, where it is seen when the terminal's output is thrown away."""
        if self._enabled and text:
            self(text)
            if not sys.stdout.isatty():
                print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Averages:
    """Over the iterations of an interval; times in seconds, ``values`` are the loss and its companions."""

    reader_cost: float
    batch_cost: float
    samples: float
    ips: float
    values: Mapping[str, float]

    def line(self, place: str, lr: float, steps_left: int) -> str:
        """The line of the log for the iterations up to ``place``."""
        values = ", ".join(f"{name}: {value:.5f}" for name, value in self.values.items())
        return (
            f"{place}, {values}, lr: {lr:.6g}, avg_reader_cost: {self.reader_cost:.5f} sec, "
            f"avg_batch_cost: {self.batch_cost:.5f} sec, avg_samples: {self.samples:.1f}, "
            f"avg_ips: {self.ips:.5f} images/sec, "
            f"eta: {timedelta(seconds=round(self.batch_cost * steps_left))}"
        )


@dataclass
class Interval:
    """Times and sums since the last line. ``data_ready`` and ``step_done`` are called once an iteration."""

    world_size: int = 1  # samples are counted over all processes
    _reader: float = 0.0
    _batch: float = 0.0
    _samples: int = 0
    _steps: int = 0
    _sums: dict[str, float] = field(default_factory=dict)
    _mark: float = field(default_factory=time.perf_counter)

    def restart_clock(self) -> None:
        """Leave out what went by since the last step: an evaluation, a checkpoint."""
        self._mark = time.perf_counter()

    def data_ready(self) -> None:
        """The batch has arrived: the time since the last step was the reader's."""
        now = time.perf_counter()
        self._reader += now - self._mark
        self._batch += now - self._mark
        self._mark = now

    def step_done(self, samples: int, values: Mapping[str, float]) -> None:
        """The optimizer has stepped; ``values`` (loss, top1, …) are averaged over the interval."""
        now = time.perf_counter()
        self._batch += now - self._mark
        self._mark = now
        self._samples += samples * self.world_size
        self._steps += 1
        for name, value in values.items():
            self._sums[name] = self._sums.get(name, 0.0) + value

    def finish(self) -> Averages:
        """The averages since the last call; starts the next interval."""
        averages = Averages(
            reader_cost=self._reader / self._steps,
            batch_cost=self._batch / self._steps,
            samples=self._samples / self._steps,
            ips=self._samples / self._batch,
            values={name: total / self._steps for name, total in self._sums.items()},
        )
        self._reader = self._batch = 0.0
        self._samples = self._steps = 0
        self._sums = {}
        return averages
