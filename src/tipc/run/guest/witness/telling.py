"""The witness's side of the socket: connected before the script begins, which never waits long for it."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import Any

from tipc.run.guest.hearing import LIMIT, VARIABLE
from tipc.run.guest.wire import send, send_array

PATIENCE = 20.0  # seconds: then the keeper does not answer, and the script goes on unseen
BY_DESCRIPTOR = "fd:"  # an address that is a connection which a process has handed to its successor


class Telling:
    """One connection to the keeper, and how much may still go through it."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock: socket.socket | None = sock
        self.rank = _number("PADDLE_TRAINER_ID", 0)
        self.left = LIMIT // max(1, _number("PADDLE_TRAINERS_NUM", 1))
        self.count = 0
        self.dropped = 0

    def arrays(self, values: dict[str, Any], most: int = LIMIT) -> dict[str, str] | None:
        """Send arrays, all or (None) none of them; their keys. ``most`` is a limit of the caller's own."""
        size = sum(value.nbytes for value in values.values())
        if self.sock is None or size > min(self.left, most):
            self.dropped += 1
            return None
        keys = {}
        for name, value in values.items():
            key = f"rank{self.rank}.{self.count}"
            self.count += 1
            head = {"key": key, "dtype": value.dtype.str, "shape": list(value.shape)}
            if not self._send(send_array, head, memoryview(value.tobytes())):
                return None
            keys[name] = key
        self.left -= size
        return keys

    def facts(self, facts: dict[str, Any], *, final: bool) -> None:
        """Send all that is known so far. It replaces what was sent before."""
        self._send(send, {"facts": facts, "final": final})

    def imports(self, changed: dict[str, str | None]) -> None:
        """Say that paddle is about to be imported, and which variables the script has changed before."""
        self._send(send, {"imports": changed})

    def close(self) -> None:
        """Nothing more is told by this process."""
        sock, self.sock = self.sock, None
        if sock is not None:
            sock.close()

    def hand_on(self) -> str:
        """Let the program that this process becomes go on with the connection; its address."""
        if self.sock is None:
            return ""
        descriptor = self.sock.detach()
        self.sock = None
        os.set_inheritable(descriptor, True)
        return f"{BY_DESCRIPTOR}{descriptor}"

    def _send(self, how: Any, *message: Any) -> bool:
        if self.sock is None:
            return False
        try:
            how(self.sock, *message)
        except OSError:  # the keeper has gone, or does not read: the script is not to suffer from it
            self.close()
            return False
        return True


def connect(address: str) -> Telling | None:
    """Connect to the keeper and wait until it has taken us; None if there is none or it refuses."""
    if address.startswith(BY_DESCRIPTOR):
        sock = socket.socket(fileno=int(address[len(BY_DESCRIPTOR) :]))
        sock.set_inheritable(False)
        sock.settimeout(PATIENCE)
        return Telling(sock)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(PATIENCE)
    with contextlib.suppress(OSError):
        sock.connect("\0" + address)
        if sock.recv(1) == b"+":
            return Telling(sock)
    sock.close()
    return None


def take_address() -> str:
    """The keeper's address out of the environment, where the script and its children shall not find it."""
    return os.environ.pop(VARIABLE, "")


def _number(variable: str, otherwise: int) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else otherwise
