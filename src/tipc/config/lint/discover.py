"""Which files below a directory are TIPC configs."""

from __future__ import annotations

import os

from tipc.config.identify import is_config
from tipc.errors import UsageError
from tipc.meant import path_meant

SKIPPED = {".git", ".hg", ".svn", ".tipc", ".venv", "venv", "node_modules", "__pycache__", "output", "build"}


def config_files(arguments: list[str]) -> list[str]:
    """The files named, and the configs below the directories named; each once, in order."""
    found: dict[str, None] = {}
    for argument in arguments:
        if os.path.isdir(argument):
            below = _below(argument)
            if not below:
                raise UsageError("there is no TIPC config file in this directory", path=argument)
            found.update(dict.fromkeys(below))
        elif os.path.exists(argument):
            found[os.path.normpath(argument)] = None
        else:
            import glob

            from tipc.config.model_names import by_any_name

            matches = []
            if glob.has_magic(argument):
                matches = sorted(glob.glob(argument, recursive=True))
            if os.path.exists(by_any_name(argument)):
                matches = [by_any_name(argument)]
            if not matches:
                raise UsageError(
                    "there is no such file or directory", path=argument, remedy=path_meant(argument)
                )
            found.update(dict.fromkeys(config_files(matches)))
    return list(found)


def _below(directory: str) -> list[str]:
    found = []
    for here, folders, files in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            path = os.path.normpath(f"{here}/{name}")
            if name.endswith(".txt") and is_config(path):
                found.append(path)
    return found
