"""How the processes of ``paddle.distributed.launch`` are forks of a warm server, as the launcher itself is.

::

    keeper ──fork──▶ launcher ──fork──▶ rank server ──fork──▶ (ends at once) ──fork──▶ rank
                        └────────────── the rank's parent, as the kernel has it ───────┘

The rank server is forked before the launcher begins: a copy of the warm interpreter without threads, in which
nothing of the launcher has happened. The launcher's ``subprocess.Popen`` asks it for what would be
``python -u script.py``; everything else is started as ever, and so are ranks when it does not answer. A rank
is handed to the launcher as a child of its own, which it waits for, signals and polls as any other.
"""

from __future__ import annotations

import functools
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from tipc.run.guest.hearing import PROGRAM, VARIABLE
from tipc.run.guest.launch import Become
from tipc.run.guest.preload import Preloaded
from tipc.run.guest.proctree import adopt_orphans, die_with_parent
from tipc.run.guest.script import unseen
from tipc.run.guest.wire import receive, receive_descriptors, send, send_descriptors

# What the launcher sets for each rank on a CPU, and paddle's own code does not read while it is imported.
RANK_VARIABLES = frozenset(
    (
        "FLAGS_selected_cpus", "PADDLE_AUTO_CLUSTER", "PADDLE_BACKUP_ENV_PATH", "PADDLE_CURRENT_ENDPOINT",
        "PADDLE_DISTRI_BACKEND", "PADDLE_GLOBAL_RANK", "PADDLE_GLOBAL_SIZE", "PADDLE_LOCAL_RANK",
        "PADDLE_LOCAL_SIZE", "PADDLE_LOG_DIR", "PADDLE_MASTER", "PADDLE_NNODES", "PADDLE_RANK_IN_NODE",
        "PADDLE_TRAINERS_NUM", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_TRAINER_ID",
    )
)  # fmt: skip
# The one that is read, and by whom: what that does is done again in a rank (``set_up_logger_again``).
RANK_LOGGER = ("PADDLE_TRAINER_ID", "paddle.hapi.logger")
# How ``Popen`` starts a process when it was asked for nothing special.
PLAIN: dict[str, Any] = {
    "executable": None, "preexec_fn": os.setsid, "pass_fds": (), "shell": False, "p2cread": -1, "c2pread": -1,
    "errread": -1, "gid": None, "gids": None, "uid": None, "umask": -1, "start_new_session": False,
    "process_group": -1,
}  # fmt: skip
PID = struct.Struct("i")  # of a rank


def can_be_forked(preloaded: Preloaded) -> bool:
    """Whether this paddle reads nothing at import that a launcher sets, but for what can be done again."""
    for name, reader in preloaded.read:
        if name in RANK_VARIABLES and (name, reader) != RANK_LOGGER:
            return False
    return True


