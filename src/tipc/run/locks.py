"""One run at a time in an output directory: two would take each other's files for their own."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tipc.errors import UsageError
from tipc.plan.model import Plan
from tipc.run.journal import disk_problem

NAME = ".tipc.lock"


@contextmanager
def output_locks(plans: Sequence[Plan]) -> Iterator[None]:
    """Hold the directories that the plans' results go to; UsageError if another run holds one."""
    folders = {
        os.path.normpath(Path(plan.repo, plan.results_log).parent) for plan in plans if plan.results_log
    }
    with ExitStack() as stack:
        for folder in sorted(folders):
            descriptor = _open(folder)
            stack.callback(os.close, descriptor)
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                remedy = "wait for it, or end it"
                raise UsageError(
                    "another tipc run works in this directory", path=folder, remedy=remedy
                ) from error
        yield


def _open(folder: str) -> int:
    try:
        os.makedirs(folder, exist_ok=True)
        return os.open(os.path.join(folder, NAME), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise disk_problem(error, Path(folder)) from error
