"""What a person needs when a step has failed: what, the end of its log, why, where, and what to do."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path

from tipc.command import Command
from tipc.kinds import PREPARE
from tipc.language import plural, say, sentence
from tipc.plan.model import Plan, Step
from tipc.run.prepare.data_at_risk import some_of
from tipc.run.record.results import StepResult
from tipc.run.show.diagnose import diagnose
from tipc.run.show.log_tail import tail
from tipc.run.show.shown import shown_path

LINES = 12


def failure_lines(
    plan: Plan, step: Step, result: StepResult, prepared: StepResult | None = None
) -> list[str]:
    """The lines that tell of one failed step, without colour; ``prepared`` is what came of its data."""
    end = []
    if result.log:
        end = tail(result.log, LINES)
    lines = [
        f"{say(result.state.upper())}  {_title(plan, step)}  ({_summary(result)})",
        f"  {pasteable(plan, step)}",
    ]
    for line in end or [say("(it printed nothing)")]:
        lines.append(f"  ┆ {line}")
    known = diagnose(plan, step, result, end, prepared)
    table = {
        say("cause"): known.cause,
        say("try"): known.remedy,
        say("log"): shown_path(_published(plan, step, result)),
        **ways_on(step, result),
    }
    for name, text in table.items():
        if text:
            lines.append(f"  {name:<8} {text}")
    return lines


def _title(plan: Plan, step: Step) -> str:
    """``model · trainer · gpu:0 · train``; without a cell only the model and the kind."""
    for cell in plan.cells:
        if cell.id == step.cell:
            return " · ".join([plan.model, cell.trainer, cell.runs_on, step.kind])
    return f"{plan.model} · {step.kind}"


def ways_on(step: Step, result: StepResult) -> dict[str, str]:
    """What to call once the cause is gone. Preparing may remove data, so doing it again must be asked for."""
    if step.kind != PREPARE:
        return {say("again"): "tipc run --rerun-failed"}
    question = say("is it already there?")
    if result.removed:
        question = say("prepare removed {paths}; put it back, then", paths=some_of(result.removed))
    return {
        say("data"): f"{question} tipc run --rerun-failed --no-prepare",
        say("again"): "tipc run --rerun-failed --prepare",
    }


def pasteable(plan: Plan, step: Step) -> str:
    """The step as a line for a shell, to be pasted anywhere."""
    argv = step.argv
    if step.shell:
        argv = ("bash", "-c", step.shell)
    line = Command(argv).shell_line(step.env)
    directory = os.path.normpath(Path(plan.repo) / step.cwd)
    if directory == os.getcwd():
        return line
    return f"cd {shlex.quote(shown_path(directory))} && {line}"


def _summary(result: StepResult) -> str:
    parts = [f"{result.wall:.1f} s"]
    reason = sentence(result.reason)
    if reason:
        parts.insert(0, reason)
    if result.attempts > 1:
        parts.append(plural(result.attempts, "attempt"))
    return ", ".join(parts)


def _published(plan: Plan, step: Step, result: StepResult) -> str:
    """The dialect's name for the log while it is this attempt's, else the run's own."""
    place = Path(plan.repo) / step.log
    with suppress(OSError):  # one of them is gone
        if step.log and place.samefile(result.log):
            return str(place)
    return result.log
