"""Which files below a directory are TIPC configs."""

from __future__ import annotations

import os
from pathlib import Path

from tipc.errors import UsageError

SKIPPED = {".git", ".hg", ".svn", ".tipc", ".venv", "venv", "node_modules", "__pycache__", "output", "build"}
HEAD = 400  # bytes in which a config shows what it is


def config_files(arguments: list[str]) -> list[Path]:
    """The files named, and the configs below the directories named; each once, in order."""
    found: dict[Path, None] = {}
    for argument in arguments:
        path = Path(argument)
        if path.is_dir():
            below = list(_below(path))
            if not below:
                raise UsageError("there is no TIPC config file in this directory", path=argument)
            found.update(dict.fromkeys(below))
        elif path.exists():
            found[path] = None
        else:
            import glob

            matches = sorted(glob.glob(argument, recursive=True)) if glob.has_magic(argument) else []
            if not matches:
                raise UsageError("there is no such file or directory", path=argument)
            found.update(dict.fromkeys(config_files(matches)))
    return list(found)


def _below(directory: Path) -> list[Path]:
    found = []
    for here, folders, files in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        found += [Path(here, name) for name in sorted(files) if name.endswith(".txt")]
    return [path for path in found if looks_like_config(path)]


def looks_like_config(path: Path) -> bool:
    """By its first lines: a ``===…params===`` header or a ``model_name:``; an empty one by its name."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    if not head.strip():
        return "configs" in path.parts and ("train" in path.name or "infer" in path.name)
    lines = head.lstrip(b"\xef\xbb\xbf\r\n \t").split(b"\n")[:4]
    return lines[0].startswith(b"=====") or any(line.startswith(b"model_name:") for line in lines)
