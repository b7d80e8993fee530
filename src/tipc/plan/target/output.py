"""A folder of its own for what a plan writes, so that two runs of one config do not share theirs."""

from __future__ import annotations

import os
from dataclasses import replace

from tipc.plan.model import Plan, Step

BELOW = "test_tipc/output/"  # where every family's scripts write


def with_output(plan: Plan, name: str) -> Plan:
    """The plan, with ``test_tipc/output/MODEL/MODE`` as ``test_tipc/output/NAME/MODEL/MODE``.

    Only what the plan itself writes is moved: a config may name other files below ``test_tipc/output``, such
    as weights that ``prepare`` has put there.
    """
    own = os.path.dirname(plan.results_log)
    start = own.find(BELOW)
    if start < 0:
        return plan
    old = own[start:]
    new = BELOW + name + "/" + old[len(BELOW) :]

    steps = [_moved_step(step, old, new) for step in plan.steps]
    return replace(plan, steps=tuple(steps), results_log=plan.results_log.replace(old, new))


def _moved_step(step: Step, old: str, new: str) -> Step:
    def moved(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text.replace(old, new) for text in texts)

    env = dict(step.env)
    for name, value in step.env.items():
        if value is not None:
            env[name] = value.replace(old, new)
    return replace(
        step,
        argv=moved(step.argv),
        env=env,
        log=step.log.replace(old, new),
        produces=moved(step.produces),
        status_line=step.status_line.replace(old, new),
        weights=step.weights.replace(old, new),
        model_dir=step.model_dir.replace(old, new),
        globs=moved(step.globs),
        shell=step.shell.replace(old, new),
    )
