"""How ``tipc`` and its servers talk: JSON over Unix sockets, with file descriptors beside it.

A request goes over a stream as four bytes of length and a text. What a keeper tells comes over a socket of
its own (SOCK_SEQPACKET: one message a packet). Lone surrogates, which is how Python holds names that are not
UTF-8, survive the way.
"""

from __future__ import annotations

import array
import json
import socket
import struct
from typing import Any

LENGTH = struct.Struct("<I")
PACKET = 65536  # no message of a keeper is longer


def send_request(sock: socket.socket, message: dict[str, Any], descriptor: int) -> None:
    """Send one request, and with it the descriptor that its answers go to."""
    body = json.dumps(message).encode("ascii")
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
    sock.sendmsg([LENGTH.pack(len(body))], rights)
    sock.sendall(body)


def receive_request(sock: socket.socket) -> tuple[dict[str, Any], int] | None:
    """The next request and its descriptor; None when the other side has gone."""
    size = array.array("i").itemsize
    head, rights, _, _ = sock.recvmsg(LENGTH.size, socket.CMSG_LEN(size))
    if not head:
        return None
    head += _exactly(sock, LENGTH.size - len(head))
    descriptor = array.array("i")
    for _level, _kind, data in rights:
        descriptor.frombytes(data[: len(data) - len(data) % size])
    body = _exactly(sock, LENGTH.unpack(head)[0])
    if len(body) < LENGTH.unpack(head)[0] or not descriptor:
        return None
    request: dict[str, Any] = json.loads(body.decode("ascii"))
    return request, descriptor[0]


def _exactly(sock: socket.socket, count: int) -> bytes:
    """``count`` bytes, or fewer if the other side has gone."""
    parts = []
    while count:
        part = sock.recv(min(count, 1 << 20))
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def tell(sock: socket.socket, message: dict[str, Any]) -> None:
    """Send one message of a keeper or a server; nobody listening is no error, others see to that."""
    try:
        sock.send(json.dumps(message).encode("ascii"), socket.MSG_NOSIGNAL)
    except OSError:
        return


def listen(sock: socket.socket) -> dict[str, Any] | None:
    """The next message of a keeper or a server; None when it has gone."""
    try:
        packet = sock.recv(PACKET)
    except ConnectionError:
        return None
    message: dict[str, Any] | None = json.loads(packet.decode("ascii")) if packet else None
    return message
