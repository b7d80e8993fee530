"""Which files below a directory are TIPC configs."""

from __future__ import annotations

import os

from tipc.config.identify import is_config
from tipc.errors import UsageError
from tipc.suggestions import path_meant

SKIPPED = ("venv", "node_modules", "__pycache__", "output", "build")


def config_files(arguments: list[str]) -> list[str]:
    """The files named, and the configs below the directories named; each once, in order."""
    found: dict[str, None] = {}
    for argument in arguments:
        if os.path.isdir(argument):
            below = list(map(os.path.normpath, configs_below(argument)))
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


def configs_below(directory: str) -> list[str]:
    """The configs below a directory, by name. Folders of tools and of results are not looked into."""
    found = []
    for here, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in SKIPPED]
        for name in names:
            path = os.path.join(here, name)
            if name.endswith(".txt") and is_config(path):
                found.append(path)
    return sorted(found)
