"""One attempt at one step: everything that is done before its process starts and after it has ended."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tipc.plan.interpreter import resolve
from tipc.plan.model import Plan, Step
from tipc.run.artefacts import Aside, digests, missing, set_aside, settle
from tipc.run.executor import Outcome, Task
from tipc.run.journal import disk_problem
from tipc.run.record import FAILED, FLAKY, INTERRUPTED, PASSED, TIMEOUT, StepResult
from tipc.run.resources import cores_of

_NAME_LIMIT = 180


@dataclass(frozen=True)
class Attempt:
    """A step that is about to run, or runs."""

    plan: Plan
    step: Step
    number: int  # 1: the first in this call
    task: Task
    aside: Aside

    @property
    def published_log(self) -> str:
        """Where the dialect wants the log, if it does; the run keeps its own name for the same file."""
        return os.path.join(self.plan.repo, self.step.log) if self.step.log else ""


@dataclass(frozen=True)
class Conditions:
    """What holds for every attempt of a call."""

    run: Path
    environ: Mapping[str, str]  # the caller's
    timeout: float | None = None
    cold: bool = False
    python: str | None = None  # runs in place of the interpreter that an --as-upstream plan names
    cores: int = 1  # of the machine: what a step that measures asks for


def begin(conditions: Conditions, index: int, plan: Plan, step: Step, number: int) -> Attempt:
    """Make room for the step: its log, its artefacts' places, its environment."""
    run, root = conditions.run, Path(plan.repo)
    name = file_name(step.id)
    try:
        log = _new_log(f"{run}/logs/{index}", name)
    except OSError as error:
        raise disk_problem(error, run) from error
    task = Task(
        name=step.id,
        argv=("bash", "-c", step.shell) if step.shell else program(plan, step, conditions.python),
        cwd=root / step.cwd,
        env=environment(conditions.environ, step.env),
        log=Path(log),
        timeout=conditions.timeout,
        gpus=step.gpus,
        cores=conditions.cores if step.measures and not step.gpus else cores_of(step, conditions.cores),
        warm=not conditions.cold and not step.shell and step.kind != "prepare",
        observe=_observation(run, index, plan, step),
    )
    attempt = Attempt(
        plan, step, number, task, set_aside(root, step.produces, run / "aside" / str(index) / name)
    )
    try:
        _publish(attempt)
    except OSError as error:
        raise disk_problem(error, root) from error
    return attempt


def finish(attempt: Attempt, outcome: Outcome, executor: str) -> StepResult:
    """What the attempt came to. Only a step that ended with 0 and left new artefacts has passed."""
    step, root = attempt.step, Path(attempt.plan.repo)
    state, reason = judge(outcome, attempt.task.timeout)
    if state == PASSED and (lack := missing(root, step.produces, attempt.aside)):
        state, reason = FAILED, f"exit 0, but {lack}"
    elif state == PASSED and attempt.number > 1:
        state, reason = FLAKY, f"passed at attempt {attempt.number}"
    elif state == PASSED and outcome.left:
        reason = f"{outcome.left} of its processes outlived it and were ended"
    good = state in (PASSED, FLAKY)
    try:
        found = digests(root, step.produces, attempt.aside) if good else {}
        settle(attempt.aside, passed=good)
        if not _is_published(attempt):
            _publish(attempt, copy=True)
    except OSError as error:
        raise disk_problem(error, root) from error
    return StepResult(
        plan=attempt.plan.key,
        step=step.id,
        state=state,
        reason=reason,
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        attempts=attempt.number,
        started=outcome.started,
        wall=outcome.wall,
        cpu=outcome.cpu,
        peak_rss=outcome.peak_rss,
        peak_gpu=outcome.peak_gpu,
        gpu_util=outcome.gpu_util,
        log=str(attempt.task.log),
        warm=outcome.warm,
        executor=executor,
        host=outcome.host,
        artefacts=found,
    )


def judge(outcome: Outcome, timeout: float | None) -> tuple[str, str]:
    """The state that a process's end stands for, and the reason in a few words."""
    if outcome.interrupted:
        return INTERRUPTED, "stopped"
    if outcome.timed_out:
        return TIMEOUT, f"no end within {timeout:g} s" if timeout else "no end in time"
    if outcome.error:
        return FAILED, outcome.error
    if outcome.signal is not None:
        return FAILED, f"killed by {signal_name(outcome.signal)}"
    if outcome.exit_code != 0:
        return FAILED, f"exit {outcome.exit_code}"
    return PASSED, ""


def signal_name(number: int) -> str:
    """SIGSEGV for 11; real-time signals keep their number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def environment(base: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """The caller's environment with a step's changes. Python does not hold its output back: logs are live."""
    made = {"PYTHONUNBUFFERED": "1", **base}
    for name, value in changes.items():
        if value is None:
            made.pop(name, None)
        else:
            made[name] = value
    return made


def file_name(step: str) -> str:
    """A step's id as a file name."""
    name = step.replace("/", "__")
    if len(os.fsencode(name)) > _NAME_LIMIT:
        name = name[: _NAME_LIMIT // 2] + "-" + hashlib.sha256(os.fsencode(step)).hexdigest()[:16]
    return name


def program(plan: Plan, step: Step, python: str | None) -> tuple[str, ...]:
    """The argv to start. A plan as upstream has it keeps the config's word for the interpreter until here."""
    if plan.as_upstream and os.path.basename(step.argv[0]).startswith("python"):
        return (resolve(step.argv[0], python)[0], *step.argv[1:])
    return step.argv


def _observation(run: Path, index: int, plan: Plan, step: Step) -> Path | None:
    """Training in mixed precision leaves operator counts as evidence."""
    cell = next((cell for cell in plan.cells if cell.id == step.cell), None)
    if step.kind != "train" or cell is None or cell.precision != "amp":
        return None
    return run / "evidence" / str(index) / f"{step.id.replace('/', '__')}.ops.json"


def _new_log(folder: str, name: str) -> str:
    """An empty file for the log, of a name that is not taken."""
    path, number = f"{folder}/{name}.log", 1
    while True:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644))
            return path
        except FileExistsError:
            number += 1
            path = f"{folder}/{name}.{number}.log"
        except FileNotFoundError:
            os.makedirs(folder)


def _is_published(attempt: Attempt) -> bool:
    try:
        return not attempt.published_log or os.path.samefile(attempt.task.log, attempt.published_log)
    except OSError:
        return False


def _publish(attempt: Attempt, *, copy: bool = False) -> None:
    """Give the log its second name; on another disk it can only be copied, when it is complete."""
    place = attempt.published_log
    if not place or os.path.isdir(place):
        return  # some dialects name the save directory like a log; the run's own log is enough
    for _ in range(2):
        try:
            os.link(attempt.task.log, place)
            return
        except FileNotFoundError:
            os.makedirs(os.path.dirname(place), exist_ok=True)
        except FileExistsError:
            os.unlink(place)
        except OSError:
            break
    if copy:
        shutil.copyfile(attempt.task.log, place)
