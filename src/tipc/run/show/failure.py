"""What a person needs when a step has failed: what, the end of its log, why, where, and what to do."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from tipc.kinds import PREPARE
from tipc.language import plural, say, sentence
from tipc.plan.model import Plan, Step
from tipc.run.record.results import StepResult
from tipc.run.show.diagnose import diagnose
from tipc.run.show.log_tail import tail
from tipc.run.show.shown import shown_path

LINES = 12


def failure_lines(plan: Plan, step: Step, result: StepResult) -> list[str]:
    """The lines that tell of one failed step, without colour."""
    end = tail(result.log, LINES) if result.log else []
    cell = next((cell for cell in plan.cells if cell.id == step.cell), None)
    where = [cell.trainer, cell.runs_on] if cell else []
    title = " · ".join([plan.model, *where, step.kind])
    lines = [f"{say(result.state.upper())}  {title}  ({_summary(result)})", f"  {pasteable(plan, step)}"]
    lines += [f"  ┆ {line}" for line in end] or [f"  ┆ {say('(it printed nothing)')}"]
    known = diagnose(plan, step, result, end)
    table = {
        say("cause"): known.cause,
        say("try"): known.remedy,
        say("log"): shown_path(_published(plan, step, result)),
        **ways_on(step),
    }
    return lines + [f"  {name:<8} {text}" for name, text in table.items() if text]


def ways_on(step: Step) -> dict[str, str]:
    """What to call once the cause is gone. Preparing may remove data, so doing it again must be asked for."""
    if step.kind != PREPARE:
        return {say("again"): "tipc run --rerun-failed"}
    return {
        say("data"): say("is it already there?") + " tipc run --rerun-failed --no-prepare",
        say("again"): "tipc run --rerun-failed --prepare",
    }


def pasteable(plan: Plan, step: Step) -> str:
    """The step as a line for a shell, to be pasted anywhere."""
    unset = [f"-u {shlex.quote(name)}" for name, value in step.env.items() if value is None]
    assigned = [f"{name}={shlex.quote(value)}" for name, value in step.env.items() if value is not None]
    words = ["env", *unset, *assigned] if unset else assigned
    command = f"bash -c {shlex.quote(step.shell)}" if step.shell else shlex.join(step.argv)
    directory = os.path.normpath(Path(plan.repo) / step.cwd)
    line = " ".join([*words, command])
    return line if directory == os.getcwd() else f"cd {shlex.quote(shown_path(directory))} && {line}"


def _summary(result: StepResult) -> str:
    parts = [sentence(result.reason), f"{result.wall:.1f} s"]
    if result.attempts > 1:
        parts.append(plural(result.attempts, "attempt"))
    return ", ".join(part for part in parts if part)


def _published(plan: Plan, step: Step, result: StepResult) -> str:
    """The dialect's name for the log while it is this attempt's, else the run's own."""
    place = Path(plan.repo) / step.log
    try:
        return str(place) if step.log and place.samefile(result.log) else result.log
    except OSError:
        return result.log
