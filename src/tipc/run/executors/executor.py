"""Where a step's process runs. The scheduler decides when; an executor only starts, watches and kills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Task:
    """One attempt at one step, ready to start: everything is resolved and absolute."""

    name: str  # for messages: "norm_train-gpu0-null/train"
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]  # complete, not on top of anything
    log: Path  # created (truncated) by the executor, with its directories
    timeout: float | None  # seconds
    gpus: tuple[str, ...] = ()
    cores: int = 1  # that it asks for; only an executor that schedules by itself (ray) looks at it
    warm: bool = True  # may run in a warm server, if it is a python script that can
    facts: Path | None = None  # the witness's facts go to this with .facts.json; None: nobody watches


@dataclass(frozen=True)
class TaskOutcome:
    """How a task ended, and what its whole process tree used."""

    exit_code: int | None  # None: killed by ``signal``
    signal: int | None = None
    timed_out: bool = False
    interrupted: bool = False  # stopped by ``Executor.kill`` or ``close``
    error: str = ""  # it could not be started at all: no such program, no such directory
    started: float = 0.0
    wall: float = 0.0
    cpu: float = 0.0
    waited: float = 0.0  # seconds that it waited for a processor while others had it
    peak_rss: int = 0
    peak_gpu: int = 0
    gpu_util: float = 0.0
    warm: bool = False
    host: str = ""
    clock: float = 0.0  # seconds by which the clock of its machine jumped while it ran
    left: int = 0  # processes that outlived the command; they were ended
    facts: str = ""  # SHA-256 of the facts file as the executor wrote it
    notes: tuple[str, ...] = ()  # for the user: a machine was lost, and the task began again on another


class Executor(Protocol):
    """Starts tasks and tells when they end. Used from one thread."""

    name: str

    def start(self, task: Task) -> int:
        """Start the task, return its ticket; an impossible task ends at once with ``TaskOutcome.error``."""

    def wait(self, timeout: float | None) -> list[tuple[int, TaskOutcome]]:
        """The tasks that have ended since the last call; waits for one at most ``timeout`` seconds."""

    def begun(self, ticket: int) -> float:
        """When the task's own program began, by the monotonic clock; 0: it waits to be started."""

    def kill(self, ticket: int) -> None:
        """End a task's whole tree, TERM then KILL; its outcome comes through ``wait`` as interrupted."""

    def close(self) -> None:
        """Kill what still runs, wait for it, and let go of everything. Can be called twice."""
