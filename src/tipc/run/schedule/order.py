"""What must come after what in a run of several plans, beyond what each step needs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from tipc.kinds import PREPARE
from tipc.plan.model import Key, Plan
from tipc.plan.prepare import DECLARED

Edges = dict[Key, list[Key]]


def order(plans: Sequence[Plan]) -> Edges:
    """For each step, the steps of other plans that must have ended before it starts."""
    after: Edges = {}
    prepared: dict[str, list[Plan]] = {}  # the plans that begin with a preparation, by their repositories
    for plan in plans:
        if plan.steps and plan.steps[0].id == PREPARE:
            prepared.setdefault(plan.repo, []).append(plan)
    for repo, own in prepared.items():
        _order_preparations(repo, own, after)
    _order_rivals(plans, after)
    return after


def _order_preparations(repo: str, plans: Sequence[Plan], after: Edges) -> None:
    """A ``prepare.sh`` may replace the data of another config: the plans of its repository run one by one.

    What a ``prepare.py`` names is unpacked once, before anything else of its repository runs.
    """
    if (Path(repo) / DECLARED).is_file():
        for before, plan in pairwise(plans):
            after.setdefault((plan.key, PREPARE), []).append((before.key, PREPARE))
        for plan in plans:
            for step in plan.steps[1:]:
                after.setdefault((plan.key, step.id), []).append((plans[-1].key, PREPARE))
    else:
        for before, plan in pairwise(plans):
            _one_by_one(before, plan, after)


def _order_rivals(plans: Sequence[Plan], after: Edges) -> None:
    """Plans that write the same files run one by one, or each would find the other's."""
    last: dict[str, Plan] = {}  # who was the last to write a file
    for plan in plans:
        places = _places(plan)
        rivals: dict[str, Plan] = {}
        for place in places:
            if place in last:
                rivals[last[place].key] = last[place]
        for rival in rivals.values():
            _one_by_one(rival, plan, after)
        last.update(dict.fromkeys(places, plan))


def _one_by_one(before: Plan, plan: Plan, after: Edges) -> None:
    for step in plan.steps:
        if step.needs:
            continue  # what it needs comes after the other plan
        known = after.setdefault((plan.key, step.id), [])
        for other in before.steps:
            key = (before.key, other.id)
            if key not in known:
                known.append(key)


def _places(plan: Plan) -> set[str]:
    """The files and folders that a plan writes."""
    places = set()
    for step in plan.steps:
        for name in (*step.produces, step.model_dir):
            if name:
                places.add(os.path.normpath(os.path.join(plan.repo, name)))
    return places
