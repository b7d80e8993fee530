"""Which interpreter the ``python:`` line stands for on this machine, and why that one.

In this order: ``--python``; a path that the config names itself; the active environment (``VIRTUAL_ENV``,
``CONDA_PREFIX``); the name on PATH; where tipc has no paddle beside it, ``python3`` or ``python`` on PATH;
the interpreter of tipc. So a tipc that is installed as a tool (pipx, uv tool) runs what the user has
activated, or the machine's own Python.
"""

from __future__ import annotations

import os
import sys
from functools import cache, lru_cache
from importlib.machinery import PathFinder

from tipc.plan.model import Interpreter
from tipc.reasons import because

ENVIRONMENTS = ("VIRTUAL_ENV", "CONDA_PREFIX")
USUAL = ("python3", "python")


def find_program(name: str) -> str | None:
    """The program of that name on PATH, or the path itself where it is one that can be run."""
    return _find(name, os.environ.get("PATH", os.defpath))


@lru_cache(maxsize=64)
def _find(name: str, search: str) -> str | None:
    if os.sep in name:
        return name if os.path.isfile(name) and os.access(name, os.X_OK) else None
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
    for version in active:
        program = os.path.join(versions, version, "bin", name)
        if os.access(program, os.X_OK):
            return program
    return None


def resolve(name: str, override: str = "") -> Interpreter:
    """What to run for an interpreter's name."""
    if override:
        if os.sep in override:
            # As seen from where the call was made: steps and probes run in folders of their own.
            override = os.path.abspath(override)
        return Interpreter(name, override, because("python-option"))
    if os.sep in name and find_program(name):
        return Interpreter(name, name, because("python-named"))
    for variable in ENVIRONMENTS:
        program = _of_environment(os.environ.get(variable, ""), name)
        if program:
            return Interpreter(name, program, because("python-active", variable=variable))
    program = find_program(name) or ""
    if program:
        return Interpreter(name, program, because("python-on-path"))
    if not has_paddle_beside():
        for usual in USUAL:
            program = find_program(usual) or ""
            if program:
                return Interpreter(name, program, because("python-usual", usual=usual))
    return Interpreter(name, sys.executable, because("python-of-tipc"))


def _of_environment(directory: str, name: str) -> str:
    """The interpreter of an environment: by the config's name if it has that, else its ``python``."""
    if not directory:
        return ""
    for program in (name, "python"):
        path = os.path.join(directory, "bin", os.path.basename(program))
        if os.access(path, os.X_OK):
            return path
    return ""


def of_folder(path: str) -> str:
    """The interpreter of an environment that is named by its folder; empty where the path is no folder."""
    if not os.path.isdir(path):
        return ""
    return _of_environment(path, "python") or os.path.join(path, "bin", "python")


@cache
def has_paddle_beside() -> bool:
    """Whether paddle is installed for the interpreter of tipc."""
    return PathFinder.find_spec("paddle") is not None
