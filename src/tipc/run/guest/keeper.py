"""Owns one step's process tree at a time: starts it, measures it, ends it, and tells how it ended.

A keeper adopts every orphan below itself, so a process can call setsid, fork twice or clear its environment
and still be found: the tree is gone when the keeper has no child left. It listens to ``tipc`` on a socket;
that socket closing means that ``tipc`` has died, and ends the tree too. A keeper that is through with a step
can take another.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import time
from typing import Any, NoReturn

from tipc.run.guest.hearing import PROGRAM, Hearing
from tipc.run.guest.launch import Become, CannotStart, Extend, spawn, stay, wait_for_start
from tipc.run.guest.proctree import adopt_orphans, descendants, signal_tree
from tipc.run.guest.usage import Usage
from tipc.run.guest.waking import drain, wake_on_child
from tipc.run.guest.wire import receive, send

LINGER = 2.0  # seconds that helpers (a resource tracker, a DataLoader worker) have to end after the command
LINGER_KILLED = 0.5  # and after one that a signal has ended: nobody has told them to
LEFT_GRACE = 2.0  # between TERM and KILL for what has outlived its command
ORPHAN_GRACE = 1.0  # and when tipc, or the command, was killed
STUBBORN = 10.0  # after KILL: then the outcome says that something could not be ended
KILL_EVERY = 0.01
NOTES = 1 << 16  # bytes that a pipe holds: whole notes, since each is written at once
CLOCK_JUMP = 1.0  # seconds; less is a clock that is being corrected, and no jump


class StepWatch:
    """One step, from its start to the last of its processes."""

    def __init__(self, request: dict[str, Any], control: socket.socket, wake: int) -> None:
        self.request = request
        self.control = control
        self.wake = wake
        self.begun = time.monotonic()
        self.status: int | None = None  # of the command itself, as wait tells it
        self.outcome: dict[str, Any] = {"started": time.time(), "error": ""}
        self.usage = Usage()
        self.notes = -1  # a descriptor: what a warm child has to say
        self.poll = select.poll()
        self.hearing: Hearing | None = None
        if request["watched"]:
            self._invite_the_witness()
        self.signalled = 0  # the last signal that the tree was sent
        self.hopeless = float("inf")  # when it is said that the tree cannot be ended
        self.grace = float(request["grace"])
        timeout = request["timeout"]
        self.due = None if timeout is None else self.begun + timeout  # when the next harsher thing is done

    def _invite_the_witness(self) -> None:
        """The step is a Python script: the witness stands before it."""
        self.hearing = Hearing(self.poll, launched=self.request["launched"])
        argv, at = self.request["argv"], self.request["script_at"]
        self.request["cold_argv"] = [*argv[:at], PROGRAM, *argv[at:]]
        self.request["address"] = self.hearing.address

    def run(self, *, warm: bool) -> None:
        """Start the step, stay until nothing is left of it, and tell the outcome."""
        self.outcome["warm"] = warm
        try:
            self.pid = self._fork() if warm else spawn(self.request)
        except CannotStart as error:
            self.outcome.update(error=error.why, exit_code=error.code)
        else:
            self._tell({"pid": self.pid, "keeper": os.getpid()})
            self._watch()
        if self.notes >= 0:
            os.close(self.notes)
        self._tell_the_outcome()

    def _tell_the_outcome(self) -> None:
        """How it ended and, behind that, what the witness has told."""
        message = {"outcome": self.outcome, "idle": True}
        if self.hearing is None:
            self._tell(message)
            return
        self.hearing.close()
        self._pass_on_news(self.hearing)
        self._tell({**message, "witness": self.hearing.told()})
        with contextlib.suppress(OSError):
            for _head, body in self.hearing.arrays:
                self.control.sendall(body)

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # tipc has gone: the socket's end says so, too
            send(self.control, message)

    def _fork(self) -> int:
        """Fork this warm interpreter; the child unwinds to the top of the program and becomes the script."""
        keeper = os.getpid()
        readable, writable = os.pipe()
        self.notes, noting = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(readable)
            try:
                stay(self.request, keeper)
            except CannotStart as error:
                os.write(writable, json.dumps({"why": error.why, "code": error.code}).encode())
                os._exit(error.code)
            except Become as become:
                become.notes = noting
                self.control.close()
                if self.hearing is not None:
                    self.hearing.listener.close()
                for descriptor in (writable, self.notes, self.wake, signal.set_wakeup_fd(-1)):
                    os.close(descriptor)
                raise
        os.close(writable)
        os.close(noting)
        wait_for_start(pid, readable)
        return pid

    def _watch(self) -> None:
        poll = self.poll
        if self.hearing is not None:
            self.hearing.step = self.pid
        poll.register(self.wake, select.POLLIN)
        poll.register(self.control, select.POLLIN)
        if self.notes >= 0:
            poll.register(self.notes, select.POLLIN)
        while self._reap():
            now = time.monotonic()
            if self.due is not None and now >= self.due:
                self._harsher(now)
                continue
            for descriptor, _event in poll.poll(self._pause(now)):
                self._attend(descriptor)
            if self.hearing is not None:
                self.hearing.files.read_on()
            if self.status is None and self.usage.sample_if_due() and self.hearing is None:
                self._tell({"paddle": None})

    def _attend(self, descriptor: int) -> None:
        """There is something to be read."""
        if descriptor == self.wake:
            drain(self.wake)
        elif descriptor == self.notes:
            self._noted(self.poll)
        elif descriptor == self.control.fileno():
            self._told(self.poll)
        elif self.hearing is not None:
            self.hearing.hear(descriptor)
            self._pass_on_news(self.hearing)

    def _pass_on_news(self, hearing: Hearing) -> None:
        for about, news in hearing.take_news().items():
            if about == "needs":
                self.outcome["warm"] = False
            self._tell({about: news})

    def _noted(self, poll: select.poll) -> None:
        """Scripts in warm processes say what they need before their imports, and start again cold."""
        notes = os.read(self.notes, NOTES)
        if not notes:
            poll.unregister(self.notes)
        for note in notes.splitlines():
            self.outcome["warm"] = False
            self._tell({"needs": json.loads(note)})

    def _pause(self, now: float) -> int:
        """Milliseconds until there is something to do by itself."""
        if self.hearing is not None and self.hearing.files.is_reading:
            return 0
        moments = [self.due] if self.due is not None else []
        if self.status is None:
            moments.append(self.usage.due)
        return max(0, int((min(moments) - now) * 1000) + 1) if moments else -1

    def _reap(self) -> bool:
        """Take the status of whatever has ended; False when no process is left."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.usage.add(used)
            if pid == self.pid:
                self._ended(status)
            self.usage.into(self.outcome)

    def _ended(self, status: int) -> None:
        """The command itself is over: that is its result and its time. What it left is given a moment."""
        self.status = status
        self.outcome["wall"] = time.monotonic() - self.begun
        jump = time.time() - self.outcome["started"] - self.outcome["wall"]
        if abs(jump) > CLOCK_JUMP:
            self.outcome["clock"] = jump
        self.outcome["exit_code"] = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        self.outcome["signal"] = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        if self.signalled:
            return
        self.due = time.monotonic() + LINGER
        if os.WIFSIGNALED(status):
            self.due = time.monotonic() + LINGER_KILLED
            self.grace = min(self.grace, ORPHAN_GRACE)

    def _told(self, poll: select.poll) -> None:
        """``tipc`` asks for the end, or has itself come to one."""
        if receive(self.control) is None:
            poll.unregister(self.control)
            self.grace = min(self.grace, ORPHAN_GRACE)
        if self.status is None and not self.signalled:
            self.outcome["interrupted"] = True
        if not self.signalled:
            self._harsher(time.monotonic())

    def _harsher(self, now: float) -> None:
        """TERM to all that lives; after the grace, KILL until nothing does."""
        if not self.signalled:
            if self.status is not None:
                self.outcome["left"] = len(descendants(os.getpid()))
                self.grace = min(self.grace, LEFT_GRACE)
            elif not self.outcome.get("interrupted"):
                self.outcome["timed_out"] = True
            self.signalled = signal.SIGTERM
            self.due = now + self.grace
            self.hopeless = self.due + STUBBORN
        else:
            self.signalled = signal.SIGKILL
            self.due = now + KILL_EVERY
            if now > self.hopeless:
                self._give_notice()
                self.due = now + 1.0
        signal_tree(os.getpid(), self.signalled)

    def _give_notice(self) -> None:
        """Something resists KILL (another user's, or stuck in the kernel). Tell it once, go on trying."""
        if self.outcome["error"]:
            return
        pids = ", ".join(str(pid) for pid, _parent in descendants(os.getpid()))
        self.outcome["error"] = f"these processes could not be ended: {pids}"
        self.outcome.setdefault("wall", time.monotonic() - self.begun)
        self._tell({"outcome": self.outcome})


def keep(control: socket.socket, *, warm: bool) -> NoReturn:
    """Keep one step after the other until the socket closes; the process ends with that.

    Raises Extend if it is to be a server instead. Any other exception that leaves it is a fault of ours: the
    process ends, and the server ends the tree.
    """
    adopt_orphans()
    wake = wake_on_child()
    request = receive(control)
    while request is not None:
        if "packages" in request:
            os.close(wake)
            os.close(signal.set_wakeup_fd(-1))
            raise Extend(request["packages"], control)
        if "argv" in request:  # not the wish to end a step that had just ended by itself
            StepWatch(request, control, wake).run(warm=warm)
        request = receive(control)
    os._exit(0)
