"""What a ``prepare.sh`` calls and steps do not run: told from its text, nothing is run.

The plan runs another program where the config's ``python3.7`` is not there; a script does not. And its
``pip`` is the one on PATH, whatever ``--python`` says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from tipc.bounded import read_bounded_text
from tipc.command import is_python
from tipc.plan.model import Plan
from tipc.plan.prepare import DECLARED, SCRIPT
from tipc.plan.target.interpreter import find_program
from tipc.run.prepare.removals import commands

PIPS = ("pip", "pip3")
_ASSIGNED = re.compile(r"(\w*python\w*)=(.*)", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


def absent_interpreters(plan: Plan) -> list[str]:
    """The interpreters that the script calls for this mode and model, and that are not on PATH."""
    if plan.interpreter is None:
        return []
    found: dict[str, None] = {}
    values: dict[str, str] = {}  # of the variables that are named like an interpreter
    for command in _commands(plan):
        assigned = _ASSIGNED.fullmatch(command[0])
        if assigned:
            # What is not a plain word comes out of the config, whose one interpreter is known.
            values[assigned[1]] = assigned[2]
            if "$" in assigned[2]:
                values[assigned[1]] = plan.interpreter.asked
            continue
        name = _program_of(command, values)
        if is_python(name) and find_program(name) is None:
            found[name] = None
    return list(found)


def pips_of_others(plan: Plan) -> list[str]:
    """The ``pip`` that the script installs with, where it is not of the interpreter that steps run."""
    if plan.interpreter is None:
        return []
    ours = _folder(plan.interpreter.program)
    found: dict[str, None] = {}
    for command in _commands(plan):
        if command[0] in PIPS and "install" in command:
            program = find_program(command[0]) or ""
            if program and _folder(program) != ours:
                found[program] = None
    return list(found)


def _commands(plan: Plan) -> Iterator[list[str]]:
    """The commands of the script for this mode and model; none where no script is run."""
    repo = Path(plan.repo)
    if (repo / DECLARED).is_file():
        return
    try:
        text = read_bounded_text(repo / SCRIPT, "replace")
    except OSError:
        return
    yield from commands(text, plan.mode, plan.model)


def _folder(program: str) -> str:
    """Where a program lies, which tells the environment; its links are of another one."""
    return os.path.realpath(os.path.dirname(find_program(program) or program))


def _program_of(command: list[str], values: dict[str, str]) -> str:
    """The program that a command starts; empty where that cannot be told."""
    word = command[0]
    if word == "eval" and len(command) > 1:
        word = command[1].split(" ")[0]
    variable = _VARIABLE.fullmatch(word)
    if variable:
        return values.get(variable[1], "")
    return word
