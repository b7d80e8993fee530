"""TS0xx: what became of the steps, where they ran, and how long the chain took."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tipc.certify.evidence.logs import read_log
from tipc.certify.evidence.training_log_file import complaint
from tipc.certify.registry import Outcome, check, failed, not_certified, passed, unchecked
from tipc.certify.scene import CellScene, PlanScene, StepScene
from tipc.kinds import (
    BLOCKED,
    EXPORT,
    FLAKY,
    INFER,
    INTERRUPTED,
    PENDING,
    STEP_KINDS,
    TRAIN,
    TRAIN_CHAIN,
)
from tipc.language import sentence, sentences

SELECT_ALL = "run them as well: `tipc run --resume --only train,eval,export,infer`"
CHAIN_LIMIT = 600.0  # seconds: the spec's ten minutes
# A chain that computes keeps a core busy; one that does not was waiting, or somebody has stopped it.
IDLE_BELOW = 0.5
IDLE = "; the processors worked for {:.0f} s only: were its processes stopped?"
LITE = "lite_train_lite_infer"
NO_DEVICE = ("no-device", "planned-for")  # the planner's reasons that are about the machine


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
    why = sentence(result.reason, "en")
    if result.ok:
        again = f" at attempt {result.attempts}" if result.state == FLAKY else ""
        yield passed(f"passed in {result.wall:.1f} s{again}", evidence=evidence)
    elif result.left_out:
        yield unchecked("not selected for this run", remedy=SELECT_ALL, evidence=evidence)
    elif result.state in (BLOCKED, PENDING, INTERRUPTED):
        yield unchecked(f"{result.state}: {why or 'it was not run to its end'}", evidence=evidence)
    else:
        told = why or "no reason was recorded"
        yield failed(f"{result.state}: {told}{complaint(scene)}", evidence=evidence)


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
    if not scene.step_log.is_file():
        yield unchecked(f"the log is not there: {scene.step_log}")
        return
    errors = read_log(scene.step_log).errors
    evidence = {"log": str(scene.step_log), "errors": [f"{one.line}: {one.text}" for one in errors[:5]]}
    escaped = next((one for one in errors if not one.handled), None)
    if escaped is not None:
        yield failed(
            f"exit status 0, but the log tells of an error: {escaped.text} ({scene.step.log}:{escaped.line})",
            line=escaped.line,
            evidence=evidence,
        )
    elif errors:
        yield passed(
            f"it goes on without: {errors[0].text} ({scene.step.log}:{errors[0].line})", evidence=evidence
        )
    else:
        yield passed("no escaped error in the log", evidence=evidence)


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
    left_out = [skip for skip in scene.plan.skipped if skip.cell == cell.id and skip.reason.code in NO_DEVICE]
    if not cell.not_certified and left_out:
        yield not_certified(
            f"left out: {left_out[0].label}: {sentence(left_out[0].reason)}",
            asked=cell.asked,
            runs_on=cell.runs_on,
            left_out=[skip.label for skip in left_out],
        )
    elif cell.not_certified:
        why = sentences(cell.not_certified)
        yield not_certified(
            f"{cell.trainer} asked for `{cell.asked}`, ran on {cell.runs_on}: {why}",
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


@check(
    "TS005",
    "The chain goes from training to deployment",
    scope="plan",
    reads="the plan's steps",
    remedy="name the export and the inference script in the config: a chain that ends after training "
    "shows nothing "
    "about deployment",
)
def whole_chain(scene: PlanScene) -> Iterator[Outcome]:
    """A config whose export or inference line is empty, or stands a line too low, plans a chain that
    trains and stops: all its steps pass, and nothing was certified."""
    if scene.plan.chain != TRAIN_CHAIN:
        return
    kinds = {step.kind for step in scene.plan.steps}
    left_out = {skip.kind for skip in scene.plan.skipped if skip.reason.code in NO_DEVICE}
    wanted = (TRAIN, EXPORT, INFER) if TRAIN in kinds else (INFER,)
    absent = [kind for kind in wanted if kind not in kinds and kind not in left_out]
    if absent:
        told = f"the chain has no {' and no '.join(absent)}"
        reasons = {sentence(skip.reason, "en"): None for skip in scene.plan.skipped if skip.kind in absent}
        if reasons:
            # The config names a script, and asks only for what is left out.
            remedy = f"ask in the config for {' and '.join(absent)} with settings that are not left out"
            yield unchecked(f"{told}: {'; '.join(reasons)}", remedy=remedy, kinds=sorted(kinds))
        else:
            yield unchecked(told, kinds=sorted(kinds))
    elif kinds >= set(wanted):
        yield passed(" → ".join(kind for kind in STEP_KINDS if kind in kinds))


@check(
    "TS006",
    "The steps changed neither the run's record nor the sources that decide",
    scope="plan",
    reads="the run's files and the repository's scripts and configs, as they were and as they are",
    remedy="let no step write into .tipc, or into scripts and configs of the repository",
)
def untouched(scene: PlanScene) -> Iterator[Outcome]:
    """The accused does not hold the evidence: a step that rewrites the journal, another's log, a script or
    a config decides about its own verdict. The verdict comes from what tipc itself has seen; that somebody
    tried is a failure by itself."""
    repo = scene.repo.resolve()
    changed = [path for path in scene.run.changed_sources if Path(path).resolve().is_relative_to(repo)]
    tampered = [sentence(one, "en") for one in scene.run.tampered]
    evidence = {"changed_sources": changed[:20], "tampered": tampered}
    if tampered:
        yield failed(f"the run's record was changed: {tampered[0]}", evidence=evidence)
    elif changed:
        name = Path(changed[0]).relative_to(repo) if Path(changed[0]).is_relative_to(repo) else changed[0]
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        yield failed(f"{name}{more} changed while the steps ran", evidence=evidence)
    else:
        yield passed("as they were", evidence=evidence)
