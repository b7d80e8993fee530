"""What is shown while a run goes on: plain lines here, a live picture in ``progress_live`` on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from tipc.kinds import INTERRUPTED, PREPARE, SIGNS
from tipc.language import plural, say, sentence
from tipc.plan.model import Plan, Step
from tipc.plan.plan_text import plan_notes
from tipc.reasons import Reason
from tipc.run.earlier import KeptResult
from tipc.run.record.results import StepResult
from tipc.run.show import results_log
from tipc.visible import visible


class Progress:
    """Lines without control codes, one for each step when it has ended."""

    def __init__(self, stream: TextIO, total: int, verbosity: int = 0) -> None:
        self.stream = stream
        self.verbosity = (
            verbosity  # -1: only the summary; 1: also starts, and the status lines of the dialect
        )
        self.total = total
        self.done = 0
        self.several = False  # there is more than one config

    def header(self, plans: Sequence[Plan], machine: str) -> None:
        """What is going to run, and what is not."""
        self.several = len(plans) > 1
        if self.verbosity < 0:
            return
        self.write("\n".join(header_lines(plans, machine, self.total)))

    def name(self, plan: Plan, step: Step) -> str:
        """A step's id; where several configs run, behind the name of its model."""
        if self.several:
            return f"{plan.model} · {step.id}"
        return step.id

    def started(self, plan: Plan, step: Step, attempt: int, log: Path) -> None:
        """An attempt was given to the executor."""
        if self.verbosity <= 0:
            return
        told = place(step)
        if attempt > 1:
            told += say(", attempt {number}", number=attempt)
        self.write(f"  … {step.id} ({told})")

    def begun(self, plan: Plan, step: Step, at: float) -> None:
        """Its own program runs: nothing to say."""

    def retried(self, plan: Plan, step: Step, result: StepResult) -> None:
        """An attempt has failed and another one follows."""
        told = say("{reason}, again", reason=sentence(result.reason))
        self.write(f"  ↻ {step.id} {result.wall:.1f}s: {told}")

    def ended(self, plan: Plan, step: Step, result: StepResult) -> None:
        """The last word on a step. Why it failed is told once for every cause, at the end."""
        self.done += 1
        if self.verbosity < 0:
            return
        told = f"  {SIGNS[result.state].mark} [{self.done}/{self.total}] {self.name(plan, step)}"
        if result.attempts:
            told += f" {result.wall:.1f}s"
        if result.reason:
            told += f" ({sentence(result.reason)})"
        self.write(told, _style(result))
        line = results_log.status_line(step, result)
        if line and self.verbosity > 0:
            self.write_status(line)

    def kept(self, plan: Plan, step: Step, kept: KeptResult) -> None:
        """A step does not run again."""
        self.done += 1
        if self.verbosity < 0:
            return
        state = say(kept.result.state)
        if kept.outdated:
            why = sentence(kept.outdated)
            told = say("{state} before, {why} (--outdated runs it again)", state=state, why=why)
        elif step.kind == PREPARE:
            told = say("{state} before (--prepare runs it again)", state=state)
        elif kept.result.ok:
            told = say("{state} before, nothing has changed", state=state)
        else:
            told = say("{state} before, nothing has changed (--rerun-failed runs it again)", state=state)
        self.write(f"  = [{self.done}/{self.total}] {self.name(plan, step)}: {told}")

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


def _style(result: StepResult) -> str:
    if result.state == INTERRUPTED:
        return "yellow"
    if not result.attempts:
        return ""
    if result.ok:
        return "green"
    return "red"


def header_lines(plans: Sequence[Plan], machine: str, chosen: int) -> list[str]:
    """The models, what is skipped and why, what the plans note about this machine: of several plans once.

    ``chosen`` of their steps run.
    """
    models = _each_once(plan.model for plan in plans)
    modes = _each_once(plan.mode for plan in plans)
    dialect = say("dialect {name}", name=_each_once(plan.dialect for plan in plans))
    skipped: Counter[tuple[str, Reason]] = Counter()
    notes: Counter[str] = Counter()
    count = 0
    for plan in plans:
        count += len(plan.steps)
        skipped.update((skip.kind, skip.reason) for skip in plan.skipped)
        notes.update(plan_notes(plan))
    steps = plural(count, "step")
    if chosen < count:
        steps = say("{chosen} of {steps}", chosen=chosen, steps=steps)
    lines = [f"{models} · {modes} · {dialect} · {steps} · {machine}"]
    if len(plans) > 1:
        configs = plural(len(plans), "config")
        lines = [f"{configs} · {modes} · {dialect} · {steps} · {machine}", f"  {models}"]
    for (kind, reason), times in skipped.items():
        lines.append(f"  {say('skipped')}  {kind} ×{times}: {sentence(reason)}")
    for note, times in notes.items():
        line = f"  {note}"
        if times < len(plans):
            line += f" ({plural(times, 'config')})"
        lines.append(line)
    return lines


def _each_once(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def place(step: Step) -> str:
    """Where a step runs: "cpu", "gpu:0,1", "2 × cpu"."""
    if step.gpus:
        return f"{step.device}:{','.join(step.gpus)}"
    if step.processes > 1:
        return f"{step.processes} × {step.device}"
    return step.device


def printable(stream: TextIO, text: str) -> str:
    """The text as this stream can hold it: one that is not UTF-8 gets `?` for what it lacks."""
    encoding = stream.encoding or "utf-8"
    return visible(text).encode(encoding, "replace").decode(encoding, "replace")
