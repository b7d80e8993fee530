"""The processes below one process, from /proc: to signal them all and to add up what they use."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PAGE = os.sysconf("SC_PAGE_SIZE")
CHILDREN_FILES = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # a kernel may lack them
GONE = (FileNotFoundError, ProcessLookupError)
_libc = ctypes.CDLL(None, use_errno=True)


def adopt_orphans(adopt: bool = True) -> None:
    """From now on, a descendant whose parent dies becomes a child of this one, whatever it did. Or not."""
    if _libc.prctl(PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def die_with_parent(parent: int) -> None:
    """This process is killed when the one that forked it ends, or at once if it already has."""
    _libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def children(pid: int) -> list[int]:
    """The children of a process, of all its threads; a process that has gone has none."""
    found: list[int] = []
    if not CHILDREN_FILES:
        for other in os.listdir("/proc"):
            if other.isdigit() and _parent(int(other)) == pid:
                found.append(int(other))
        return found
    with contextlib.suppress(*GONE):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(*GONE), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def descendants(root: int) -> list[tuple[int, int]]:
    """Every process below ``root`` as (pid, parent), a parent before its children."""
    found = [(child, root) for child in children(root)]
    for pid, _parent in found:  # grows while it is walked
        found += [(child, pid) for child in children(pid)]
    return found


def stat(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat from the third (state) on; empty if the process has gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except GONE:
        return []


def _parent(pid: int) -> int:
    fields = stat(pid)
    return int(fields[1]) if fields else 0


def signal_tree(root: int, number: int, spare: frozenset[int] = frozenset()) -> int:
    """Send a signal to every process below ``root`` but those to spare and theirs; how many got it.

    Sending is by a handle on the process where the system has one, and only after its parent was seen to
    be the same again: the pid of a process that ended meanwhile may belong to a stranger.
    """
    sent = 0
    spared = set(spare)
    for pid, parent in descendants(root):
        if pid in spared or parent in spared:
            spared.add(pid)
            continue
        sent += _send(pid, parent, number)
    return sent


def _send(pid: int, parent: int, number: int) -> bool:
    try:
        handle = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
    except OSError:
        handle = -1
    try:
        fields = stat(pid)
        if not fields or fields[0] == "Z" or int(fields[1]) not in (parent, os.getpid()):
            return False
        if handle >= 0:
            signal.pidfd_send_signal(handle, number)
        else:
            os.kill(pid, number)
    except OSError:
        return False
    finally:
        if handle >= 0:
            os.close(handle)
    return True


def kill_session(leader: int) -> None:
    """Kill every process of a session."""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        fields = stat(int(name))
        if fields and fields[0] != "Z" and int(fields[3]) == leader:
            _send(int(name), int(fields[1]), signal.SIGKILL)


class Handle:
    """A hold on one process: what is done through it is never done to a stranger with the same pid."""

    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid = pid
        self.descriptor = descriptor

    @classmethod
    def on(cls, pid: int) -> Handle | None:
        """None if the process has gone, or the system has no such handles."""
        try:
            return cls(pid, os.pidfd_open(pid))
        except (AttributeError, OSError):
            return None

    def kill_tree(self) -> None:
        """Kill the process and all below it, if it still lives."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.descriptor, signal.SIGSTOP)  # from here on its pid stays its own
            signal_tree(self.pid, signal.SIGKILL)
            signal.pidfd_send_signal(self.descriptor, signal.SIGKILL)
        # It may have died just before, with its keeper; then its children are no longer below it. They are
        # still of its session, and as long as one of them is, no stranger can have that number.
        kill_session(self.pid)

    def close(self) -> None:
        """Let go."""
        os.close(self.descriptor)


def memory(root: int) -> int:
    """Bytes of memory held by the tree below ``root``; pages that several share count once."""
    pids = [pid for pid, _parent in descendants(root)]
    if len(pids) == 1:
        return resident(pids[0])
    return sum(map(proportional, pids))


def run_delay(pid: int) -> float:
    """Seconds that the first thread of a process was ready to run and had no processor; 0: not known."""
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (*GONE, IndexError, ValueError):
        return 0.0


def resident(pid: int) -> int:
    """Resident bytes of one process; 0 if it has gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGE
    except (*GONE, IndexError):
        return 0


def proportional(pid: int) -> int:
    """Resident bytes of one process, a page shared with n others counted as 1/n."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return resident(pid)
    return 0


def maps_library(root: int, name: str) -> bool:
    """Some process below ``root`` has loaded a library whose path contains ``name``."""
    wanted = name.encode()
    for pid, _parent in descendants(root):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", "rb") as file:
            if wanted in file.read():
                return True
    return False
