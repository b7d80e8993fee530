"""The append-only record of a run: a JSON object a line in ``journal.jsonl``; docs/journal.md has the events.

A line is written whole or not at all: what a crash or a full disk cut off is taken away by the next writer
and never seen by a reader. What was written outlives the process at once, and a power cut after ``sync``.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from types import TracebackType
from typing import Any

from tipc.errors import EnvironmentProblem, UsageError
from tipc.run.record import StepResult

FORMAT = 1
NAME = "journal.jsonl"
LOCK = "lock"
_DEFAULTS = {field.name: field.default for field in fields(StepResult) if field.default is not MISSING}


class Journal:
    """The one writer of a run's journal. Holds the run's lock until it is closed or its process dies."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._lock = _take_lock(directory)
        path = directory / NAME
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._end = _whole_length(self._file)
        os.ftruncate(self._file, self._end)
        self._synced = (self._end, 0.0)  # how much is on the disk, and since when

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file and the lock. Can be called twice."""
        if self._file >= 0:
            self.sync()
        for descriptor in (self._file, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._lock = -1

    def opened(self, run: str, argv: Sequence[str], options: Mapping[str, Any], started: float) -> None:
        """The first line: what was called, and the options with which the plans can be made again."""
        self._append(
            {
                "event": "run",
                "format": FORMAT,
                "id": run,
                "at": started,
                "argv": list(argv),
                "options": dict(options),
            },
        )
        self.sync()

    def resumed(self, argv: Sequence[str]) -> None:
        """Another ``tipc`` goes on with this run."""
        self._append({"event": "resume", "at": time.time(), "argv": list(argv)})

    def deselected(self, plan: str, steps: Iterable[str]) -> None:
        """These steps are not to run, and are not counted as passed. Replaces what was said before."""
        self._append({"event": "deselected", "plan": plan, "steps": list(steps)})

    def outdated(self, plan: str, step: str, why: str) -> None:
        """What a deselected step did earlier counts no more: something that it depends on has changed."""
        self._append({"event": "outdated", "plan": plan, "step": step, "why": why})

    def started(self, plan: str, step: str, attempt: int, log: str, inputs: Mapping[str, str]) -> None:
        """An attempt begins. ``inputs`` are the digests that tell later whether it must run again."""
        self._append(
            {
                "event": "start",
                "plan": plan,
                "step": step,
                "attempt": attempt,
                "at": time.time(),
                "log": log,
                "inputs": dict(inputs),
            }
        )

    def attempted(self, result: StepResult) -> None:
        """An attempt failed and another one follows."""
        self._append({"event": "attempt", **_result_to_json(result)})

    def ended(self, result: StepResult) -> None:
        """The last word on a step, for now."""
        self._append({"event": "end", **_result_to_json(result)})

    def finished(self, state: str) -> None:
        """The run is over: ``passed``, ``failed``, ``interrupted`` or ``error``."""
        self._append({"event": "finish", "at": time.time(), "state": state})
        self.sync()

    def sync(self, every: float = 0.0) -> None:
        """See that all lines are on the disk, unless that was done less than ``every`` seconds ago.

        A sync takes milliseconds on a busy disk, too long to wait for after each of thousands of steps.
        """
        length, when = self._synced
        if length == self._end or time.monotonic() - when < every:
            return
        try:
            os.fdatasync(self._file)
        except OSError as error:
            raise disk_problem(error, self.directory) from error
        self._synced = (self._end, time.monotonic())

    def _append(self, event: Mapping[str, Any]) -> None:
        line = (json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n").encode(
            "utf-8", "surrogateescape"
        )
        try:
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise disk_problem(error, self.directory) from error
        self._end += len(line)


def disk_problem(error: OSError, path: Path) -> EnvironmentProblem:
    """The message for a disk that cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "make room, then `tipc run --resume` goes on where this run stopped"
        return EnvironmentProblem("no room left on the disk", path=str(path), remedy=remedy)
    return EnvironmentProblem(f"cannot be written: {error.strerror or error}", path=str(path))


def read_events(directory: Path) -> list[dict[str, Any]]:
    """The events of a run in order. A last line that is torn is dropped; one in the middle is an error."""
    path = directory / NAME
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"not a run: {error.strerror or error}", path=str(directory)) from error
    events = []
    lines = raw.split(b"\n")[:-1]  # what follows the last newline is torn
    for number, line in enumerate(lines, 1):
        try:
            event = json.loads(line.decode("utf-8", "surrogateescape"))
        except ValueError as error:
            if number == len(lines):
                break
            raise EnvironmentProblem("the journal is damaged here", path=str(path), line=number) from error
        if isinstance(event, dict) and "event" in event:
            events.append(event)
    return events


def result_from_json(event: Mapping[str, Any]) -> StepResult:
    """The result that an ``end`` or ``attempt`` event holds; fields that are not known are left out."""
    known = {field.name for field in fields(StepResult)}
    return StepResult(**{key: value for key, value in event.items() if key in known})


def is_running(directory: Path) -> bool:
    """Whether a live process holds the run."""
    try:
        descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _take_lock(directory: Path) -> int:
    # A record lock belongs to this process alone: a forked child that outlives it does not hold the run.
    descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise UsageError(
            "another tipc is working on this run", path=str(directory), remedy="wait for it, or end it"
        ) from error
    return descriptor


def _whole_length(descriptor: int) -> int:
    """The length of a file up to and with its last newline."""
    size = position = os.fstat(descriptor).st_size
    while position > 0:
        begin = max(0, position - 65536)
        block = os.pread(descriptor, position - begin, begin)
        found = block.rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        position = begin
    return 0 if size else size


def _result_to_json(result: StepResult) -> dict[str, Any]:
    values = {field.name: getattr(result, field.name) for field in fields(StepResult)}
    values["artefacts"] = dict(result.artefacts)
    required = ("plan", "step", "state", "attempts")
    return {
        key: value
        for key, value in values.items()
        if key in required or (value != _DEFAULTS.get(key) and value != {})
    }
