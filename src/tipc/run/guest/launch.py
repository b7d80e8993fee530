"""How a step begins: own session, log, directory, signals; then its program, or this interpreter as a script.

It is a fork that says what it needs to say to the kernel and executes the program, or, warm, stays.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Iterator
from typing import Any, NoReturn

from tipc.run.guest.hearing import VARIABLE
from tipc.run.guest.proctree import die_with_parent

CANNOT_EXECUTE = 126
NOT_FOUND = 127
NOT_OURS = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores them, and that would be inherited


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


class Extend(BaseException):
    """Unwinds a fork of a server to the top of the program, where it becomes a server with more packages."""

    def __init__(self, packages: list[str], control: socket.socket) -> None:
        super().__init__()
        self.packages = packages
        self.control = control  # on which it is asked from then on


def open_log(request: dict[str, Any]) -> int:
    """The log, emptied, as a descriptor."""
    log = request["log"]
    # Appending: a program that opens /dev/stderr anew must not write over what is there.
    # Not blocking: a pipe that nobody reads is refused instead of waited for.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NONBLOCK
    try:
        try:
            output = os.open(log, flags, 0o666)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(log), exist_ok=True)
            output = os.open(log, flags, 0o666)
    except OSError as error:
        raise CannotStart(f"the log {log} cannot be written: {error.strerror}") from error
    os.set_blocking(output, True)
    return output


def enter_directory(request: dict[str, Any]) -> None:
    """Go where the step wants to begin."""
    try:
        os.chdir(request["cwd"])
    except OSError as error:
        raise CannotStart(f"the directory {request['cwd']} cannot be entered: {error.strerror}") from error


def spawn(request: dict[str, Any]) -> int:
    """Start the program that the request names, as a child of this process; its pid."""
    keeper = os.getpid()
    readable, writable = os.pipe()  # closed by the program's start; until then it takes why there is none
    pid = os.fork()
    if pid == 0:
        try:
            enter(request, keeper)
            replace_process(request, request.get("address", ""))
        except CannotStart as error:
            os.write(writable, json.dumps({"why": error.why, "code": error.code}).encode())
        finally:
            os._exit(CANNOT_EXECUTE)
    os.close(writable)
    wait_for_start(pid, readable)
    return pid


def wait_for_start(pid: int, readable: int) -> None:
    """Wait until the other end of a pipe is closed; CannotStart if something was written there first."""
    with open(readable, "rb") as pipe:
        failure = pipe.read()
    if failure:
        os.waitpid(pid, 0)
        raise CannotStart(**json.loads(failure))


def cold_command(request: dict[str, Any], address: str) -> tuple[list[str], dict[str, str]]:
    """What a fresh process is given: the command, with the witness in it if it can reach us."""
    if not address:
        return request["argv"], request["env"]
    return request["cold_argv"], {**request["env"], VARIABLE: address}


def find(program: str, env: dict[str, str]) -> str:
    """The file that a program's name stands for, by the PATH of the step and not by ours."""
    if os.path.dirname(program):
        return program
    for folder in os.get_exec_path(env):
        path = os.path.join(folder, program)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    raise FileNotFoundError(program)


def enter(request: dict[str, Any], keeper: int) -> None:
    """In a fork: a session of its own, the log, the directory, the signals that a fresh process has.

    It is killed with its keeper: also when everything above it is killed in the same instant, and nobody is
    left who could end it.
    """
    os.setsid()
    die_with_parent(keeper)
    output = open_log(request)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for descriptor in (nothing, output):
        if descriptor > 2:
            os.close(descriptor)
    enter_directory(request)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def stay(request: dict[str, Any], keeper: int) -> NoReturn:
    """In a fork: stay this interpreter, and become a script."""
    enter(request, keeper)
    raise Become(request)


def replace_process(request: dict[str, Any], address: str) -> NoReturn:
    """Execute the program, here and now."""
    for number in NOT_OURS:
        signal.signal(number, signal.SIG_DFL)
    argv, env = cold_command(request, address)
    with cannot_execute(argv[0]):
        os.execve(find(argv[0], env), argv, env)


@contextlib.contextmanager
def cannot_execute(program: str) -> Iterator[None]:
    """What the system says of a program that it will not run, as CannotStart."""
    try:
        yield
    except FileNotFoundError as error:
        raise CannotStart(f"no such program: {program}", NOT_FOUND) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise CannotStart(f"{program} cannot be executed: {why}") from error
