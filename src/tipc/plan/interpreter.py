"""Which interpreter the ``python:`` line stands for on this machine."""

from __future__ import annotations

import os
import sys
from functools import lru_cache

GENERIC = ("python", "python3")


def find_program(name: str) -> str | None:
    """The program of that name on PATH, or the path itself where it is one that can be run."""
    return _find(name, os.environ.get("PATH", os.defpath))


@lru_cache(maxsize=64)
def _find(name: str, search: str) -> str | None:
    if os.sep in name:
        return name if os.access(name, os.X_OK) else None
    for directory in search.split(os.pathsep):
        path = os.path.join(directory, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            real = _behind_shim(directory, name)
            if real:
                return real
    return None


def _behind_shim(directory: str, name: str) -> str | None:
    """The program itself; of pyenv's stand-in, which is there for every version, that of the active one."""
    root, last = os.path.split(directory)
    versions = os.path.join(root, "versions")
    if last != "shims" or not os.path.isdir(versions):
        return os.path.join(directory, name)
    active = os.environ.get("PYENV_VERSION", "").split(":")
    if active == [""]:
        try:
            with open(os.path.join(root, "version"), encoding="utf-8") as file:
                active = file.read().split()
        except OSError:
            active = []
    programs = [os.path.join(versions, version, "bin", name) for version in active]
    return next((path for path in programs if os.access(path, os.X_OK)), None)


def resolve(name: str, override: str | None) -> tuple[str, str]:
    """What to run for an interpreter's name, and a note where that is not what the config says.

    ``python`` and ``python3`` mean the virtual environment that tipc runs in, if it runs in one.
    """
    if override:
        return override, f"`{name}` is run as {override} (--python)" if override != name else ""
    if name in GENERIC:
        if sys.prefix != sys.base_prefix:
            return sys.executable, ""
        return find_program(name) or sys.executable, ""
    if find_program(name):
        return name, ""
    return (
        sys.executable,
        f"`{name}` is not on this machine: {sys.executable} runs instead (--python names another)",
    )
