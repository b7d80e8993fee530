"""Takes sockets and forks a keeper for each.

Started by ``tipc`` with its own interpreter (``-I -S``) a server costs 10 ms and 8 MB once, and a step little
more than its fork and exec. Started ``warm`` by a config's interpreter it imports paddle first, and a step is
a fork of it that runs the script. It leaves when ``tipc`` does, after the last of its keepers.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from tipc.run.guest import rendezvous
from tipc.run.guest.hearing import VARIABLE
from tipc.run.guest.installed import folders, installed_in
from tipc.run.guest.keeper import keep
from tipc.run.guest.launch import Become, Extend, replace_process
from tipc.run.guest.packages import import_packages, packages_in_use
from tipc.run.guest.preload import Preloaded
from tipc.run.guest.proctree import adopt_orphans, die_with_parent, signal_tree
from tipc.run.guest.ranks import (
    RankServer,
    can_be_forked,
    expect_rank,
    fork_rank_server,
    serve_ranks,
    set_up_logger_again,
)
from tipc.run.guest.recording import CannotPreload
from tipc.run.guest.script import become, become_launcher, hide_callers
from tipc.run.guest.waking import drain, wake_on_child
from tipc.run.guest.wire import receive_socket, send
from tipc.run.guest.witness.cold import AfterImport, watch_children
from tipc.run.guest.witness.telling import Telling, connect
from tipc.run.guest.witness.witness import Witness

PROGRAM = os.path.join(os.path.dirname(__file__), "server.py")


def main(argv: list[str]) -> Callable[[], object]:
    """Serve on the socket whose number is the argument. Returns in a warm child only: the script to run."""
    hear_again()
    requests = socket.socket(fileno=int(argv[1]))
    if argv[2:] != ["warm"]:
        serve(requests, warm=False)
    send(requests, {"installed": installed_in(folders())})
    preloaded = preload(requests)
    try:
        serve_and_extend(requests, preloaded)
    except Become as wanted:
        request, preloaded.notes = wanted.request, wanted.notes
        wanted.with_traceback(None)  # else its frames would keep the script's globals from ending in time
    if request["launched"]:
        return launcher(request, preloaded)
    return script(request, preloaded)


def hear_again() -> None:
    """Undo that tipc was started to ignore signals: by nohup, or by a shell for a job in the background.

    Steps inherit them from here: one that ignored Ctrl-C would behave unlike itself. Tipc goes on ignoring
    them, and we have a session of our own, which no terminal hangs up.
    """
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, usual)


def serve_and_extend(requests: socket.socket, preloaded: Preloaded) -> None:
    """Serve; a fork that is asked for more packages imports them and serves as well."""
    try:
        serve(requests, warm=True)
    except Extend as wanted:
        requests, names = wanted.control, wanted.packages
        wanted.with_traceback(None)
    extend(requests, names, preloaded)
    serve(requests, warm=True)


def extend(requests: socket.socket, names: list[str], preloaded: Preloaded) -> None:
    """Import packages, and say so; or say which must not be imported here, and leave."""
    die_with_parent(os.getppid())
    send(requests, {"pid": os.getpid()})
    path = list(sys.path)
    if sys.path and os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(PROGRAM)):
        del sys.path[0]  # our own directory, where no script looks
    try:
        preloaded.packages = import_packages(preloaded, names)
    except CannotPreload as problem:
        send(requests, {"refused": problem.modules, "why": problem.why})
        os._exit(0)
    sys.path[:] = path
    send(requests, {"paddle": preloaded.version})


def serve(requests: socket.socket, *, warm: bool) -> None:
    """Fork a keeper for every socket until the other side closes; then wait for those that still work."""
    adopt_orphans()
    wake = wake_on_child()
    keepers: set[int] = set()
    poll = select.poll()
    poll.register(requests, select.POLLIN)
    poll.register(wake, select.POLLIN)
    gc.freeze()
    listening = True
    while listening or keepers:
        ready = [descriptor for descriptor, _event in poll.poll()]
        if wake in ready:
            drain(wake)
            reap(keepers)
        if requests.fileno() in ready:
            control = receive_socket(requests)
            if control is None:
                poll.unregister(requests)
                listening = False
                continue
            pid = os.fork()
            if pid == 0:
                os.close(wake)
                requests.close()
                keep(control, warm=warm)
            control.close()
            keepers.add(pid)
    os._exit(0)


def reap(keepers: set[int]) -> None:
    """Take the ended keepers. One that was killed leaves its tree to us: that is killed as well."""
    orphans = False
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            break
        orphans = orphans or status != 0 or pid not in keepers
        keepers.discard(pid)
    if orphans:
        signal_tree(os.getpid(), signal.SIGKILL, frozenset(keepers))


def preload(requests: socket.socket) -> Preloaded:
    """Import paddle, and say so. What the import prints goes to a file of tipc's, our output."""

    def printed() -> bytes:
        sys.stdout.flush()
        sys.stderr.flush()
        return os.pread(1, 1 << 20, 0)

    preloaded = Preloaded(printed)
    if preloaded.device:
        sys.exit(f"importing paddle has opened a device ({preloaded.device}), which a fork cannot use")
    send(requests, {"paddle": preloaded.version})
    return preloaded


