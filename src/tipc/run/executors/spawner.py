"""A server process (``warm/server.py``) seen from ``tipc``: told what to start, gone with us."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tipc.errors import EnvironmentProblem, wording
from tipc.run.executors.guarded import Guarded
from tipc.run.guest.guardian import SERVER as MODE
from tipc.run.guest.proctree import Handle
from tipc.run.guest.wire import receive, send, send_socket

SERVER = Path(__file__).parents[1] / "guest" / "server.py"
FORKS_WITHIN = 2.0  # seconds
LEAVE_WITHIN = 30.0  # seconds that a server has, after us, to end its keepers


class Spawner:
    """Starts processes on our behalf, so that they can be found and ended even when we are killed."""

    def __init__(
        self,
        interpreter: Sequence[str] = (sys.executable, "-I", "-S"),
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        output: IO[bytes] | None = None,
        arguments: Sequence[str] = (),
    ) -> None:
        self.socket, theirs = socket.socketpair()
        self._idle: list[socket.socket] = []
        with theirs:
            command = [*interpreter, str(SERVER), str(theirs.fileno()), *arguments]
            try:
                self.process = Guarded(
                    command,
                    MODE,
                    stdout=output if output is not None else subprocess.DEVNULL,
                    stderr=subprocess.STDOUT if output is not None else None,
                    env=env,
                    cwd=cwd,
                    pass_fds=[theirs.fileno()],
                )
            except OSError as error:
                self.socket.close()
                raise EnvironmentProblem(
                    wording(
                        "{program} cannot be started: {strerror}",
                        program=command[0],
                        strerror=error.strerror,
                    ),
                    remedy="give a working interpreter with --python",
                ) from error

    def start(self, request: dict[str, Any]) -> socket.socket:
        """Start what the request says; its keeper talks on the returned socket. OSError: no server."""
        while self._idle:
            keeper = self._idle.pop()
            with contextlib.suppress(OSError):
                send(keeper, request)
                return keeper
            keeper.close()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                send_socket(self.socket, theirs)
                send(ours, request)
            except OSError:
                ours.close()
                raise
        return ours

    def branch(self, request: dict[str, Any]) -> ForkedSpawner:
        """A fork of this server that becomes one itself, as the request says. OSError: there is none."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                send_socket(self.socket, theirs)
                send(ours, request)
                ours.settimeout(FORKS_WITHIN)
                told = receive(ours)
                ours.settimeout(None)
                if told is None:
                    raise ConnectionError
            except OSError:
                ours.close()
                raise
        return ForkedSpawner(ours, told["pid"])

    def give_back(self, keeper: socket.socket) -> None:
        """A keeper has told its outcome and can take another step."""
        if self.socket.fileno() < 0:
            keeper.close()
        else:
            self._idle.append(keeper)

    def kill(self) -> None:
        """End the server at once."""
        self.process.kill()

    def let_go(self) -> None:
        """Let the server end by itself, after what it still has to do."""
        while self._idle:
            self._idle.pop().close()
        self.socket.close()

    def close(self) -> None:
        """Wait until the server has ended."""
        self.let_go()
        self.process.wait_until_ended(LEAVE_WITHIN)
        self.process.end()


class ForkedSpawner(Spawner):
    """A server that another has forked: that one waits for it."""

    def __init__(self, sock: socket.socket, pid: int) -> None:
        self.socket = sock
        self._idle = []
        self._handle = Handle.on(pid)

    def kill(self) -> None:
        """End the server at once."""
        if self._handle:
            self._handle.kill_tree()

    def close(self) -> None:
        """Let the server end."""
        self.let_go()
        if self._handle:
            self._handle.close()
            self._handle = None
