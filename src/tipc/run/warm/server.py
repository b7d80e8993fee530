"""Takes sockets and forks a keeper for each. A program: ``python server.py DESCRIPTOR``.

Started by ``tipc`` with its own interpreter (``-I -S``) it costs 10 ms and 8 MB once, and a step little more
than its fork and exec. It leaves when ``tipc`` does, after the last of its keepers.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys


def serve(requests: socket.socket) -> None:
    """Fork a keeper for every socket until the other side closes; then wait for those that still work."""
    from tipc.run.warm.keeper import drain, keep, wake_on_child
    from tipc.run.warm.launch import execute
    from tipc.run.warm.proctree import adopt_orphans
    from tipc.run.warm.wire import receive_socket

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
                keep(control, execute)
            control.close()
            keepers.add(pid)


def reap(keepers: set[int]) -> None:
    """Take the ended keepers. One that was killed leaves its tree to us: that is killed as well."""
    from tipc.run.warm.proctree import signal_tree

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


def main() -> None:
    """Serve on the socket whose number is the argument."""
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
    sys.path.insert(0, root)
    from tipc.run.warm import keeper, launch, proctree, usage, wire  # noqa: F401  (while the path is there)

    sys.path.remove(root)
    serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    main()
