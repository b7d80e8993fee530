"""What is shown while a run goes on: plain lines here, a live picture in ``progress_live`` on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from tipc.plan.model import Plan, Step
from tipc.run import results_log
from tipc.run.failure import failure_lines
from tipc.run.record import BLOCKED, FAILED, FLAKY, INTERRUPTED, PASSED, TIMEOUT, StepResult

MARKS = {PASSED: "✔", FLAKY: "~", FAILED: "✘", TIMEOUT: "✘", BLOCKED: "-", INTERRUPTED: "!"}


class Progress:
    """Lines without control codes, one when a step starts and one when it has ended, and its status line."""

    def __init__(self, stream: TextIO, total: int) -> None:
        self.stream = stream
        self.total = total
        self.done = 0

    def header(self, plans: Sequence[Plan], machine: str) -> None:
        """What is going to run, and what is not."""
        for plan in plans:
            self.write("\n".join(header_lines(plan, machine)))

    def started(self, plan: Plan, step: Step, attempt: int, log: Path) -> None:
        """An attempt has begun."""
        again = f", attempt {attempt}" if attempt > 1 else ""
        self.write(f"  … {step.id} ({place(step)}{again})")

    def retried(self, plan: Plan, step: Step, result: StepResult) -> None:
        """An attempt has failed and another one follows."""
        self.write(f"  ↻ {step.id} {result.wall:.1f}s: {result.reason}, once more")

    def ended(self, plan: Plan, step: Step, result: StepResult) -> None:
        """The last word on a step: its result, its status line and, if it failed, everything about it."""
        self.done += 1
        time = f" {result.wall:.1f}s" if result.attempts else ""
        reason = f" ({result.reason})" if result.reason else ""
        style = "" if not result.attempts else "green" if result.ok else "red"
        self.write(f"  {MARKS[result.state]} [{self.done}/{self.total}] {step.id}{time}{reason}", style)
        line = results_log.status_line(step, result)
        if line:
            self.write_status(line)
        if result.state in (FAILED, TIMEOUT):
            self.write("\n".join(["", *failure_lines(plan, step, result), ""]))

    def kept(self, plan: Plan, step: Step, result: StepResult) -> None:
        """A step need not run again."""
        self.done += 1
        hint = "" if result.ok else " (--rerun-failed runs it again)"
        self.write(
            f"  = [{self.done}/{self.total}] {step.id}: {result.state} before, nothing has changed{hint}"
        )

    def pulse(self) -> None:
        """Nothing has happened for a moment: nothing to say."""

    def note(self, text: str) -> None:
        """Something that the user should know."""
        self.write(f"  {text}")

    def close(self) -> None:
        """The run is over."""
        self.stream.flush()

    def write(self, text: str, style: str = "") -> None:
        """Write lines, at once: what is seen must not lag behind what happens. Style is for terminals."""
        self.stream.write(printable(self.stream, text) + "\n")
        self.stream.flush()

    def write_status(self, line: str) -> None:
        """Write the dialect's status line."""
        self.write(line)


def header_lines(plan: Plan, machine: str) -> list[str]:
    """One plan: the model, what the plan notes about this machine, what is skipped and why."""
    steps = f"{len(plan.steps)} step{'' if len(plan.steps) == 1 else 's'}"
    lines = [f"{plan.model} · {plan.mode} · dialect {plan.dialect} · {steps} · {machine}"]
    skipped = Counter((skip.kind, skip.reason) for skip in plan.skipped)
    lines += [f"  skipped  {kind} ×{count}: {reason}" for (kind, reason), count in skipped.items()]
    return lines + [f"  {note}" for note in plan.notes]


def place(step: Step) -> str:
    """Where a step runs: "cpu", "gpu:0,1", "2 × cpu"."""
    if step.gpus:
        return f"{step.device}:{','.join(step.gpus)}"
    return f"{step.processes} × {step.device}" if step.processes > 1 else step.device


def printable(stream: TextIO, text: str) -> str:
    """The text as this stream can hold it: one that is not UTF-8 gets `?` for what it lacks."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding, "replace")
