"""The steps of several plans as one graph: what each needs, what it must come after, what depends on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from tipc.errors import UsageError, wording
from tipc.plan.model import Key, Plan, Step


@dataclass(frozen=True, slots=True)
class Node:
    """One step in its place."""

    position: int  # in the order of the plans and of their steps
    index: int  # of its plan
    plan: Plan
    step: Step
    needs: tuple[int, ...]  # must have passed
    after: tuple[int, ...]  # must have ended, in whatever state
    dependants: list[int] = field(default_factory=list)  # those that need it or come after it

    @property
    def key(self) -> Key:
        """Names the step inside a run."""
        return self.plan.key, self.step.id


def build_graph(plans: Sequence[Plan], after: Mapping[Key, Sequence[Key]]) -> list[Node]:
    """One node a step, in order. ``after`` adds edges that only order."""
    positions = _positions(plans)
    nodes: list[Node] = []
    for index, plan in enumerate(plans):
        for step in plan.steps:
            key = plan.key, step.id
            needs = []
            for need in step.needs:
                if (plan.key, need) not in positions:
                    raise UsageError(
                        wording(
                            "step `{id}` needs `{unknown}`, which the plan does not have",
                            id=step.id,
                            unknown=need,
                        )
                    )
                needs.append(positions[plan.key, need])
            later = [positions[other] for other in after.get(key, ())]
            nodes.append(Node(positions[key], index, plan, step, tuple(needs), tuple(later)))
    _refuse_circles(nodes)
    for node in nodes:
        for other in {*node.needs, *node.after}:
            nodes[other].dependants.append(node.position)
    return nodes


def _positions(plans: Sequence[Plan]) -> dict[Key, int]:
    """The place of each step in the order of the plans and of their steps."""
    positions: dict[Key, int] = {}
    for plan in plans:
        for step in plan.steps:
            key = plan.key, step.id
            if key in positions:
                raise UsageError(
                    wording("`{key}` has two steps `{id}`", key=plan.key, id=step.id),
                    remedy="run configs of the same name separately",
                )
            positions[key] = len(positions)
    return positions


def _refuse_circles(nodes: Sequence[Node]) -> None:
    try:
        TopologicalSorter({node.position: {*node.needs, *node.after} for node in nodes}).prepare()
    except CycleError as error:
        names = " → ".join([nodes[position].step.id for position in error.args[1]])
        raise UsageError(wording("steps need each other: {names}", names=names)) from error
