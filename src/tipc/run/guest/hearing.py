"""Where a keeper hears what the witness of its step has to tell.

A witness connects to an abstract Unix socket of its keeper before its script begins, and is answered. What
holds against a script that would rather tell its own story:

- Who speaks is what the kernel says (SO_PEERCRED), not what a message says: the step's own process, or, for
  a launched script, a child of the launcher whose program is the witness or a warm server. Nobody is heard
  twice: the witness has connected before the first line of the script ran.
- The address is given to the step's process alone, in a variable that the witness removes.
- A process that the script starts is heard if it is below the step and knows the secret, which a witness is
  told when it is taken. It hands it to the witness of that process.
- What comes after the last word of a process is not read, and what is beyond the limit is counted, not kept.

What does not hold: code in the same process can do whatever the witness can. It has to be written against
this very witness; a mistake, a shortcut or a lie in a log is not.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import socket
import struct
from typing import Any

from tipc.run.guest.opened_files import OpenedFiles
from tipc.run.guest.wire import LENGTH, OPENED

LIMIT = 64 << 20  # bytes of arrays that are kept of one step
LONGEST_MESSAGE = 32 << 20
CREDENTIALS = struct.Struct("3i")
VARIABLE = "TIPC_WITNESS"  # in the environment of the step: the address
SECRET = 16  # bytes
MOST_CHILDREN = 64  # processes that the script starts and that are heard
HIGHEST = 32  # generations that a process may be below its step
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "witnessed.py")
WARM_PROGRAM = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "server.py"
)  # of a rank that is a fork


class Speaker:
    """One connected process and what it has told so far."""

    def __init__(self, sock: socket.socket, pid: int) -> None:
        self.sock = sock
        self.pid = pid
        self.admitted = False  # a process that the script has started must know the secret first
        self.first = False  # it is no such process
        self.buffer = bytearray()
        self.head: dict[str, Any] | None = None  # a message whose raw bytes are still to come
        self.facts: dict[str, Any] | None = None  # the latest
        self.final = False
        self.dropped = 0


class Hearing:
    """The socket of one step, and everything that was told through it."""

    def __init__(self, poll: select.poll, *, launched: bool) -> None:
        self.poll = poll
        self.name = secrets.token_hex(16)
        self.secret = secrets.token_bytes(SECRET)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind("\0tipc-" + self.name)
        self.listener.listen(64)
        self.listener.setblocking(False)
        self.poll.register(self.listener, select.POLLIN)
        self.step = 0  # the pid of the step's process, once it runs
        self.launched = launched  # its children are heard, not itself
        self.speakers: dict[int, Speaker] = {}  # by descriptor
        self.heard: dict[int, Speaker] = {}  # by pid: all that ever spoke
        self.arrays: list[tuple[dict[str, Any], bytes]] = []
        self.size = 0
        self.files = OpenedFiles()
        self.refused = 0
        self.news: dict[str, Any] = {}  # what tipc is told while the step runs, by what it is about
        self.passed_on: set[str] = set()  # of that

    @property
    def address(self) -> str:
        """What the step is given to find us."""
        return "tipc-" + self.name

    def hear(self, descriptor: int) -> None:
        """Somebody wants to speak, or speaks."""
        if descriptor == self.listener.fileno():
            self._accept()
        elif descriptor in self.speakers:
            self._read(self.speakers[descriptor])

    def take_news(self) -> dict[str, Any]:
        """What tipc should hear at once, each thing once."""
        fresh = {about: news for about, news in self.news.items() if about not in self.passed_on}
        self.passed_on.update(fresh)
        return fresh

    def close(self) -> None:
        """The step has ended: read what is left, and stop listening."""
        self._accept()
        for speaker in list(self.speakers.values()):
            while speaker.sock.fileno() >= 0 and self._read(speaker):
                pass
            self._forget(speaker)
        self.files.finish()
        self.poll.unregister(self.listener)
        self.listener.close()

    def told(self) -> dict[str, Any]:
        """All that was told, but for the raw bytes of the arrays."""
        processes = []
        for speaker in self.heard.values():
            if speaker.first or speaker.facts is not None:
                processes.append(
                    {
                        "pid": speaker.pid,
                        "facts": speaker.facts,
                        "dropped": speaker.dropped,
                        "final": speaker.final,
                    }
                )
        return {
            "processes": processes,
            "arrays": [head for head, _body in self.arrays],
            "digests": self.files.digests,
            "refused": self.refused,
        }

    def _accept(self) -> None:
        while True:
            try:
                sock, _address = self.listener.accept()
            except OSError:
                return
            sock.setblocking(False)
            credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
            pid, user, _group = CREDENTIALS.unpack(credentials)
            ours = pid not in self.heard and user == os.getuid()
            first = ours and self._is_first(pid)
            if not first and not (ours and self._is_below(pid)):
                self._refuse(sock)
                continue
            speaker = Speaker(sock, pid)
            self.speakers[sock.fileno()] = speaker
            self.poll.register(sock, select.POLLIN)
            speaker.first = first
            if first:
                self._admit(speaker)

    def _admit(self, speaker: Speaker) -> None:
        """From now on it is heard."""
        speaker.admitted = True
        self.heard[speaker.pid] = speaker
        with contextlib.suppress(OSError):
            speaker.sock.send(b"+" + self.secret)

    def _refuse(self, sock: socket.socket) -> None:
        self.refused += 1
        sock.close()

    def _is_first(self, pid: int) -> bool:
        """The step's own process, or one that a launcher has started."""
        if not self.launched:
            return pid == self.step
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            return False
        witnessed = os.fsencode(PROGRAM) in words or os.fsencode(WARM_PROGRAM) in words
        return parent_of(pid) == self.step and witnessed

    def _is_below(self, pid: int) -> bool:
        """Whether a process is one that the step has started, or that one of those has."""
        if len(self.heard) >= MOST_CHILDREN:
            return False
        for _generation in range(HIGHEST):
            pid = parent_of(pid)
            if pid == self.step:
                return True
            if pid <= 1:
                return False
        return False

    def _read(self, speaker: Speaker) -> bool:
        """Take what has come; False if there is nothing (yet, or any more)."""
        try:
            data = speaker.sock.recv(1 << 20)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._forget(speaker)
            return False
        speaker.buffer += data
        try:
            while not speaker.final and self._take(speaker):
                pass
        except (ValueError, KeyError, TypeError):  # not what a witness says
            speaker.final = True
        if speaker.final:
            self._forget(speaker)
        return True

    def _take(self, speaker: Speaker) -> bool:
        """One message, or the raw bytes behind one, out of the buffer; False if it is not complete."""
        buffer = speaker.buffer
        if not speaker.admitted:
            return self._take_secret(speaker)
        if speaker.head is not None:
            count = speaker.head["bytes"]
            if len(buffer) < count:
                return False
            self._keep_array(speaker, speaker.head, bytes(buffer[:count]))
            speaker.head = None
            del buffer[:count]
            return True
        if len(buffer) < LENGTH.size:
            return False
        end = LENGTH.size + LENGTH.unpack_from(buffer)[0]
        if end > LONGEST_MESSAGE:
            raise ValueError("too long")
        if len(buffer) < end:
            return False
        message = json.loads(bytes(buffer[LENGTH.size : end]).decode("ascii"))
        del buffer[:end]
        self._take_message(speaker, message)
        return True

    def _take_message(self, speaker: Speaker, message: dict[str, Any]) -> None:
        if "bytes" in message:
            if not 0 <= int(message["bytes"]) <= LIMIT:
                raise ValueError("too long")
            speaker.head = message
        elif "imports" in message:
            self.news["paddle"] = dict(message["imports"])
        elif "packages" in message:
            self.news["packages"] = [str(name) for name in message["packages"]]
        elif "opens" in message:
            self.files.open(str(message["opens"]), str(message["key"]))
            with contextlib.suppress(OSError):
                speaker.sock.send(OPENED)
        elif "needs" in message:
            self.news["needs"] = dict(message["needs"])
        else:
            speaker.facts = message["facts"]
            speaker.final = bool(message["final"])

    def _take_secret(self, speaker: Speaker) -> bool:
        """The first thing that a process says which the script has started."""
        if len(speaker.buffer) < SECRET:
            return False
        told = bytes(speaker.buffer[:SECRET])
        del speaker.buffer[:SECRET]
        if speaker.pid in self.heard or not secrets.compare_digest(told, self.secret):
            self.refused += 1
            speaker.final = True  # it is not heard any further
            return False
        self._admit(speaker)
        return True

    def _keep_array(self, speaker: Speaker, head: dict[str, Any], body: bytes) -> None:
        if self.size + len(body) > LIMIT:
            speaker.dropped += 1
            return
        self.size += len(body)
        self.arrays.append(({**head, "pid": speaker.pid}, body))

    def _forget(self, speaker: Speaker) -> None:
        descriptor = speaker.sock.fileno()
        if self.speakers.pop(descriptor, None):
            self.poll.unregister(descriptor)
            speaker.sock.close()


def parent_of(pid: int) -> int:
    """The process that has started another; 0: it has gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0
