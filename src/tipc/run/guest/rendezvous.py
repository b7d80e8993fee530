"""Where ranks meet: the first of them opens a port, and the others connect to it.

Paddle's others try at once and, where they were too early, sleep for three seconds before they try again. It
is chance whether they are. Here they look whether the port is open, and try when it is.
"""

from __future__ import annotations

import os
from time import monotonic, sleep
from types import ModuleType
from typing import Any

from tipc.run.guest.script import unseen
from tipc.run.guest.witness.door import leave_no_frame

CONNECT = "create_or_get_global_tcp_store"  # in ``paddle.base.core``
AT_MOST = 3.0  # seconds: after that paddle may try, and sleep as it does
EVERY = 0.005
SOCKETS = ("/proc/net/tcp", "/proc/net/tcp6")
LISTENING = "0A"


def attach(paddle: ModuleType) -> None:
    """In a rank that is not the first, on the first rank's machine: do not connect too early."""
    port = port_of_first_rank()
    core: Any = getattr(getattr(paddle, "base", None), "core", None)
    real = getattr(core, CONNECT, None)
    if port is None or real is None:
        return

    def connect(*args: Any, **kwargs: Any) -> Any:
        wait_for(port)
        try:
            return real(*args, **kwargs)
        except BaseException as error:
            leave_no_frame(error)
            raise

    setattr(core, CONNECT, unseen(connect))


def port_of_first_rank() -> int | None:
    """The port that the first rank opens on this machine; None: this is that rank, or no rank, or the first
    one is elsewhere."""
    if os.environ.get("PADDLE_NNODES") != "1" or os.environ.get("PADDLE_TRAINER_ID", "0") == "0":
        return None
    port = os.environ.get("PADDLE_MASTER", "").rpartition(":")[2]
    if not port.isdigit():
        return None
    return int(port)


def wait_for(port: int) -> None:
    """Until somebody listens on a port of this machine, or has not for too long."""
    until = monotonic() + AT_MOST
    while not is_open(port) and monotonic() < until:
        sleep(EVERY)


def is_open(port: int) -> bool:
    """Whether somebody listens there, by the kernel's account: nobody is disturbed by the question."""
    ending = f":{port:04X}"
    for path in SOCKETS:
        try:
            with open(path, encoding="ascii") as file:
                rows = file.readlines()[1:]
        except OSError:
            continue
        for row in rows:
            _number, local, _remote, state = row.split()[:4]
            if state == LISTENING and local.endswith(ending):
                return True
    return False
