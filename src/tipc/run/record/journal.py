"""The append-only record of a run: a JSON object a line in ``journal.jsonl``; docs/journal.md has the events.

A line is written whole or not at all: what a crash or a full disk cut off is taken away by the next writer
and never seen by a reader. What was written outlives the process at once, and a power cut after ``sync``.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tipc.bounded import bounded_lines, open_regular
from tipc.errors import EnvironmentProblem, TipcError, UsageError, wording
from tipc.reasons import Reason, because
from tipc.run.record.disk import disk_problem
from tipc.run.record.events import (
    FORMAT,
    AttemptBegan,
    AttemptFailed,
    Damaged,
    Deselected,
    Event,
    OtherFormat,
    RunBegan,
    RunFinished,
    RunResumed,
    StepEnded,
    StepOutdated,
    event_from_line,
    event_to_line,
)
from tipc.run.record.locks import is_locked, take_lock
from tipc.run.record.replay import Replay
from tipc.run.record.results import StepResult

NAME = "journal.jsonl"
LOCK = "lock"
DIGEST_LIMIT = 64 << 20
_BLOCK = 1 << 20
_HOW_TO_GO_ON = "`tipc run CONFIG` makes a new run; this one is left as it is"


class Journal:
    """The one writer of a run's journal. Holds the run's lock until it is closed or its process dies.

    It keeps in memory what the journal comes to (``replay``): that is what a verdict rests on, for the file
    lies where a step could write.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.replay = Replay()
        self.files: dict[str, str] = {}  # other files of the run that tipc wrote → their digests
        self._file = -1
        self._lock = -1
        try:
            self._lock = take_lock(directory / LOCK, "another tipc is working on this run")
            self._file = os.open(directory / NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._end = _whole_length(self._file)
            os.ftruncate(self._file, self._end)
            self._digest = _digest_of(self._file, self._end)
            if self._end:
                self.replay.add_all(read_events(directory))
        except BaseException as error:
            self._let_go()
            if isinstance(error, OSError):
                raise disk_problem(error, directory) from error
            raise
        self._synced = (self._end, 0.0)  # how much is on the disk, and since when

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file and the lock. Can be called twice."""
        try:
            if self._file >= 0:
                self.sync()
        finally:
            self._let_go()

    def opened(
        self, run: str, argv: Sequence[str], options: Mapping[str, Any], started: float, number: int = 0
    ) -> None:
        """The first line: what was called, and the options with which the plans can be made again."""
        self._append(RunBegan(run, started, tuple(argv), dict(options), format=FORMAT, number=number))
        self.sync()

    def resumed(self, argv: Sequence[str], options: Mapping[str, Any] | None = None) -> None:
        """Another ``tipc`` goes on with this run."""
        self._append(RunResumed(time.time(), tuple(argv), dict(options or {})))

    def deselected(self, plan: str, steps: Iterable[str]) -> None:
        """These steps are not to run, and are not counted as passed. Replaces what was said before."""
        self._append(Deselected(plan, tuple(steps)))

    def outdated(self, plan: str, step: str, reason: Reason) -> None:
        """What a step did earlier counts no more, and it does not run now."""
        self._append(StepOutdated(plan, step, reason))

    def started(self, plan: str, step: str, attempt: int, log: str, inputs: Mapping[str, str]) -> None:
        """An attempt begins. ``inputs`` are the digests that tell later whether it must run again."""
        self._append(AttemptBegan(plan, step, attempt, time.time(), log, dict(inputs)))

    def attempted(self, result: StepResult) -> None:
        """An attempt failed and another one follows."""
        self._append(AttemptFailed(result))

    def ended(self, result: StepResult) -> None:
        """The last word on a step, for now."""
        self._append(StepEnded(result))

    def finished(
        self,
        state: str,
        tampered: Sequence[Reason] = (),
        changed_sources: Sequence[str] = (),
        changed_settings: Sequence[str] = (),
        new_scripts: Sequence[str] = (),
    ) -> None:
        """The run is over: ``passed``, ``failed`` or ``interrupted``."""
        sources = tuple(changed_sources), tuple(changed_settings), tuple(new_scripts)
        self._append(RunFinished(time.time(), state, tuple(tampered), *sources))
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

    def seal(self, *paths: str) -> None:
        """Note what files of the run hold now: they belong to a step that has ended."""
        for path in paths:
            if path:
                self.files[os.path.relpath(path, self.directory)] = file_digest(Path(path))

    def tampered(self) -> tuple[Reason, ...]:
        """Which files of the run are not what this process has written, and which results differ there."""
        found = []
        for name, digest in self.files.items():
            if file_digest(self.directory / name) != digest:
                found.append(because("file-rewritten", path=name))
        path = self.directory / NAME
        length = -1
        if path.is_file():
            length = path.stat().st_size
        if length != self._end or self._read_digest() != self._digest.hexdigest():
            found.append(because("file-rewritten", path=NAME))
            found += self._differences()
        return tuple(found)

    def _read_digest(self) -> str:
        """The digest of the file as it is now, by its name: the one that we hold open could be another."""
        descriptor = os.open(self.directory / NAME, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return str(_digest_of(descriptor, self._end).hexdigest())
        finally:
            os.close(descriptor)

    def _differences(self) -> list[Reason]:
        """The steps about which the file says something else than what happened."""
        try:
            told = Replay().add_all(read_events(self.directory))
        except TipcError:
            return []  # it cannot even be read: that it was rewritten is said already
        found = []
        for key in dict.fromkeys((*self.replay.results, *told.results)):
            if told.results.get(key) != self.replay.results.get(key):
                _plan, step = key
                found.append(because("result-rewritten", path=NAME, step=step))
        return found

    def _append(self, event: Event) -> None:
        line = event_to_line(event)
        try:
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise disk_problem(error, self.directory) from error
        self._end += len(line)
        self._digest.update(line)
        self.replay.add(event)

    def _let_go(self) -> None:
        for descriptor in (self._file, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._lock = -1


def read_events(directory: Path) -> Iterator[Event]:
    """The events of a run in order. A last line that is torn is dropped; one in the middle is an error."""
    path = directory / NAME
    try:
        yield from _events(path, bounded_lines(path))
    except OSError as error:
        raise UsageError(
            wording("not a run: {strerror}", strerror=error.strerror or error), path=str(directory)
        ) from error


def _events(path: Path, lines: Iterable[bytes]) -> Iterator[Event]:
    torn: EnvironmentProblem | None = None  # an error only if something follows
    first = True
    for number, line in enumerate(lines, 1):
        if torn:
            raise torn
        if not line.endswith(b"\n"):
            break  # cut off: it was never told as written
        try:
            event = event_from_line(line)
        except OtherFormat as error:
            raise UsageError(str(error), path=str(path), remedy=_HOW_TO_GO_ON) from error
        except Damaged as error:
            torn = EnvironmentProblem(
                wording("the journal is damaged here: {error}", error=error), path=str(path), line=number
            )
            torn.__cause__ = error
            continue
        if first and not isinstance(event, RunBegan):
            raise EnvironmentProblem(
                "the journal is damaged: it does not begin with the call of the run",
                path=str(path),
                line=number,
            )
        first = False
        yield event
    if first:
        raise UsageError("not a run: its journal has no first line", path=str(path), remedy=_HOW_TO_GO_ON)


def replay_of(directory: Path) -> Replay:
    """What the journal of a run comes to."""
    return Replay().add_all(read_events(directory))


def is_running(directory: Path) -> bool:
    """Whether a live process holds the run."""
    return is_locked(directory / LOCK)


def file_digest(path: Path) -> str:
    """SHA-256 of a file; of one that is too long for that, its size and time; empty if it is not there."""
    try:
        with open_regular(path) as file:
            state = os.fstat(file.fileno())
            if state.st_size > DIGEST_LIMIT:
                return f"{state.st_size} bytes of {state.st_mtime_ns}"
            digest: str = _digest_of(file.fileno(), state.st_size).hexdigest()
            return digest
    except OSError:
        return ""


def _digest_of(descriptor: int, length: int) -> Any:
    """A running digest of what a file begins with."""
    total = hashlib.sha256()
    position = 0
    while position < length:
        block = os.pread(descriptor, min(_BLOCK, length - position), position)
        if not block:
            break  # it was cut off under our hands
        total.update(block)
        position += len(block)
    return total


def _whole_length(descriptor: int) -> int:
    """The length of a file up to and with its last newline."""
    position = os.fstat(descriptor).st_size
    while position > 0:
        begin = max(0, position - 65536)
        block = os.pread(descriptor, position - begin, begin)
        found = block.rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        position = begin
    return 0
