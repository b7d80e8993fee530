"""All configs of a call: each is linted, then planned; one that is broken does not stop the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tipc.config.lint.linter import find_errors
from tipc.errors import ENVIRONMENT, USAGE, Message, TipcError, UsageError, wording
from tipc.plan.build import build_plan
from tipc.plan.model import Plan
from tipc.plan.request import PlanOptions


class Planned(NamedTuple):
    """The plans of a call, and what is wrong with the configs that have none."""

    plans: tuple[Plan, ...]
    problems: tuple[TipcError, ...]

    @property
    def exit_code(self) -> int:
        """0 if every config has a plan; 2 if one is broken; 3 if only this machine is in the way."""
        codes = {problem.exit_code for problem in self.problems}
        if USAGE in codes:
            return USAGE
        return ENVIRONMENT if codes else 0


def plan_each(configs: Iterable[str], mode: str, options: PlanOptions) -> Planned:
    """A plan or a problem for each config."""
    plans: list[Plan] = []
    problems: list[TipcError] = []
    for config in configs:
        try:
            plans.append(checked_plan(config, mode, options))
        except TipcError as error:
            problems.append(error)
    return Planned(tuple(plans), tuple(problems))


def checked_plan(config: str, mode: str, options: PlanOptions) -> Plan:
    """The plan of a config in which lint finds no error; warnings do not stop it.

    With ``as_upstream`` nothing is linted: that is what the script does with the file, whatever is in it.
    """
    if not options.as_upstream:
        refuse_errors(config, options)
    return build_plan(config, mode, options)


def refuse_errors(config: str, options: PlanOptions) -> None:
    """Raise the first error that lint finds, and say how many there are."""
    errors = find_errors(config, dialect=options.dialect or None, repo=options.repo or None)
    if not errors:
        return
    first = errors[0]
    remedy: str | Message = first.fix
    if len(errors) > 1:
        remedy = wording(
            "{fix}; {count} more: tipc lint {config}", fix=first.fix, count=len(errors) - 1, config=config
        )
    raise UsageError(
        wording("{code} {message}", code=first.code, message=first.message),
        path=config,
        line=first.line,
        column=first.column,
        remedy=remedy,
    )