def script(request: dict[str, Any], preloaded: Preloaded) -> Callable[[], object]:
    """In the forked child: the script of a request, ready to be called; or the same command, cold."""
    enter_environment(request)
    telling = connect(request["address"]) if "address" in request else None
    start_again = restart(request, preloaded, telling)
    preloaded.differs = start_again
    if preloaded.packages is not None:
        preloaded.packages.differs = start_again
    try:
        run = become(request["argv"][request["script_at"] :], PROGRAM)
    except (OSError, SyntaxError, ValueError):  # whatever Python itself says about it is the right thing
        start_again({})
        raise
    hide_callers(PROGRAM)
    witness = watch(telling, preloaded) if telling else None
    then = preloaded.imported

    def imported() -> None:
        preloaded.close_notes()
        then()
        if witness:
            witness.attach()

    preloaded.imported = imported
    preloaded.hide()
    return run


def launcher(request: dict[str, Any], preloaded: Preloaded) -> Callable[[], object]:
    """In the forked child: the launcher of a request, ready to be called; or one of its ranks."""
    beside = fork_rank_server()
    if not isinstance(beside, RankServer):
        try:
            serve_ranks(beside)
        except Become as wanted:
            rank = wanted.request
            wanted.with_traceback(None)
        return script_of_rank(rank, preloaded)
    enter_environment(request)
    os.environ[VARIABLE] = request.get("address", "")  # for the ranks, as it is in a fresh process
    if not os.environ[VARIABLE]:
        del os.environ[VARIABLE]
    preloaded.differs = restart(request, preloaded, None)
    if preloaded.packages is not None:
        preloaded.packages.differs = preloaded.differs
    preloaded.imported = preloaded.close_notes
    run = become_launcher(request.get("cold_argv", request["argv"])[2:], PROGRAM)
    hide_callers(PROGRAM)
    if can_be_forked(preloaded):
        beside.attach()
    preloaded.hide()
    return run


def script_of_rank(rank: dict[str, Any], preloaded: Preloaded) -> Callable[[], object]:
    """In the fork of a rank server: the script of a rank."""
    expect_rank(preloaded, rank["env"])

    def imported() -> None:
        set_up_logger_again(preloaded)
        rendezvous.attach(preloaded.modules["paddle"])

    preloaded.imported = imported
    return script(rank, preloaded)


def enter_environment(request: dict[str, Any]) -> None:
    """The variables and the command line of a request."""
    os.environ.clear()
    os.environ.update(request["env"])
    if hasattr(sys, "orig_argv"):
        sys.orig_argv = list(request["argv"])


def restart(
    request: dict[str, Any], preloaded: Preloaded, telling: Telling | None
) -> Callable[[dict[str, str | None]], None]:
    """A function that becomes a fresh interpreter: nothing that was printed so far counts."""
    printed = os.fstat(1).st_size

    def start_again(needs: dict[str, str | None]) -> None:
        if preloaded.notes >= 0:
            os.write(preloaded.notes, json.dumps(needs).encode() + b"\n")
        elif telling is not None:
            telling.begins_again(needs)
        os.ftruncate(1, printed)
        os.lseek(1, printed, os.SEEK_SET)
        replace_process(request, telling.hand_on() if telling else "")

    return start_again


def watch(telling: Telling, preloaded: Preloaded) -> Witness:
    """The witness of a forked child; paddle is handed to it when the script imports it."""
    witness = Witness(telling)
    witness.begin()
    if "cv2" in preloaded.modules:
        witness.images.attach_cv2(preloaded.modules["cv2"])
    else:
        sys.meta_path.insert(0, AfterImport("cv2", witness.images.attach_cv2))
    watch_children(witness)
    if preloaded.packages is None:
        known = set(sys.modules)  # with all that is hidden in a moment
        witness.at_work = lambda: telling.packages(list(packages_in_use(known)))
    return witness
