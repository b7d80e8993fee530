"""The step that prepares the data of a config: the first of a plan, where the repository says how.

``test_tipc/prepare.py`` declares archives to unpack, or ``test_tipc/prepare.sh`` does the work; see
``tipc.run.prepare`` for what they may say.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from tipc.command import Command
from tipc.kinds import PREPARE
from tipc.plan.model import Plan, Step
from tipc.plan.request import PlanOptions
from tipc.plan.target.interpreter import resolve

DECLARED = "test_tipc/prepare.py"
SCRIPT = "test_tipc/prepare.sh"
# Set for what prepares: a script that calls `tipc prepare` must not go round for ever.
GUARD = "TIPC_PREPARING"


def with_prepare(plan: Plan) -> Plan:
    """The plan with a first step that prepares, where the repository says how; everything else needs it."""
    if not plan.steps or any(step.id == PREPARE for step in plan.steps):
        return plan
    argv = _command(plan)
    if not argv:
        return plan
    log = ""
    if plan.results_log:
        log = os.path.join(os.path.dirname(plan.results_log), "prepare.log")
    env: dict[str, str | None] = {}
    if argv[0] == "bash":
        env[GUARD] = plan.repo
    step = Step(
        id=PREPARE,
        kind=PREPARE,
        cell=PREPARE,
        argv=argv,
        env=env,
        cwd=".",
        log=log,
        needs=(),
        produces=(),
        status_line="",
    )
    steps = [step]
    for other in plan.steps:
        if PREPARE not in other.needs:
            other = replace(other, needs=(PREPARE, *other.needs))
        steps.append(other)
    return replace(plan, steps=tuple(steps))


def prepared_by(options: PlanOptions) -> tuple[str, ...]:
    """The id of the step that prepares, where the plan will have one."""
    if not options.prepare:
        return ()
    for name in (DECLARED, SCRIPT):
        if os.path.isfile(os.path.join(options.repo, name)):
            return (PREPARE,)
    return ()


def _command(plan: Plan) -> tuple[str, ...]:
    """What prepares; empty where the repository says nothing."""
    if os.path.isfile(os.path.join(plan.repo, DECLARED)):
        how = ("--trace",) if plan.traced else ("--dialect", plan.dialect)
        words = ("prepare", plan.config, plan.mode, "--repo", plan.repo, "--python", interpreter(plan), *how)
        return (sys.executable, "-m", "tipc", *words)
    if os.path.isfile(os.path.join(plan.repo, SCRIPT)):
        return ("bash", SCRIPT, plan.config, plan.mode)
    return ()


def interpreter(plan: Plan) -> str:
    """The interpreter of a plan's commands."""
    if plan.interpreter is not None:
        return plan.interpreter.program
    for step in plan.steps:
        named = Command(step.argv).interpreter
        if named and step.kind != PREPARE:
            return resolve(named).program
    return sys.executable
