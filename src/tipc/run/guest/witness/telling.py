"""The witness's side of the socket: connected before the script begins, which never waits long for it."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterable
from typing import Any

from tipc.run.guest.hearing import LIMIT, SECRET, VARIABLE
from tipc.run.guest.wire import OPENED, send, send_array

PATIENCE = 20.0  # seconds: then the keeper does not answer, and the script goes on unseen
AT_ONCE = 4 << 20  # bytes that the script need not wait for the keeper to take, where the system allows that
BY_DESCRIPTOR = "fd:"  # a connection which a process has handed to its successor, and the keeper's address


class Telling:
    """One connection to the keeper, and how much may still go through it."""

    def __init__(self, sock: socket.socket, invitation: str = "", *, child: bool = False) -> None:
        self.sock: socket.socket | None = sock
        self.invitation = invitation  # what a process that the script starts needs to be heard
        self.child = child  # a process that the script has started
        self.name = f"rank{_number('PADDLE_TRAINER_ID', 0)}"
        if child:
            self.name += f"-{os.getpid()}"
        self.forked = False  # and not yet connected
        self.left = LIMIT // max(1, _number("PADDLE_TRAINERS_NUM", 1))
        self.count = 0
        self.dropped = 0

    @property
    def rank(self) -> int:
        """Of this process. One that ``paddle.distributed.spawn`` starts is told by its first lines."""
        return _number("PADDLE_TRAINER_ID", 0)

    def arrays(self, values: dict[str, Any], most: int = LIMIT) -> dict[str, str] | None:
        """Send arrays, all or (None) none of them; their keys. ``most`` is a limit of the caller's own."""
        size = sum(value.nbytes for value in values.values())
        self._connect_if_forked()
        if self.sock is None or size > min(self.left, most):
            self.dropped += 1
            return None
        keys = {}
        for name, value in values.items():
            key = self._next_key()
            head = {"key": key, "dtype": value.dtype.str, "shape": list(value.shape)}
            if not self._send(send_array, head, memoryview(value.reshape(-1).view("u1"))):
                return None
            keys[name] = key
        self.left -= size
        return keys

    def opens(self, paths: Iterable[str]) -> dict[str, str]:
        """Say that files are about to be opened, and wait until the keeper has them open, too. It makes their
        digests; here are the keys to those, by absolute path."""
        keys = {}
        for name in paths:
            path = os.path.abspath(name)
            if not os.path.isfile(path):
                continue
            key = self._next_key()
            if self._send(send, {"opens": path, "key": key}) and self._hears(OPENED):
                keys[path] = key
        return keys

    def facts(self, facts: dict[str, Any], *, final: bool) -> None:
        """Send all that is known so far. It replaces what was sent before."""
        self._send(send, {"facts": facts, "final": final})

    def imports(self, changed: dict[str, str | None]) -> None:
        """Say that paddle is about to be imported, and which variables the script has changed before."""
        self._send(send, {"imports": changed})

    def packages(self, names: list[str]) -> None:
        """Say which modules of packages the script has imported at its beginning."""
        self._send(send, {"packages": names})

    def begins_again(self, needs: dict[str, str | None]) -> None:
        """Say that the script begins again in a fresh interpreter, and which variables it has changed."""
        self._send(send, {"needs": needs})

    def fork(self) -> None:
        """This process is a copy now: it tells nothing, or through a connection of its own."""
        self.close()
        self.forked = True

    def _connect_if_forked(self) -> None:
        if self.forked:
            self.forked = False
            again = connect(self.invitation)
            if again is not None:
                self.sock, self.name = again.sock, again.name

    def close(self) -> None:
        """Nothing more is told by this process."""
        self.forked = False
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
        return f"{BY_DESCRIPTOR}{descriptor}:{self.invitation}"

    def take_back(self, address: str) -> None:
        """The program to which the connection was handed could not be started: go on."""
        again = connect(address)
        if again is not None:
            self.sock = again.sock

    def _next_key(self) -> str:
        self._connect_if_forked()  # which gives another name
        key = f"{self.name}.{self.count}"
        self.count += 1
        return key

    def _hears(self, answer: bytes) -> bool:
        """Wait for the keeper's answer."""
        if self.sock is None:
            return False
        try:
            return self.sock.recv(len(answer)) == answer
        except OSError:
            self.close()
            return False

    def _send(self, how: Any, *message: Any) -> bool:
        self._connect_if_forked()
        if self.sock is None:
            return False
        try:
            how(self.sock, *message)
        except OSError:  # the keeper has gone, or does not read: the script is not to suffer from it
            self.close()
            return False
        return True


def connect(address: str) -> Telling | None:
    """Connect to the keeper and wait until it has taken us; None if there is none or it refuses.

    An address is the keeper's name, and in a process that the script has started also the secret.
    """
    if address.startswith(BY_DESCRIPTOR):
        descriptor, _, invitation = address[len(BY_DESCRIPTOR) :].partition(":")
        sock = socket.socket(fileno=int(descriptor))
        sock.set_inheritable(False)
        sock.settimeout(PATIENCE)
        return Telling(sock, invitation)
    name, _, secret = address.partition("/")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, AT_ONCE)
    sock.settimeout(PATIENCE)
    with contextlib.suppress(OSError):
        sock.connect("\0" + name)
        sock.sendall(bytes.fromhex(secret))
        answer = _receive(sock, 1 + SECRET)
        if answer[:1] == b"+":
            return Telling(sock, f"{name}/{answer[1:].hex()}", child=bool(secret))
    sock.close()
    return None


def _receive(sock: socket.socket, count: int) -> bytes:
    """So many bytes; fewer where the other side closes."""
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            break
        data += more
    return data


def take_address() -> str:
    """The keeper's address out of the environment, where the script and its children shall not find it."""
    return os.environ.pop(VARIABLE, "")


def _number(variable: str, otherwise: int) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else otherwise
