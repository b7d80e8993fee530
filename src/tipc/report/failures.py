"""What failed, by cause: one block for the same cause, with every step that it hit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tipc.kinds import FAILED, TIMEOUT
from tipc.language import sentence
from tipc.plan.model import Plan
from tipc.report.view import PlanView, RunView, StepView
from tipc.run.show.diagnose import Diagnosis, diagnose
from tipc.run.show.failure import pasteable
from tipc.run.show.log_tail import tail

LINES = 10  # of the log
# What differs between failures of one cause: numbers (of GPUs, too), temporary places.
VARIABLE = re.compile(r"0x[0-9a-f]+|\d+(?:,\d+)*|/tmp/\S+")


@dataclass(frozen=True)
class Failure:
    """A failed step with what is known about it."""

    plan: Plan
    view: StepView
    known: Diagnosis
    log: tuple[str, ...]  # its end

    @property
    def cause(self) -> str:
        """The likely cause, else how it ended."""
        if self.known.cause:
            return self.known.cause
        if self.view.result.reason:
            return sentence(self.view.result.reason)
        return self.view.result.state

    @property
    def name(self) -> str:
        """The step as people look for it."""
        return f"{self.plan.model} · {self.view.step.id}"

    @property
    def command(self) -> str:
        """A line for a shell that does it again."""
        return pasteable(self.plan, self.view.step)


@dataclass(frozen=True)
class FailureGroup:
    """Failures with one cause; the first stands for all."""

    failures: tuple[Failure, ...]

    @property
    def first(self) -> Failure:
        return self.failures[0]


def failure_groups(view: RunView) -> list[FailureGroup]:
    """Every failed step, grouped by kind of step, cause and remedy, in the order of the first of each."""
    groups: dict[tuple[str, str, str], list[Failure]] = {}
    for plan in view.plans:
        for failure in _failures(plan):
            groups.setdefault(_alike(failure), []).append(failure)
    return [FailureGroup(tuple(failures)) for failures in groups.values()]


def _alike(failure: Failure) -> tuple[str, str, str]:
    """What failures of one cause have in common: kind of step, cause, and how the remedy begins."""
    cause = failure.cause
    results = str(Path(failure.plan.results_log).parent)
    if failure.plan.results_log and results != ".":
        # Each cell, and each config, has results of its own: what counts is the name of the file.
        cause = re.sub(rf"\S*{re.escape(results)}/(?:\S*/)?", "#/", cause)
    remedy = failure.known.remedy.split(" ")[0]
    return failure.view.step.kind, VARIABLE.sub("#", cause), VARIABLE.sub("#", remedy)


def _failures(plan: PlanView) -> Sequence[Failure]:
    found = []
    for one in plan.steps:
        if one.result.state in (FAILED, TIMEOUT):
            log = tuple(tail(one.result.log, LINES))
            known = diagnose(plan.plan, one.step, one.result, log, plan.prepared)
            found.append(Failure(plan.plan, one, known, log))
    return found
