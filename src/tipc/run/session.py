"""One call of ``tipc run``, put together: the plans, which steps of them, a new run or an earlier one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tipc.command import Command
from tipc.errors import TipcError, UsageError, deduplicated, wording
from tipc.kinds import PREPARE
from tipc.plan.model import Key, Plan, Step
from tipc.plan.request import PlanOptions
from tipc.plan.several import plan_each
from tipc.run.schedule.graph import build_graph
from tipc.run.schedule.order import order
from tipc.run.schedule.selection import selected
from tipc.run.tasks import Conditions, foreseen

if TYPE_CHECKING:
    from tipc.run.earlier import RerunRules
    from tipc.run.executors.executor import Task


@dataclass(frozen=True)
class Request:
    """What to run. Kept in the journal, so that ``--resume`` can make the same plans again."""

    configs: tuple[str, ...]  # absolute
    mode: str
    plan: PlanOptions = field(default_factory=PlanOptions)
    expression: str = ""
    only: str = ""


@dataclass(frozen=True)
class Session:
    """What a call is about to do."""

    plans: tuple[Plan, ...]
    wanted: frozenset[Key]
    request: Request
    run: Path | None = None  # an earlier run that goes on
    problems: tuple[TipcError, ...] = ()  # of configs that are not run; the others are
    rules: RerunRules | None = None  # what of an earlier run runs again; None: what the usual rules say


def new(request: Request) -> Session:
    """Plan a new run. Nothing is written yet."""
    planned = plan_each(request.configs, request.mode, request.plan)
    if not planned.plans:
        raise together(planned.problems)
    plans = list(planned.plans)
    if not any(plan.steps for plan in plans):
        raise UsageError(
            wording("nothing runs in mode {mode}", mode=plans[0].mode),
            remedy="tipc plan shows what is left out, and why",
        )
    wanted: set[Key] = set()
    for plan in plans:
        for step in selected(plan, request.expression, request.only):
            wanted.add((plan.key, step))
    if not wanted:
        if request.expression or request.only:
            raise UsageError("no step is selected by -k and --only", remedy="tipc plan lists the steps")
        raise UsageError(
            "nothing but preparation would run", remedy="tipc plan shows what is left out, and why"
        )
    build_graph(plans, order(plans))
    return Session(tuple(plans), frozenset(wanted), request, problems=planned.problems)


def together(problems: Sequence[TipcError]) -> TipcError:
    """What is wrong with all the configs, as one error."""
    if len(problems) == 1:
        return problems[0]
    remedy = "tipc lint; nothing was run"
    if len({problem.message for problem in problems}) == 1:
        remedy = ""  # it has its own, told once
    return UsageError("\n".join(deduplicated(problems)), remedy=remedy)


def first_tasks(session: Session, *, cold: bool) -> Iterator[Task]:
    """What a new run will start first in each plan, once the data are prepared: one launched, one not."""
    if session.run is not None:
        return  # perhaps nothing of it runs again
    conditions = Conditions(Path(), os.environ, cold=cold, python=session.request.plan.python)
    for plan in session.plans:
        wanted = {step.id for step in plan.steps if (plan.key, step.id) in session.wanted}
        prepares = {step.id for step in plan.steps if step.kind == PREPARE}
        first: dict[str, Step] = {}  # by launcher
        for step in plan.steps:
            if step.id in wanted - prepares and wanted.isdisjoint(set(step.needs) - prepares):
                first.setdefault(Command(step.argv).launcher, step)
        for step in first.values():
            yield foreseen(conditions, plan, step)
