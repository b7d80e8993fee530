"""How ``tipc``, its servers and their keepers talk: JSON over Unix sockets, and a socket passed along.

A message is four bytes of length and a text. Lone surrogates, which is how Python holds names that are not
UTF-8, survive the way.
"""

from __future__ import annotations

import array
import json
import socket
import struct
from typing import Any

LENGTH = struct.Struct("<I")
OPENED = b"o"  # the keeper's word that a file is open


def send(sock: socket.socket, message: dict[str, Any]) -> None:
    """Send one message; OSError if nobody can receive it."""
    body = json.dumps(message).encode("ascii")
    sock.sendall(LENGTH.pack(len(body)) + body)


def receive(sock: socket.socket) -> dict[str, Any] | None:
    """The next message; None when the other side has gone."""
    try:
        head = _exactly(sock, LENGTH.size)
        body = _exactly(sock, LENGTH.unpack(head)[0]) if head else b""
    except ConnectionError:
        return None
    message: dict[str, Any] | None = json.loads(body.decode("ascii")) if body else None
    return message


def _exactly(sock: socket.socket, count: int) -> bytes:
    """``count`` bytes; none if the other side has gone before the last of them."""
    parts = []
    while count:
        part = sock.recv(min(count, 1 << 20))
        if not part:
            return b""
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def send_socket(sock: socket.socket, passed: socket.socket) -> None:
    """Pass a socket along."""
    send_descriptors(sock, [passed.fileno()])


def receive_socket(sock: socket.socket) -> socket.socket | None:
    """The next socket that was passed along; None when the other side has gone."""
    descriptors = receive_descriptors(sock, 1)
    if not descriptors:
        return None
    return socket.socket(fileno=descriptors[0])


def send_descriptors(sock: socket.socket, descriptors: list[int]) -> None:
    """Pass open files along."""
    rights = array.array("i", descriptors)
    sock.sendmsg([b"s"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])


def receive_descriptors(sock: socket.socket, count: int) -> list[int]:
    """So many open files that were passed along; none when the other side has gone."""
    size = count * array.array("i").itemsize
    try:
        data, rights, _flags, _address = sock.recvmsg(1, socket.CMSG_LEN(size), socket.MSG_CMSG_CLOEXEC)
    except ConnectionError:
        return []
    if not data or not rights:
        return []
    descriptors = array.array("i")
    descriptors.frombytes(rights[0][2][:size])
    return list(descriptors)


def send_array(sock: socket.socket, head: dict[str, Any], body: bytes | memoryview) -> None:
    """Send one message and, behind it, as many raw bytes as its ``bytes`` says."""
    send(sock, {**head, "bytes": len(body)})
    sock.sendall(body)


def receive_bytes(sock: socket.socket, count: int) -> bytes:
    """``count`` raw bytes that follow a message; none if the other side has gone before the last of them."""
    try:
        return _exactly(sock, count)
    except ConnectionError:
        return b""
