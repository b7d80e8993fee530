"""What the first process of a sandbox does: start a script, watch it, end it, and say what it did."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from tipc.plan.trace.record import namespaces as ns

END = "\x1etipc\x1e"  # of a record
_RECORD_END = f"{END}\0".encode()
UNREDIRECTED = 219  # the script's own stdout: a stub that still has it writes into no log
CHANNELS = {"stdout": 1, "stderr": 2, "xtrace": 217, "calls": 218}  # and their descriptors in the script
LOOPING = 4000  # bytes of commands without a call: a script that waits for something in a loop
MOST_LINE = 1024 * 1024  # bytes that a command of such a loop may have
GRACE = 4.0  # for background jobs after the script has ended
PAUSE = 0.005
WEIGHING = 0.02  # seconds between two looks at the memory
MOST_NEW = 20_000
MOST_TEXT = 4 * 1024 * 1024
MOST_WORDS = 1_000_000  # of all calls, with their variables; a plan of a real script has thousands
MOST_OF_CALLS = 32 * 1024 * 1024
MOST_MEMORY = 1024 * 1024 * 1024  # of all processes together
_COUNTED = (b"RssAnon:", b"RssShmem:", b"VmSwap:", b"VmPTE:")


def open_channels() -> dict[str, int]:
    """Files in memory that have no name: what the script says, does and calls goes there."""
    return {name: os.memfd_create(name) for name in CHANNELS}


def run_script(job: Mapping[str, Any], base: str, path: str, channels: Mapping[str, int]) -> dict[str, Any]:
    """Run the script of the job until it has ended or is stopped; afterwards nothing of it is alive."""
    environment = {**job["environment"], "PATH": path, "BASH_ENV": f"{base}/bash_env"}
    appending = {}
    for name, channel in channels.items():
        appending[name] = os.open(f"/proc/self/fd/{channel}", os.O_WRONLY | os.O_APPEND)
    script = os.fork()
    if script == 0:
        _become_script(job, base, environment, appending)
    for descriptor in appending.values():
        os.close(descriptor)
    watch = Watch(job, channels, script)
    try:
        watch.until_the_end()
    finally:
        _end_all(script)
    if watch.stopped == "words":
        os.truncate(channels["calls"], 0)  # nobody has to take them apart
    return {**_said(channels), "stopped": watch.stopped, "exit": watch.exit}


def _become_script(
    job: Mapping[str, Any], base: str, environment: Mapping[str, str], appending: Mapping[str, int]
) -> None:
    """In the child: never returns."""
    try:
        os.setsid()
        os.chdir(job["start"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for name, number in CHANNELS.items():
            os.dup2(appending[name], number)
        os.dup2(1, UNREDIRECTED)
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by python, and a script would inherit that
            signal.signal(ignored, signal.SIG_DFL)
        ns.limit_self(job["seconds"])
        os.execve(f"{base}/core/bash", ["bash", *job["argv"]], environment)
    finally:
        os._exit(127)


class Watch:
    """The limits of a running script."""

    def __init__(self, job: Mapping[str, Any], channels: Mapping[str, int], script: int) -> None:
        self.job = job
        self.channels = channels
        self.script = script
        self.exit: int | None = None  # its exit code, once it has ended
        self.stopped = ""  # why it was stopped: "time", "quiet", "calls", "words" or "memory"
        self.calls = 0
        self.words = 0
        self._read = 0  # bytes of the calls that are counted
        self._traced = 0  # bytes of commands at the last call
        self._started = self._changed = time.monotonic()
        self._weighed = 0.0  # when the memory was last looked at
        self._grace: float | None = None  # until when background jobs may go on

    def until_the_end(self) -> None:
        """Return when nothing is alive any more, or when something has to be stopped."""
        while not self.stopped:
            over = not self._reap() or (self._grace is not None and time.monotonic() > self._grace)
            self._count_calls()
            self.stopped = self._limit_of_calls() or self.stopped
            if over:
                return
            self.stopped = self.stopped or self._limit()
            time.sleep(PAUSE)

    def _reap(self) -> bool:
        """Take note of who has died; False if there is no child left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.script:
                self._ended(os.waitstatus_to_exitcode(status))
                self._grace = time.monotonic() + GRACE

    def _ended(self, code: int) -> None:
        # So many commands that the list of them is as large as a file may be: it did not end by itself.
        if code == -signal.SIGXFSZ and os.fstat(self.channels["xtrace"]).st_size >= ns.FILE_LIMIT - MOST_LINE:
            self.stopped = "quiet"
        else:
            self.exit = code

    def _count_calls(self) -> None:
        written = os.fstat(self.channels["calls"]).st_size
        if written <= self._read:
            return
        # A record's end may have been cut in two: look at its first part again.
        start = max(0, self._read - len(_RECORD_END) + 1)
        more = os.pread(self.channels["calls"], written - start, start)
        self.calls += more.count(_RECORD_END)
        self.words += more.count(b"\0")
        self._read = written
        self._changed = time.monotonic()
        self._traced = os.fstat(self.channels["xtrace"]).st_size

    def _limit_of_calls(self) -> str:
        if self.calls > self.job["most_calls"]:
            return "calls"
        if self.words > MOST_WORDS or self._read > MOST_OF_CALLS:
            return "words"
        return ""

    def _limit(self) -> str:
        now = time.monotonic()
        if now - self._started > self.job["seconds"]:
            return "time"
        if now - self._weighed > WEIGHING:
            self._weighed = now
            if memory_of_all() > MOST_MEMORY:
                return "memory"
        silence = now - self._changed
        if self.exit is None and silence > self.job["quiet"]:
            looping = os.fstat(self.channels["xtrace"]).st_size > self._traced + LOOPING
            if looping or silence > self.job["stuck"]:
                return "quiet"
        return ""


