"""TS0xx: what became of the steps, where they ran, and how long the chain took."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tipc.certify.logs import lines
from tipc.certify.registry import Outcome, check, failed, not_certified, passed, unchecked
from tipc.certify.scene import CellScene, PlanScene, StepScene
from tipc.run.record import BLOCKED, FLAKY, INTERRUPTED, PENDING

SELECT_ALL = "run them as well: `tipc run --resume --only train,eval,export,infer`"
CHAIN_LIMIT = 600.0  # seconds: the spec's ten minutes
# A chain that computes keeps a core busy; one that does not was waiting, or somebody has stopped it.
IDLE_BELOW = 0.5
IDLE = "; the processors worked for {:.0f} s only: were its processes stopped?"
LITE = "lite_train_lite_infer"
NO_DEVICE = (
    "no GPU on this machine",
    "planned for the CPU",
)  # the planner's reasons that are about the machine

# What a program prints only when it dies or an error escapes it. A handled error has no need of these words.
DEATH = re.compile(
    r"^\s*(?:Traceback \(most recent call last\):|Segmentation fault|Aborted(?: \(core dumped\))?$|Killed$|"
    r"FatalError: |C\+\+ Traceback \(most recent call last\)|\[?\(?(?:InvalidArgument|NotFound|OutOfRange|"
    r"Unavailable|Unimplemented|ResourceExhausted|PreconditionNotMet|PermissionDenied)Error?\)? )"
)
ERROR = re.compile(r"^\s*(?:[\w.]*(?:Error|Exception|Interrupt)|AssertionError)\b(?::\s*(.*))?$")


@check(
    "TS001",
    "The step ran and passed",
    scope="step",
    reads="the run's journal",
    remedy="read the step's log; then `tipc run --rerun-failed`",
)
def step_passed(scene: StepScene) -> Iterator[Outcome]:
    """A chain is certified when each of its steps was run and ended well: exit status 0, no signal, no
    time-out, and every file that it must leave behind was written. The bash scripts lose the status in
    several families."""
    result = scene.outcome
    evidence = {
        "state": result.state,
        "exit_code": result.exit_code,
        "attempts": result.attempts,
        "wall": round(result.wall, 3),
        "log": result.log,
    }
    if result.ok:
        again = f" at attempt {result.attempts}" if result.state == FLAKY else ""
        yield passed(f"passed in {result.wall:.1f} s{again}", evidence=evidence)
    elif result.left_out:
        yield unchecked("not selected for this run", remedy=SELECT_ALL, evidence=evidence)
    elif result.state in (BLOCKED, PENDING, INTERRUPTED):
        yield unchecked(f"{result.state}: {result.reason or 'it was not run to its end'}", evidence=evidence)
    else:
        yield failed(f"{result.state}: {result.reason or 'no reason was recorded'}", evidence=evidence)


@check(
    "TS002",
    "A step that passed did not crash on the way",
    scope="step",
    reads="the step's log",
    remedy="let the script end with a status other than 0 when it fails; do not catch and print the error",
)
def no_swallowed_error(scene: StepScene) -> Iterator[Outcome]:
    """A script that prints a traceback and then calls exit(), or catches every error, ends with status 0: the
    bash says "Run successfully" although nothing was done."""
    if not scene.outcome.ok:
        return
    found = 0
    for number, text in lines(scene.step_log):
        if not found and DEATH.match(text):
            found, message = number, text.strip()
        elif found and (match := ERROR.match(text)):
            found, message = number, match[0].strip()
            break
    if found:
        yield failed(
            f"exit status 0, but the log tells of an error: {message[:200]} ({scene.step.log}:{found})",
            log=str(scene.step_log),
            line=found,
        )
    elif scene.step_log.is_file():
        yield passed("no escaped error in the log", log=str(scene.step_log))
    else:
        yield unchecked(f"the log is not there: {scene.step_log}")


@check(
    "TS003",
    "It ran on the device that was asked for",
    scope="cell",
    reads="the plan's cells",
    remedy="run it on a machine with that device",
)
def asked_device(scene: CellScene) -> Iterator[Outcome]:
    """A cell for a GPU that ran on a CPU shows that the scripts work, and nothing about the GPU. Inference
    that was left out because the device is not here shows nothing at all."""
    cell = scene.cell
    left_out = [
        skip for skip in scene.plan.skipped if skip.cell == cell.id and skip.reason in NO_DEVICE and skip.what
    ]
    if not cell.not_certified and left_out:
        yield not_certified(
            f"left out: {left_out[0].what}: {left_out[0].reason}",
            asked=cell.asked,
            runs_on=cell.runs_on,
            left_out=[skip.what for skip in left_out],
        )
    elif cell.not_certified:
        yield not_certified(
            f"{cell.trainer} asked for `{cell.asked}`, ran on {cell.runs_on}: {cell.not_certified}",
            asked=cell.asked,
            runs_on=cell.runs_on,
        )
    else:
        yield passed(f"ran on {cell.runs_on}", asked=cell.asked, runs_on=cell.runs_on)


@check(
    "TS004",
    "The lite chain takes at most ten minutes",
    scope="plan",
    reads="the run's journal",
    remedy="fewer epochs or iterations in the lite mode's line, smaller images, fewer of them",
)
def chain_time(scene: PlanScene) -> Iterator[Outcome]:
    """The lite mode is for every commit: the spec wants its whole chain, all its commands one after the
    other, done within ten minutes. That is the sum of what each took by a clock that stands still while the
    machine sleeps; what ran side by side counts in full."""
    if scene.plan.mode != LITE:
        return
    by_kind: dict[str, float] = {}
    for step in scene.plan.steps:
        by_kind[step.kind] = by_kind.get(step.kind, 0.0) + scene.result(step).wall
    seconds = sum(by_kind.values())
    cpu = sum(scene.result(step).cpu for step in scene.plan.steps)
    evidence = {
        "seconds": round(seconds, 2),
        "limit": CHAIN_LIMIT,
        "by_kind": by_kind,
        "cpu": round(cpu, 2),
    }
    if seconds > CHAIN_LIMIT:
        slowest = max(by_kind, key=lambda kind: by_kind[kind])
        yield failed(
            f"the steps took {seconds:.0f} s together, {by_kind[slowest]:.0f} s of it to {slowest}; "
            f"allowed are {CHAIN_LIMIT:.0f} s" + (IDLE.format(cpu) if cpu < IDLE_BELOW * seconds else ""),
            evidence=evidence,
        )
    elif len(scene.steps()) == len(scene.plan.steps):
        yield passed(f"{seconds:.0f} s of {CHAIN_LIMIT:.0f} s", evidence=evidence)
    else:
        yield unchecked("not all of its steps ran", required=False, evidence=evidence)
