"""One attempt at one step: everything that is done before its process starts and after it has ended."""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

from tipc.kinds import FAILED, FLAKY, GOOD, INTERRUPTED, PASSED, PREPARE, TIMEOUT
from tipc.plan.model import Plan, Step
from tipc.reasons import Reason, because
from tipc.run.artefacts import StaleOutputs, digests, missing, move_stale_outputs, settle
from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.prepare.data_at_risk import data_at_risk, data_that_is_there, not_put_back
from tipc.run.record.disk import disk_problem
from tipc.run.record.facts import facts_base, file_name
from tipc.run.record.results import StepResult
from tipc.run.schedule.resources import cores_of
from tipc.run.tasks import Conditions, argv_of, environment, may_be_warm


@dataclass(frozen=True)
class Attempt:
    """A step that is about to run, or runs."""

    plan: Plan
    step: Step
    number: int  # 1: the first in this call
    task: Task
    aside: StaleOutputs
    at_risk: tuple[str, ...] = ()  # preparing: data that it would remove, or an attempt before it has removed

    @property
    def published_log(self) -> str:
        """Where the dialect wants the log, if it does; the run keeps its own name for the same file."""
        if not self.step.log:
            return ""
        return os.path.join(self.plan.repo, self.step.log)


def begin(
    conditions: Conditions,
    index: int,
    plan: Plan,
    step: Step,
    number: int,
    before: StepResult | None = None,
) -> Attempt:
    """Make room for the step: its log, its artefacts' places, its environment. ``before``: what the attempt
    before it came to."""
    run, root = conditions.run, Path(plan.repo)
    name = file_name(step.id)
    try:
        log = _new_log(f"{run}/logs/{index}", name)
    except OSError as error:
        raise disk_problem(error, run) from error
    cores = cores_of(step, conditions.cores)
    if step.measures and not step.gpus:
        cores = conditions.cores
    task = Task(
        name=step.id,
        argv=argv_of(plan, step, conditions.python),
        cwd=root / step.cwd,
        env=environment(conditions.environ, step.env),
        log=Path(log),
        timeout=conditions.timeout,
        gpus=step.gpus,
        cores=cores,
        warm=may_be_warm(conditions, step),
        facts=facts_base(run, index, step.id),
    )
    aside = move_stale_outputs(root, step.produces, run / "aside" / str(index) / name)
    attempt = Attempt(plan, step, number, task, aside, _at_risk(plan, step, before))
    try:
        _publish(attempt)
    except OSError as error:
        raise disk_problem(error, root) from error
    return attempt


def _at_risk(plan: Plan, step: Step, before: StepResult | None) -> tuple[str, ...]:
    """What is there and would be removed, and what is missing already since an attempt before."""
    if step.kind != PREPARE:
        return ()
    paths = data_that_is_there(plan, data_at_risk(plan))
    if before is not None:
        paths += before.removed
    return tuple(dict.fromkeys(paths))


def finish(attempt: Attempt, outcome: TaskOutcome, executor: str) -> StepResult:
    """What the attempt came to. Only a step that ended with 0 and left new artefacts has passed."""
    step, root = attempt.step, Path(attempt.plan.repo)
    state, reason = judge(outcome, attempt.task.timeout)
    if state == PASSED:
        state, reason = _judge_pass(attempt, outcome)
    good = state in GOOD
    found: dict[str, str] = {}
    try:
        if good:
            found = digests(root, step.produces, attempt.aside)
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
        waited=min(outcome.waited, outcome.wall),
        peak_rss=outcome.peak_rss,
        peak_gpu=outcome.peak_gpu,
        gpu_util=outcome.gpu_util,
        log=str(attempt.task.log),
        warm=outcome.warm,
        executor=executor,
        host=outcome.host,
        artefacts=found,
        removed=not_put_back(attempt.plan, attempt.at_risk),
        facts=outcome.facts,
        clock=outcome.clock,
    )


def judge(outcome: TaskOutcome, timeout: float | None) -> tuple[str, Reason | None]:
    """The state that a process's end stands for, and why."""
    if outcome.interrupted:
        return INTERRUPTED, because("stopped")
    if outcome.timed_out:
        return TIMEOUT, because("no-end-in", seconds=timeout or 0.0)
    if outcome.error:
        return FAILED, because("not-started", error=outcome.error)
    if outcome.signal is not None:
        return FAILED, because("signal", name=signal_name(outcome.signal))
    if outcome.exit_code is None:
        return FAILED, because("not-started", error="nothing is known about its end")
    if outcome.exit_code != 0:
        return FAILED, because("exit", status=outcome.exit_code)
    return PASSED, None


def _judge_pass(attempt: Attempt, outcome: TaskOutcome) -> tuple[str, Reason | None]:
    """What the end of a command that says it succeeded comes to."""
    lack = missing(Path(attempt.plan.repo), attempt.step.produces, attempt.aside)
    if lack:
        return FAILED, lack
    if attempt.number > 1:
        return FLAKY, because("passed-at-attempt", attempt=attempt.number)
    if outcome.left:
        return PASSED, because("left-processes", count=outcome.left)
    return PASSED, None


def signal_name(number: int) -> str:
    """SIGSEGV for 11; real-time signals keep their number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


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
