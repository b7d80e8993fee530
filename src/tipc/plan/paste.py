"""A plan as lines that can be pasted into a shell."""

from __future__ import annotations

import os
from shlex import quote

from tipc.plan.draft import Plan, Step


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
