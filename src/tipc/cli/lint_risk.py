"""What a change of a config would cost: the commands that its plan would lose."""

from __future__ import annotations

import argparse
from collections import Counter

from tipc.config.identify import identify, repository_of
from tipc.config.lint.fix import Risk
from tipc.config.source import source_of
from tipc.errors import TipcError
from tipc.plan.build import plan_source
from tipc.plan.modes import DEFAULT_MODE
from tipc.plan.request import PlanOptions
from tipc.reasons import Reason, because

MODES = (DEFAULT_MODE, "whole_infer")


def unknown_script(path: str, data: bytes, options: argparse.Namespace) -> str:
    """The script that reads a file, if it is none that we know; empty: it is known, or there is none."""
    source = source_of(data, path)
    identity = identify(source, options.repo or repository_of(path), dialect=options.dialect or "")
    if identity.dialect or not identity.traceable:
        return ""
    return identity.script or " or ".join(identity.candidates)


def plan_risk(path: str, options: argparse.Namespace) -> Risk:
    """Says what a plan would lose: of each kind of step there must be as many after a change as before."""
    asked = PlanOptions(repo=options.repo or "", dialect=options.dialect or "")

    def risk(before: bytes, after: bytes) -> Reason | None:
        lost = _steps(path, before, asked) - _steps(path, after, asked)
        if not lost:
            return None
        steps = ", ".join(f"{count} {kind}" for kind, count in sorted(lost.items()))
        return because("lint-plan-loses", steps=steps)

    return risk


def _steps(path: str, data: bytes, options: PlanOptions) -> Counter[str]:
    """How many steps of each kind a text plans; none where it cannot be planned."""
    counted: Counter[str] = Counter()
    for mode in MODES:
        try:
            plan = plan_source(source_of(data, path), mode, options)
        except TipcError:
            continue
        counted.update([step.kind for step in plan.steps])
    return counted
