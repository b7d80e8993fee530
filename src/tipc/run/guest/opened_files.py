"""Digests of the files that a step's predictors open, made by its keeper while the step goes on.

The witness names a file and waits until it is open here, so that it may then be moved or removed. To read it
through takes a deployment as long as dozens of its runs do, and is no work of its own.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import deque
from typing import Any

LIMIT = 16 << 30  # bytes that are read for one step: a file may claim any size
MOST = 256  # files of one step
# Keys that the keeper holds, and characters of one. A step has 64 processes with 64 predictors of two files,
# at most.
MOST_KEYS, LONGEST_KEY = 10_000, 100
BLOCK = 1 << 20


class _Reading:
    """A file that is being read."""

    def __init__(self, keys: list[str], descriptor: int, state: os.stat_result) -> None:
        self.keys = keys  # by which the witness will know the digest; several if it is opened again
        self.descriptor = descriptor
        self.state = _identity(state)
        self.left = state.st_size
        self.total = hashlib.sha256()


class OpenedFiles:
    """The files of one step. ``digests`` has what was read so far, by the keys of the witness."""

    def __init__(self) -> None:
        self.digests: dict[str, str] = {}
        self.left = LIMIT
        self._asked = 0
        self._seen: dict[tuple[Any, ...], _Reading] = {}
        self._todo: deque[_Reading] = deque()

    @property
    def is_reading(self) -> bool:
        """Whether there is more to read."""
        return bool(self._todo)

    def open(self, path: str, key: str) -> None:
        """Begin with a file, as it is at this moment. What is no file, or too much, has no digest."""
        self._asked += 1
        if self._asked > MOST_KEYS or len(key) > LONGEST_KEY:
            return
        try:
            # A pipe that nobody writes to would not let us go on.
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (OSError, ValueError):
            return
        state = os.fstat(descriptor)
        known = self._seen.get(_identity(state))
        if known is not None:
            os.close(descriptor)
            known.keys.append(key)
            if known not in self._todo:
                self._tell(known)
            return
        if not stat.S_ISREG(state.st_mode) or len(self._seen) >= MOST or state.st_size > self.left:
            os.close(descriptor)
            return
        self.left -= state.st_size
        reading = _Reading([key], descriptor, state)
        self._seen[reading.state] = reading
        self._todo.append(reading)

    def read_on(self) -> None:
        """Read one block more, if there is any."""
        if not self._todo:
            return
        reading = self._todo[0]
        try:
            block = os.read(reading.descriptor, BLOCK)
        except OSError:
            block = b""
        reading.total.update(block)
        reading.left -= len(block)
        if not block or reading.left < 0:  # it grows, perhaps for ever
            self._todo.popleft()
            self._close(reading)

    def finish(self) -> None:
        """Read all that is left."""
        while self._todo:
            self.read_on()

    def _close(self, reading: _Reading) -> None:
        """It is read. One that was written to meanwhile is not what was opened."""
        if _identity(os.fstat(reading.descriptor)) == reading.state:
            self._tell(reading)
        else:
            del self._seen[reading.state]
        os.close(reading.descriptor)

    def _tell(self, reading: _Reading) -> None:
        for key in reading.keys:
            self.digests.setdefault(key, reading.total.hexdigest())


def _identity(state: os.stat_result) -> tuple[int, ...]:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns
