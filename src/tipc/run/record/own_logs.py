"""The logs of a run that was read back: its own, and no other file of the machine.

A run may have come with a repository, or from another machine. Its journal names the log of each step, whose
end is shown, put into pages and handed to CI servers: a key of the user must not pass for a log.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from tipc.plan.model import Key
from tipc.run.record.results import StepResult

LOGS = "logs"


def with_own_logs(results: Mapping[Key, StepResult], directory: Path) -> dict[Key, StepResult]:
    """The results, each with its log only if that lies in the run's own folder of logs."""
    folder = os.path.abspath(directory / LOGS)
    found = {}
    for key, result in results.items():
        log = own_log(result.log, folder)
        if log != result.log:
            result = replace(result, log=log)
        found[key] = result
    return found


def own_log(told: str, folder: str) -> str:
    """The log as it lies in a folder of logs, which may have moved with its run; empty if it does not."""
    if not told:
        return ""
    path = os.path.normpath(told)
    if not path.startswith(f"{folder}/"):
        run = os.path.basename(os.path.dirname(folder))
        inside = path.rpartition(f"/{run}/{LOGS}/")[2]
        if inside == path:
            return ""
        path = f"{folder}/{inside}"
    if not _is_inside(os.path.dirname(path), folder):
        return ""
    try:
        is_link = stat.S_ISLNK(os.lstat(path).st_mode)
    except (OSError, ValueError):  # not there any more, or a name that no file can have
        is_link = False
    if is_link:
        return ""
    return path


@lru_cache(maxsize=4096)
def _is_inside(place: str, folder: str) -> bool:
    """Whether no link leads elsewhere, from the folder of logs on."""
    try:
        real = f"{os.path.realpath(os.path.dirname(folder))}/{LOGS}"
        return f"{os.path.realpath(place)}/".startswith(f"{real}/")
    except ValueError:  # a name that no file can have
        return False
