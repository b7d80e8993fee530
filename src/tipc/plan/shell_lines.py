"""A plan as lines that can be pasted into a shell."""

from __future__ import annotations

import os
from shlex import quote

from tipc.command import Command
from tipc.plan.model import Plan, Step


def commands_text(plan: Plan, cwd: str) -> str:
    """Lines that run the plan when they are pasted into a shell."""
    lines = [f"# {plan.config} · {plan.mode}"]
    if os.path.realpath(cwd) != plan.repo:
        lines.append(f"cd {quote(plan.repo)}")
    folders = set()
    for step in plan.steps:
        if step.log:
            folders.add(os.path.dirname(step.log))
    for folder in sorted(folders):
        lines.append(f"mkdir -p {quote(folder)}")
    lines += map(command_line, plan.steps)
    for skip in plan.skipped:
        if skip.argv and skip.reason.code == "other-machine":
            lines.append(f"# {skip.reason['address']}: {Command(skip.argv).shell_line()}")
    return "\n".join(lines) + "\n"


def command_line(step: Step) -> str:
    """One step as a line for a shell, with its environment, its directory and its log."""
    command = Command(step.argv)
    if step.shell:
        command = Command(("bash", "-c", step.shell))
    line = command.shell_line(step.env, step.globs)
    log = step.log
    if step.cwd == ".":
        if not log:
            return line
        return f"{line} > {quote(log)} 2>&1"
    if not os.path.isabs(log):
        log = os.path.join(os.path.relpath(".", step.cwd), log)
    return f"(cd {quote(step.cwd)} && {line} > {quote(log)} 2>&1)"
