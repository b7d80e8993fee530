"""What the forked child does first: own session, log, directory, signals; then it becomes the program."""

from __future__ import annotations

import os
import signal
from typing import Any, NoReturn

from tipc.run.warm.proctree import die_with_parent

CANNOT_EXECUTE = 126
NOT_FOUND = 127


class CannotStart(Exception):
    """The step's program never ran: why, and the exit code that a shell would give."""

    def __init__(self, why: str, code: int = CANNOT_EXECUTE) -> None:
        super().__init__(why)
        self.why = why
        self.code = code


def settle(request: dict[str, Any]) -> None:
    """Leave the parent's session, open the log as output, /dev/null as input, and go to the directory."""
    os.setsid()
    die_with_parent()
    log = request["log"]
    try:
        os.makedirs(os.path.dirname(log), exist_ok=True)
        # Appending: a program that opens /dev/stderr anew must not write over what is there.
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o666)
    except OSError as error:
        raise CannotStart(f"the log {log} cannot be written: {error.strerror}") from error
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for descriptor in (nothing, output):
        if descriptor > 2:
            os.close(descriptor)
    try:
        os.chdir(request["cwd"])
    except OSError as error:
        raise CannotStart(f"the directory {request['cwd']} cannot be entered: {error.strerror}") from error


def execute(request: dict[str, Any]) -> NoReturn:
    """Become the program that the request names; it never sees that Python was here before."""
    settle(request)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and that would be inherited
        signal.signal(number, signal.SIG_DFL)
    argv = request["argv"]
    try:
        os.execvpe(argv[0], argv, request["env"])
    except FileNotFoundError as error:
        raise CannotStart(f"no such program: {argv[0]}", NOT_FOUND) from error
    except (OSError, ValueError) as error:
        raise CannotStart(
            f"{argv[0]} cannot be executed: {getattr(error, 'strerror', None) or error}"
        ) from error
