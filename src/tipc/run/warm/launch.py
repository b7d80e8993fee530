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


class Become(BaseException):
    """Unwinds the forked child to the top of the program, where it becomes the script of the request."""

    def __init__(self, request: dict[str, Any]) -> None:
        super().__init__()
        self.request = request
        self.notes = -1  # a descriptor: what is written there reaches the keeper


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


def stay(request: dict[str, Any]) -> NoReturn:
    """Stay this interpreter, with the signals that a fresh one has."""
    settle(request)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    raise Become(request)


def execute(request: dict[str, Any]) -> NoReturn:
    """Become the program that the request names; it never sees that Python was here before."""
    settle(request)
    replace_process(request)


def replace_process(request: dict[str, Any]) -> NoReturn:
    """Execute the program, here and now."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and that would be inherited
        signal.signal(number, signal.SIG_DFL)
    argv = request["cold_argv"]
    try:
        os.execvpe(argv[0], argv, request["env"])
    except FileNotFoundError as error:
        raise CannotStart(f"no such program: {argv[0]}", NOT_FOUND) from error
    except (OSError, ValueError) as error:
        raise CannotStart(
            f"{argv[0]} cannot be executed: {getattr(error, 'strerror', None) or error}"
        ) from error
