"""The checks there are: the built-in ones, and those that plug-ins add.

A check is one function with a description. A plug-in is a package with an entry point in the group ``tipc``
whose module has a function ``tipc_checks()``, marked with ``tipc.hooks.hookimpl``, that returns its
checks.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from tipc import hooks
from tipc.certify.verdict import FAIL, NOT_CERTIFIED, PASS, UNCHECKED
from tipc.errors import EnvironmentProblem, wording
from tipc.kinds import STEP_KINDS
from tipc.message import Message

BUILT_IN = (
    "steps",
    "unwatched",
    "log",
    "training_log",
    "evaluation_log",
    "training_happened",
    "trained_together",
    "training_claims",
    "evaluation",
    "amp",
    "capability",
    "parity",
    "int8",
    "deployment",
    "drawn_pictures",
    "replayed",
    "printed",
    "quant",
    "stored_results",
    "benchmark",
    "files_written",
    "repo",
    "readme",
    "alignment",
)
SCOPES = (*STEP_KINDS, "step", "cell", "plan", "repo")
ID = re.compile(r"[A-Z]{2,6}\d{3}")


@dataclass(frozen=True)
class Outcome:
    """What a check concludes once: its status, the cause in a line, and the figures that it rests on."""

    status: str
    message: str | Message  # a text without parameters, or a wording
    evidence: Mapping[str, Any] = field(default_factory=dict)
    required: bool = True
    remedy: str | Message = ""  # where it is another than the check's own
    step: str = ""  # Step.id, where a check of a whole cell means one of its steps


Evidence = Mapping[str, Any]


def passed(message: str | Message, *, evidence: Evidence | None = None, **more: Any) -> Outcome:
    """It was looked at, and it is as it must be."""
    return Outcome(PASS, message, {**(evidence or {}), **more})


def failed(
    message: str | Message,
    *,
    remedy: str | Message = "",
    step: str = "",
    evidence: Evidence | None = None,
    **more: Any,
) -> Outcome:
    """It was looked at, and it is wrong."""
    return Outcome(FAIL, message, {**(evidence or {}), **more}, remedy=remedy, step=step)


def unchecked(
    message: str | Message,
    *,
    required: bool = True,
    remedy: str | Message = "",
    evidence: Evidence | None = None,
    **more: Any,
) -> Outcome:
    """It could not be looked at, because the repository does not show it."""
    return Outcome(UNCHECKED, message, {**(evidence or {}), **more}, required=required, remedy=remedy)


def not_certified(
    message: str | Message,
    *,
    remedy: str | Message = "",
    evidence: Evidence | None = None,
    **more: Any,
) -> Outcome:
    """This machine cannot show it."""
    return Outcome(NOT_CERTIFIED, message, {**(evidence or {}), **more}, required=False, remedy=remedy)


# It is given the RepoScene, PlanScene, CellScene or StepScene that its check's scope says.
CheckFunction = Callable[[Any], Iterable[Outcome]]


@dataclass(frozen=True)
class Check:
    """One check: what it is called, what it looks at, why, and what to do when it fails."""

    id: str
    title: str
    scope: str  # one of SCOPES: what it is called for
    reads: str
    reason: str
    remedy: str
    function: CheckFunction


def check(id: str, title: str, *, scope: str, reads: str, remedy: str) -> Callable[[CheckFunction], Check]:
    """Make a check of a function; its docstring is the reason."""

    def decorate(function: CheckFunction) -> Check:
        reason = " ".join((function.__doc__ or "").split())
        return Check(id, title, scope, reads, reason, remedy, function)

    return decorate


@cache
def all_checks() -> Mapping[str, Check]:
    """Every check by its id, in order of the ids; raises EnvironmentProblem for a plug-in that is broken."""
    found = hooks.collect("tipc_checks", Check, lambda item: item.id, built_in=sys.modules[__name__])
    for item in found.values():
        if not ID.fullmatch(item.id) or item.scope not in SCOPES:
            raise EnvironmentProblem(
                wording("a plug-in has a check with id {id}, scope {scope}", id=item.id, scope=item.scope)
            )
    return dict(sorted(found.items()))


def tipc_checks() -> list[Check]:
    """The checks in the modules of ``tipc.certify.checks``."""
    found = []
    for name in BUILT_IN:
        module = import_module(f"tipc.certify.checks.{name}")
        for value in vars(module).values():
            if isinstance(value, Check):
                found.append(value)
    return found
