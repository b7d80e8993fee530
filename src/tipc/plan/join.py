"""Plans of several training configs that one file stands for, as one plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tipc.kinds import PREPARE
from tipc.plan.model import AppliedFix, Cell, Plan, Skip, Step


def renamed(plan: Plan, prefix: str, env: Mapping[str, str]) -> Plan:
    """A plan whose cells and steps have names of their own among others; ``env`` is set for each step."""
    steps = []
    for step in plan.steps:
        needs = tuple(need if need == PREPARE else prefix + need for need in step.needs)
        steps.append(
            replace(step, id=prefix + step.id, cell=prefix + step.cell, needs=needs, env={**step.env, **env})
        )
    return replace(
        plan,
        cells=tuple(replace(cell, id=prefix + cell.id) for cell in plan.cells),
        steps=tuple(steps),
        skipped=tuple(replace(skip, cell=prefix + skip.cell) for skip in plan.skipped),
    )


def joined(plans: Sequence[Plan], steps: Sequence[Step]) -> Plan:
    """The first plan with the cells, omissions, fixes and notes of all; ``steps`` are those of the whole."""
    cells: list[Cell] = []
    skipped: list[Skip] = []
    fixes: set[AppliedFix] = set()
    notes: list[str] = []
    for plan in plans:
        cells += plan.cells
        skipped += plan.skipped
        fixes.update(plan.fixes)
        notes += plan.notes
    return replace(
        plans[0],
        cells=tuple(cells),
        steps=tuple(steps),
        skipped=tuple(skipped),
        fixes=tuple(sorted(fixes, key=lambda fix: fix.id)),
        notes=tuple(dict.fromkeys(notes)),
    )


def own_command(
    identity: str, cell: str, argv: tuple[str, ...], env: Mapping[str, str], line: str = ""
) -> Step:
    """A command of the script itself, which it runs beside the trainings; ``line`` is its status line."""
    return Step(
        id=identity,
        kind=PREPARE,
        cell=cell,
        argv=argv,
        env={"CUDA_VISIBLE_DEVICES": None, **env},
        cwd=".",
        log="",
        needs=(),
        produces=(),
        status_line=line,
    )
