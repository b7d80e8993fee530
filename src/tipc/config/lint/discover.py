"""Which files below a directory are TIPC configs."""

from __future__ import annotations

import os

from tipc.errors import UsageError

SKIPPED = {".git", ".hg", ".svn", ".tipc", ".venv", "venv", "node_modules", "__pycache__", "output", "build"}
HEAD = 400  # bytes in which a config shows what it is


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

            matches = sorted(glob.glob(argument, recursive=True)) if glob.has_magic(argument) else []
            if not matches:
                raise UsageError("there is no such file or directory", path=argument)
            found.update(dict.fromkeys(config_files(matches)))
    return list(found)


def _below(directory: str) -> list[str]:
    found = []
    for here, folders, files in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        found += [os.path.normpath(f"{here}/{name}") for name in sorted(files) if name.endswith(".txt")]
    return [path for path in found if looks_like_config(path)]


def looks_like_config(path: str) -> bool:
    """By its first lines: a ``===…params===`` header or a ``model_name:``; an empty one by its name."""
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    if not head.strip():
        folder, name = os.path.split(path)
        return "configs" in folder.split(os.sep) and ("train" in name or "infer" in name)
    lines = head.lstrip(b"\xef\xbb\xbf\r\n \t").split(b"\n")[:4]
    return lines[0].startswith(b"=====") or any(line.startswith(b"model_name:") for line in lines)
