"""A folder of its own for what a plan writes, so that two runs of one config do not share theirs."""

from __future__ import annotations

import os
from collections.abc import Callable
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

    def moved(text: str) -> str:
        return text.replace(old, new)

    steps = tuple(_moved_step(step, moved) for step in plan.steps)
    return replace(plan, steps=steps, results_log=moved(plan.results_log))


def _moved_step(step: Step, moved: Callable[[str], str]) -> Step:
    return replace(
        step,
        argv=tuple(moved(word) for word in step.argv),
        env={key: value if value is None else moved(value) for key, value in step.env.items()},
        log=moved(step.log),
        produces=tuple(moved(path) for path in step.produces),
        status_line=moved(step.status_line),
        weights=moved(step.weights),
        model_dir=moved(step.model_dir),
        globs=tuple(moved(word) for word in step.globs),
        shell=moved(step.shell),
    )
