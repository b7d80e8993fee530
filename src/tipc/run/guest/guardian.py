"""Stands above one process that ``tipc`` starts, and sees that nothing below it outlives it.

``python guardian.py LIFE MODE COMMAND…``. Keepers and servers end what belongs to a step. The guardian is for
the case that they are killed, all in one instant and ``tipc`` with them: what they leave, in whatever session
of its own it hides, becomes a child of the guardian. LIFE is the number of a pipe whose other end ``tipc``
holds: when that closes, ``tipc`` has gone. The guardian has a session of its own and ignores what a terminal
or a shutdown sends; who kills it kills what it guards, for the kernel ends that with it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import sys
import time

if __name__ == "__main__":  # also under -I, by an interpreter that knows no tipc
    _root = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
    sys.path.insert(0, _root)

from tipc.run.guest.proctree import adopt_orphans, children, die_with_parent, signal_tree, stat
from tipc.run.guest.waking import drain, wake_on_child

COMMAND, SERVER = "command", "server"  # modes: with a server its keepers stay until they have done their work
GRACE = {COMMAND: 0.0, SERVER: 1.5}  # seconds that are left to what is guarded when tipc has gone
KILL_EVERY = 0.01
NOT_STARTED = 127
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
NOT_OURS = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores them, and that would be inherited


class Guardian:
    """The watch over one process, until nothing is left below."""

    def __init__(self, life: int, mode: str, command: list[str]) -> None:
        os.set_inheritable(life, False)
        self.life = life
        self.mode = mode
        self.status: int | None = None  # of the guarded process, once it has ended
        self.due = float("inf")  # when everything is killed, whatever it is
        adopt_orphans()
        self.wake = wake_on_child()
        self.guarded = start(command)

    def watch(self) -> int:
        """Wait until nothing is left; the status of the guarded process."""
        poll = select.poll()
        poll.register(self.wake, select.POLLIN)
        poll.register(self.life, select.POLLIN)
        while self._reap():
            for descriptor, _event in poll.poll(self._pause()):
                if descriptor == self.wake:
                    drain(self.wake)
                else:
                    poll.unregister(self.life)
                    self.due = time.monotonic() + GRACE[self.mode]
        return self.status or 0

    def _reap(self) -> bool:
        """Take what has ended; False when there is nothing left to wait for."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.guarded:
                self.status = status

    def _pause(self) -> int:
        """Kill what has no right to live; milliseconds until that has to be done again."""
        now = time.monotonic()
        if now >= self.due:
            signal_tree(os.getpid(), signal.SIGKILL)
            return int(KILL_EVERY * 1000)
        if self.status is not None and signal_tree(os.getpid(), signal.SIGKILL, self._keepers()):
            return int(KILL_EVERY * 1000)
        return -1 if self.due == float("inf") else int((self.due - now) * 1000) + 1

    def _keepers(self) -> frozenset[int]:
        """The keepers of a server that has gone: they still answer to tipc.

        They are the ones in its session. A step leaves that before its program begins, and for good.
        """
        if self.mode != SERVER:
            return frozenset()
        mine = [(pid, stat(pid)) for pid in children(os.getpid())]
        found = set()
        for pid, fields in mine:
            if fields and int(fields[3]) == self.guarded:
                found.add(pid)
        return frozenset(found)


def start(command: list[str]) -> int:
    """The guarded process: in a session of its own, and killed with this one."""
    guardian = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            die_with_parent(guardian)
            for number in NOT_OURS:
                signal.signal(number, signal.SIG_DFL)
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]} cannot be started: {error.strerror}\n".encode())
        finally:
            os._exit(NOT_STARTED)
    return pid


def end_like(status: int) -> None:
    """End as the guarded process did, without a core of our own."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def main(argv: list[str]) -> None:
    """Guard the command of the arguments."""
    life, mode, command = int(argv[1]), argv[2], argv[3:]
    guardian = Guardian(life, mode, command)
    for number in IGNORED:  # not before: the guarded process would inherit it
        signal.signal(number, signal.SIG_IGN)
    for name in os.listdir("/proc/self/fd"):  # those of the guarded process: only it may hold them open
        with contextlib.suppress(OSError):
            if int(name) > 2 and os.get_inheritable(int(name)):
                os.close(int(name))
    end_like(guardian.watch())


if __name__ == "__main__":
    main(sys.argv)
