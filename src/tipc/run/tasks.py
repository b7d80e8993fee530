"""What is started for a step: its command and its environment, as an executor takes them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tipc.command import Command
from tipc.kinds import PREPARE
from tipc.plan.model import Plan, Step
from tipc.plan.shell_words import matching
from tipc.plan.target.interpreter import resolve
from tipc.run.executors.executor import Task


@dataclass(frozen=True)
class Conditions:
    """What holds for every attempt of a call."""

    run: Path
    environ: Mapping[str, str]  # the caller's
    timeout: float | None = None
    cold: bool = False
    python: str = ""  # runs in place of the interpreter that an --as-upstream plan names
    cores: int = 1  # of the machine: what a step that measures asks for


def foreseen(conditions: Conditions, plan: Plan, step: Step) -> Task:
    """What will be started for a step, as far as an executor can get ready for it. It is not to be run."""
    return Task(
        name=step.id,
        argv=argv_of(plan, step, conditions.python),
        cwd=Path(plan.repo, step.cwd),
        env=environment(conditions.environ, step.env),
        log=Path(os.devnull),
        timeout=None,
        gpus=step.gpus,
        warm=may_be_warm(conditions, step),
    )


def may_be_warm(conditions: Conditions, step: Step) -> bool:
    """Whether a fork of a warm server may be what runs it."""
    return not conditions.cold and not step.shell and step.kind != PREPARE


def argv_of(plan: Plan, step: Step, python: str) -> tuple[str, ...]:
    """What is started: patterns become the files that are there now; one that names none stays as it is."""
    if step.shell:
        return ("bash", "-c", step.shell)
    argv = program(plan, step, python)
    if not step.globs:
        return argv
    folder = os.path.join(plan.repo, step.cwd)
    words: list[str] = []
    for word in argv:
        found: list[str] = []
        if word in step.globs:
            found = matching(word, folder)
        words += found or [word]
    return tuple(words)


def environment(base: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """The caller's environment with a step's changes. Python does not hold its output back: logs are live."""
    made = {"PYTHONUNBUFFERED": "1", **base}
    for name, value in changes.items():
        if value is None:
            made.pop(name, None)
        else:
            made[name] = value
    return made


def program(plan: Plan, step: Step, python: str) -> tuple[str, ...]:
    """The argv to start. A plan as upstream has it keeps the config's word for the interpreter until here."""
    command = Command(step.argv)
    if plan.as_upstream and command.interpreter:
        return command.with_interpreter(resolve(command.interpreter, python).program).argv
    return step.argv
