"""A plan as text: for people, and as lines for a shell."""

from __future__ import annotations

import os
from collections import Counter
from shlex import quote

from tipc.plan.machine import Machine
from tipc.plan.model import Plan, Step

VISIBLE = "CUDA_VISIBLE_DEVICES"


def plan_text(plan: Plan, machine: Machine) -> str:
    """The cells, what is left out, and what differs from the script."""
    how = "as upstream" if plan.as_upstream else f"this machine: {machine.describe()}"
    traced = " (traced)" if plan.traced else ""
    lines = [f"{plan.model or plan.config} · {plan.mode} · dialect {plan.dialect}{traced} · {how}"]
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
    counts = Counter(step.kind for step in plan.steps)
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


def commands_text(plan: Plan, cwd: str) -> str:
    """Lines that run the plan when they are pasted into a shell."""
    lines = [f"# {plan.config} · {plan.mode}"]
    if os.path.realpath(cwd) != plan.repo:
        lines.append(f"cd {quote(plan.repo)}")
    lines += [
        f"mkdir -p {quote(path)}" for path in sorted({os.path.dirname(s.log) for s in plan.steps if s.log})
    ]
    return "\n".join([*lines, *(command_line(step) for step in plan.steps)]) + "\n"


def command_line(step: Step) -> str:
    """One step as a line for a shell, with its environment, its directory and its log."""
    assigned = [f"{name}={quote(value)}" for name, value in step.env.items() if value is not None]
    unset = [name for name, value in step.env.items() if value is None]
    words = [*assigned, step.shell or " ".join(map(quote, step.argv))]
    if unset:
        words.insert(0, " ".join(["env", *(f"-u {name}" for name in unset)]))
    if step.shell:
        words[-1] = f"bash -c {quote(step.shell)}"
    line = " ".join(words)
    log = step.log
    if step.cwd != ".":
        back = "/".join(".." for _ in step.cwd.split("/"))
        log = log if os.path.isabs(log) else f"{back}/{log}"
        return f"(cd {quote(step.cwd)} && {line} > {quote(log)} 2>&1)"
    return f"{line} > {quote(log)} 2>&1" if log else line
