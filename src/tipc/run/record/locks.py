"""One writer a run, and one run at a time in an output directory: two would take each other's files for
their own.

A record lock belongs to a process alone: a forked child that outlives it does not hold it, and it goes when
the process dies, however it dies. A file system that cannot lock is refused: to go on would be a gamble.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tipc.errors import EnvironmentProblem, UsageError, wording
from tipc.plan.model import Plan
from tipc.run.record.disk import disk_problem

NAME = ".tipc.lock"
HELD = (errno.EACCES, errno.EAGAIN)


@contextmanager
def output_locks(plans: Sequence[Plan]) -> Iterator[None]:
    """Hold the directories that the plans' results go to; UsageError if another run holds one."""
    folders = set()
    for plan in plans:
        if plan.results_log:
            folders.add(os.path.normpath(Path(plan.repo, plan.results_log).parent))
    with ExitStack() as stack:
        for folder in sorted(folders):
            try:
                os.makedirs(folder, exist_ok=True)
                descriptor = take_lock(Path(folder, NAME), "another tipc run works in this directory")
            except OSError as error:
                raise disk_problem(error, Path(folder), begun=False) from error
            stack.callback(os.close, descriptor)
        yield


def take_lock(path: Path, message: str) -> int:
    """Lock a file, made if it is not there; its descriptor. UsageError with the message if it is held."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno in HELD:
            raise UsageError(message, path=str(path.parent), remedy="wait for it, or end it") from error
        raise EnvironmentProblem(
            wording(
                "this file system has no locks ({strerror}), so two runs could spoil each other's files",
                strerror=error.strerror,
            ),
            path=str(path.parent),
            remedy="a local disk: TIPC_HOME=DIR for the runs, a copy of the repository for its outputs",
        ) from error
    return descriptor


def is_locked(path: Path) -> bool:
    """Whether a live process holds the lock."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in HELD
    finally:
        os.close(descriptor)
    return False