class RankServer:
    """The launcher's side: asks for ranks."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.running: set[int] = set()  # descriptors on the ranks that have not ended
        self.knows_all = True  # of the processes that were started

    def attach(self) -> None:
        """From now on, ``Popen`` asks the rank server first, and nobody sleeps past the end of all ranks."""
        import inspect
        import subprocess

        popen: Any = subprocess.Popen
        real = popen._execute_child
        signature = inspect.signature(real)
        if not {"args", "preexec_fn", "cwd", "env", "c2pwrite", "errwrite"} <= set(signature.parameters):
            return  # a Python that does it otherwise

        @functools.wraps(real)
        def _execute_child(process: Any, *given: Any, **named: Any) -> None:
            asked = signature.bind(process, *given, **named).arguments
            pid = None
            if is_rank(asked):
                pid = self.start(asked)
            if pid is None:
                self.knows_all = False
                real(process, *given, **named)
            else:
                process.pid = pid
                process._child_created = True

        popen._execute_child = unseen(_execute_child)
        time.sleep = functools.partial(self.sleep, time.sleep)

    def start(self, asked: Mapping[str, Any]) -> int | None:
        """The pid of a rank, which is a child of this process; None: there is none, start it as ever."""
        request = {
            "argv": list(asked["args"]),
            "env": dict(asked["env"]),
            "cwd": asked["cwd"] or os.getcwd(),
        }
        answer, answering = os.pipe()  # where the rank tells its pid; closed without: there is none
        adopt_orphans()
        try:
            send_descriptors(self.sock, [asked["c2pwrite"], asked["errwrite"], answering])
            send(self.sock, request)
        except (OSError, TypeError, ValueError):  # it has gone; or something that is no text
            self.sock.close()
        os.close(answering)
        with open(answer, "rb") as pipe:
            told = pipe.read(PID.size)
        adopt_orphans(False)
        if not told:
            return None
        pid: int = PID.unpack(told)[0]
        try:
            self.running.add(os.pidfd_open(pid))
        except (AttributeError, OSError):  # a Python or a system that has no such thing
            self.knows_all = False
        return pid

    def sleep(self, usual: Callable[[float], None], seconds: float) -> None:
        """The launcher looks once a second whether its ranks have ended: when all have, it is woken."""
        self._take_ended(0.0)
        if not self.running or not self.knows_all:
            usual(seconds)
            return
        until = time.monotonic() + seconds
        while self.running and time.monotonic() < until:
            self._take_ended(until - time.monotonic())

    def _take_ended(self, seconds: float) -> None:
        """Wait for a rank to end."""
        ended, _, _ = select.select(list(self.running), [], [], max(0.0, seconds))
        for descriptor in ended:
            self.running.discard(descriptor)
            os.close(descriptor)


def is_rank(asked: Mapping[str, Any]) -> bool:
    """Whether ``Popen`` was asked for what the launcher starts: a script, a log of its own, a session."""
    for name, value in PLAIN.items():
        if name in asked and asked[name] != value:
            return False
    args, env = asked["args"], asked["env"]
    if not isinstance(args, list) or not isinstance(env, Mapping):
        return False
    if min(asked["c2pwrite"], asked["errwrite"]) <= 2:
        return False  # a log that others write, too, could not be emptied when the rank must begin again
    return args[:2] == [sys.executable, "-u"] and len(args) > 2 and str(args[2]).endswith(".py")


def fork_rank_server() -> RankServer | socket.socket:
    """In the launcher: who can be asked for ranks. In the rank server: the socket on which it is asked."""
    ours, theirs = socket.socketpair()
    launcher = os.getpid()
    if os.fork() == 0:
        die_with_parent(launcher)
        ours.close()
        return theirs
    theirs.close()
    return RankServer(ours)


def serve_ranks(asked: socket.socket) -> None:
    """Fork ranks until the launcher has gone. Raises Become in each of them, and does not come back."""
    launcher = os.getppid()
    while True:
        descriptors = receive_descriptors(asked, 3)
        request = receive(asked) if descriptors else None
        if request is None:
            os._exit(0)
        waiting, go = os.pipe()
        between = os.fork()
        if between == 0:
            if os.fork():
                os._exit(0)
            os.close(go)
            asked.close()
            enter_rank(request, descriptors, launcher, waiting)
        for descriptor in (waiting, *descriptors):
            os.close(descriptor)
        os.waitpid(between, 0)
        os.close(go)  # from here on the rank is the launcher's child


def enter_rank(request: dict[str, Any], descriptors: list[int], launcher: int, waiting: int) -> None:
    """In the fork: wait until the launcher has it, then be what ``Popen`` makes of a process."""
    *outputs, answering = descriptors
    os.read(waiting, 1)
    if os.getppid() != launcher:
        os._exit(0)  # the launcher has gone, and nobody wants a rank any more
    os.close(waiting)
    try:
        os.setsid()
        os.chdir(request["cwd"])
    except OSError:
        os._exit(0)  # nothing was told: the launcher tries by itself and hears why
    for place, descriptor in enumerate(outputs, 1):
        os.dup2(descriptor, place)
        os.close(descriptor)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.write(answering, PID.pack(os.getpid()))
    os.close(answering)
    raise Become(as_request(request["argv"], request["env"]))


def as_request(argv: list[str], env: dict[str, str]) -> dict[str, Any]:
    """A rank as a keeper would have asked for it."""
    address = env.pop(VARIABLE, "")
    request: dict[str, Any] = {"argv": argv, "script_at": 2, "env": env}
    if argv[2] == PROGRAM:
        request["argv"] = [*argv[:2], *argv[3:]]
        if address:
            request.update(cold_argv=argv, address=address)
    return request


def expect_rank(preloaded: Preloaded, env: Mapping[str, str]) -> None:
    """What the launcher sets is no reason to import paddle again."""
    for name in RANK_VARIABLES:
        preloaded.before.pop(name, None)
        if name in env:
            preloaded.before[name] = env[name]


def set_up_logger_again(preloaded: Preloaded) -> None:
    """The log of paddle.hapi is shown by the first rank only, as it finds when it is imported."""
    import logging

    if RANK_LOGGER in preloaded.read:
        logging.getLogger("hapi").handlers.clear()
        preloaded.modules[RANK_LOGGER[1]].setup_logger()
