"""A plan as text for people."""

from __future__ import annotations

from tipc.plan.draft import Plan, Step
from tipc.plan.machine import Machine


def plan_text(plan: Plan, machine: Machine) -> str:
    """The cells, what is left out, and what differs from the script."""
    how = "as upstream" if plan.as_upstream else f"this machine: {machine.describe()}"
    lines = [f"{plan.model or plan.config} · {plan.mode} · dialect {plan.dialect} · {how}"]
    lines += [f"  note: {note}" for note in plan.notes]
    width = max([len(cell.id) for cell in plan.cells], default=0)
    for cell in plan.cells:
        steps = [step for step in plan.steps if step.cell == cell.id]
        if steps:
            precision = f"{cell.precision} {cell.amp_level}".strip()
            lines.append(f"  {cell.id:<{width}}  {cell.runs_on:<14} {precision:<7}  {_chain(steps)}")
    lines += _skips(plan)
    if plan.fixes:
        lines.append("  differs from the script (tipc fixes):")
        lines += [f"    {fix.id}  {fix.reason}" for fix in plan.fixes]
    kinds = [step.kind for step in plan.steps]
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    total = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing"
    lines.append(f"  {len(plan.steps)} steps: {total}; {len(plan.skipped)} left out")
    return "\n".join(lines) + "\n"


def _chain(steps: list[Step]) -> str:
    kinds: dict[str, list[Step]] = {}
    for step in steps:
        name = f"infer {step.settings.get('device', step.device)}" if step.kind == "infer" else step.kind
        kinds.setdefault(name, []).append(step)
    return " → ".join(f"{name} ×{len(found)}" if len(found) > 1 else name for name, found in kinds.items())


def _skips(plan: Plan) -> list[str]:
    """What is left out, one line a reason."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for skip in plan.skipped:
        grouped.setdefault((skip.kind, skip.reason), []).append(skip.what)
    lines = []
    for (kind, reason), found in grouped.items():
        what = found[0] if len(found) == 1 else f"{kind} ×{len(found)}"
        lines.append(f"  left out: {what}: {reason}")
    return lines
