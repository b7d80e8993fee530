"""Interpreters that a ``prepare.sh`` calls and this machine has not: told from its text, nothing is run.

The plan runs another program where the config's ``python3.7`` is not there; a script does not.
"""

from __future__ import annotations

import re
from pathlib import Path

from tipc.bounded import read_bounded_text
from tipc.command import is_python
from tipc.plan.model import Plan
from tipc.plan.prepare import DECLARED, SCRIPT
from tipc.plan.target.interpreter import find_program
from tipc.run.prepare.removals import commands

_ASSIGNED = re.compile(r"(\w*python\w*)=(.*)", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


def absent_interpreters(plan: Plan) -> list[str]:
    """The interpreters that the script calls for this mode and model, and that are not on PATH."""
    repo = Path(plan.repo)
    if (repo / DECLARED).is_file() or plan.interpreter is None:
        return []
    try:
        text = read_bounded_text(repo / SCRIPT, "replace")
    except OSError:
        return []
    found: dict[str, None] = {}
    values: dict[str, str] = {}  # of the variables that are named like an interpreter
    for command in commands(text, plan.mode, plan.model):
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


def _program_of(command: list[str], values: dict[str, str]) -> str:
    """The program that a command starts; empty where that cannot be told."""
    word = command[0]
    if word == "eval" and len(command) > 1:
        word = command[1].split(" ")[0]
    variable = _VARIABLE.fullmatch(word)
    if variable:
        return values.get(variable[1], "")
    return word