def memory_of_all() -> int:
    """Bytes that the processes of this pid namespace hold for themselves; 0 where there is none."""
    if os.getpid() != 1:
        return 0
    total = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            total += _memory_of(name)
    return total


def _memory_of(pid: str) -> int:
    kilobytes = 0
    with suppress(OSError), open(f"/proc/{pid}/status", "rb") as status:
        for line in status:
            if line.startswith(_COUNTED):
                kilobytes += int(line.split()[1])
    return kilobytes * 1024


def _end_all(script: int) -> None:
    """Kill every process that the script has started, whatever it did to get away."""
    with suppress(ProcessLookupError):
        if os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)  # all others of this pid namespace
        else:
            os.killpg(script, signal.SIGKILL)
    while True:
        for child in _children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    """The own children; orphans of the script are among them."""
    with suppress(OSError):
        return list(map(int, ns.read(f"/proc/self/task/{os.getpid()}/children").split()))
    return []


def _said(channels: Mapping[str, int]) -> dict[str, Any]:
    by_kind: dict[str, list[list[str]]] = {"call": [], "tee": []}
    for kind, *words in sorted(records(channels["calls"]), key=lambda words: words[1]):
        by_kind[kind].append(words)
    return {
        "calls": by_kind["call"],
        "tees": by_kind["tee"],
        "xtrace": text(channels["xtrace"], 3 * MOST_TEXT),
        "stdout": text(channels["stdout"]),
        "stderr": text(channels["stderr"]),
    }


def text(channel: int, most: int = MOST_TEXT) -> str:
    """The beginning of a channel."""
    return os.pread(channel, most, 0).decode("utf-8", "surrogateescape")


def records(channel: int) -> list[list[str]]:
    """The records, each with its kind and its time first; what the script itself wrote there is left out."""
    found = []
    for record in text(channel, MOST_OF_CALLS).split(f"{END}\0")[:-1]:
        words = record.split("\0")[:-1]
        if _is_record(words):
            found.append(words)
    return found


def _is_record(words: list[str]) -> bool:
    if len(words) < 4 or words[0] not in ("call", "tee"):
        return False
    try:
        if not math.isfinite(float(words[1])):
            return False
        if words[0] == "tee":
            return True
        count = int(words[4])
    except (ValueError, IndexError):
        return False
    # A name, so many words, and variables: what the script itself writes here is not to be believed.
    if not 0 <= count <= len(words) - 6 or not words[5]:
        return False
    return all("=" in variable for variable in words[6 + count :])


def new_names(root: str, known: Iterable[str]) -> list[str]:
    """What there is below ``root`` beyond the known names, relative to it. No link is followed."""
    old = set(known)
    new: list[str] = []
    for name in _names(root):
        if len(new) >= MOST_NEW:
            break
        if name not in old:
            new.append(name)
    return new


def _names(root: str) -> Iterator[str]:
    """Not by ``os.walk``, which calls itself for each level: a script can make thousands of them."""
    pending = [""]
    while pending:
        here = pending.pop()
        with suppress(OSError), os.scandir(f"{root}/{here}") as entries:
            for entry in entries:
                path = os.path.join(here, entry.name)
                yield path
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
