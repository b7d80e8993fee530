"""The dialect's status lines: printed as upstream does, and appended to the file that other tools grep."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from tipc.kinds import FAILED, INFER, TIMEOUT
from tipc.plan.model import Plan, Step
from tipc.run.record.disk import disk_problem
from tipc.run.record.results import StepResult

# The dialects put the devices of the training between the device of the inference and its settings.
IN_SPECIFICATION = re.compile(r"(python_infer_[a-z]+)(?:_gpu_[\d,]+)?(_.*\.log)$")
YELLOW, PLAIN = "\033[33m", "\033[0m"


def status_line(step: Step, result: StepResult) -> str:
    """The line for a step that ran; empty for one that did not, or was stopped."""
    if result.ok:
        return with_redirection(step, step.status_line)
    return with_redirection(step, step.failed_line) if result.state in (FAILED, TIMEOUT) else ""


def with_redirection(step: Step, line: str) -> str:
    """The line of an inference, in whose command the specification and the scripts say where its output went:
    ``… > LOG 2>&1 !``, or of the scripts that name the log once more, ``… > LOG 2>&1  - LOG``."""
    if step.kind != INFER or not step.log or " 2>&1" in line:
        return line
    redirection = f" > {step.log} 2>&1 "
    for mark in (f" - {step.log}", "!"):
        head, found, tail = line.rpartition(mark)
        if found:
            return f"{head}{redirection}{mark}{tail}"
    return line


def link_log(plan: Plan, step: Step) -> None:
    """Let the log of an inference also be found under the specification's name, which has no cell in it:
    ``python_infer_cpu_usemkldnn_True_threads_1_precision_fp32_batchsize_1.log``. Of several cells: the last.
    """
    log = Path(plan.repo, step.log)
    match = IN_SPECIFICATION.search(log.name)
    if step.kind != INFER or not match or not log.is_file():
        return
    name = match[1] + match[2]
    if name == log.name:
        return
    scratch = log.with_name(f".{name}.{os.getpid()}")
    with contextlib.suppress(OSError):  # a file system without links: the log is there under its own name
        os.symlink(log.name, scratch)
        os.replace(scratch, log.with_name(name))


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
