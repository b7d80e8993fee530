"""The dialect's status lines: printed as upstream does, and appended to the file that other tools grep."""

from __future__ import annotations

from pathlib import Path

from tipc.plan.model import Plan, Step
from tipc.run.journal import disk_problem
from tipc.run.record import FAILED, TIMEOUT, StepResult

YELLOW, PLAIN = "\033[33m", "\033[0m"


def status_line(step: Step, result: StepResult) -> str:
    """The line for a step that ran; empty for one that did not, or was stopped."""
    if result.ok:
        return step.status_line
    return step.failed_line if result.state in (FAILED, TIMEOUT) else ""


def append(plan: Plan, line: str) -> None:
    """Append a line to ``results_python.log``, or whatever the dialect calls it."""
    if not plan.results_log or not line:
        return
    path = Path(plan.repo, plan.results_log)
    try:
        try:
            _write(path, line)
        except FileNotFoundError:
            path.parent.mkdir(parents=True)
            _write(path, line)
    except OSError as error:
        raise disk_problem(error, path) from error


def _write(path: Path, line: str) -> None:
    with open(path, "a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(line + "\n")
