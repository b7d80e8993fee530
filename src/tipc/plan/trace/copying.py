"""A cheap copy of a repository: every small text file, every name, and none of the weight."""

from __future__ import annotations

import os
import shutil
import stat

SKIPPED = {
    ".git",
    ".hg",
    ".svn",
    ".tipc",
    "__pycache__",
    "node_modules",
    ".venv",
    "venv",
    ".mypy_cache",
    ".tox",
}
WHOLE = 256 * 1024  # larger files become empty ones of the same size
MOST_ENTRIES = 60_000


def copy_tree(source: str, target: str) -> int:
    """Copy ``source`` to ``target`` and return how many entries were left out because there are too many.

    Symbolic links stay links. A file above 256 KiB keeps its name and size, but holds only zeros and needs no
    room. What cannot be read is left out, as the script could not read it either.
    """
    budget = MOST_ENTRIES
    left_out = 0
    pending = [(source, target)]
    while pending:
        here, there = pending.pop()
        os.makedirs(there, exist_ok=True)
        try:
            entries = list(os.scandir(here))
        except OSError:
            continue
        for entry in entries:
            if entry.name in SKIPPED:
                continue
            budget -= 1
            if budget < 0:
                left_out += 1
                continue
            copy = f"{there}/{entry.name}"
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), copy)
            elif entry.is_dir():
                pending.append((entry.path, copy))
            elif entry.is_file():
                _copy_file(entry.path, copy, entry.stat())
    return left_out


def _copy_file(source: str, target: str, status: os.stat_result) -> None:
    try:
        if status.st_size <= WHOLE:
            shutil.copyfile(source, target)
        else:
            with open(target, "wb") as placeholder:
                placeholder.truncate(status.st_size)
        os.chmod(target, stat.S_IMODE(status.st_mode) | stat.S_IRUSR | stat.S_IWUSR)
    except PermissionError:
        return
