"""TS0xx: what became of the steps, where they ran, and how long the chain took."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tipc.certify.evidence.logs import read_log
from tipc.certify.evidence.training_log_file import with_complaint
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
from tipc.message import Message, wording
from tipc.plan.plan_text import asked_text
from tipc.reasons import Reason
from tipc.run.record.results import StepResult

SELECT_ALL = "run them as well: `tipc run --resume --only train,eval,export,infer`"
CHAIN_LIMIT = 600.0  # seconds: the spec's ten minutes
# A chain that computes keeps a core busy; one that does not was waiting, or somebody has stopped it.
IDLE_BELOW = 0.5
NO_NEW_SCRIPTS = (
    "write generated scripts into the output directory; a later step may import what lies elsewhere"
)
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
    if result.ok:
        yield passed(time_taken(result), evidence=evidence)
    elif result.left_out:
        yield unchecked("not selected for this run", remedy=SELECT_ALL, evidence=evidence)
    elif result.state in (BLOCKED, PENDING, INTERRUPTED):
        why = result.reason or wording("it was not run to its end")
        told = wording("{state}: {why}", state=Message(result.state), why=why)
        yield unchecked(told, evidence=evidence)
    else:
        why = result.reason or wording("no reason was recorded")
        told = wording("{state}: {why}", state=Message(result.state), why=why)
        yield failed(with_complaint(scene, told), evidence=evidence)


def time_taken(result: StepResult) -> Message:
    """How long a step took that passed."""
    if result.state == FLAKY:
        return wording(
            "passed in {seconds:.1f} s at attempt {attempt}", seconds=result.wall, attempt=result.attempts
        )
    return wording("passed in {seconds:.1f} s", seconds=result.wall)


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
        yield unchecked(wording("the log is not there: {path}", path=str(scene.step_log)))
        return
    whole = read_log(scene.step_log)
    errors = whole.errors
    log = scene.outcome.log or str(scene.step_log)
    evidence = {"log": log, "errors": [f"{one.line}: {one.text}" for one in errors[:5]]}
    for error in errors:
        if error.handled:
            continue
        told = wording(
            "exit status 0, but the log has an error: {error} ({place})",
            error=error.text,
            place=f"{scene.step.log}:{error.line}",
        )
        yield failed(told, line=error.line, evidence=evidence)
        return
    if whole.errors_missed:
        told = wording(
            "the log has more that could be an error than is looked at ({log})", log=scene.step.log
        )
        yield unchecked(told, evidence=evidence)
    elif errors:
        place = f"{scene.step.log}:{errors[0].line}"
        told = wording("it goes on without: {error} ({place})", error=errors[0].text, place=place)
        yield passed(told, evidence=evidence)
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
    left_out = []
    for skip in scene.plan.skipped:
        if skip.cell == cell.id and skip.reason.code in NO_DEVICE:
            left_out.append(skip)
    if cell.not_certified:
        told = wording(
            "{trainer} asked for `{asked}`, ran on {device}: {why}",
            trainer=cell.trainer,
            asked=asked_text(cell),
            device=cell.runs_on,
            why=reasons_in_line(cell.not_certified),
        )
        yield not_certified(told, asked=cell.asked, runs_on=cell.runs_on)
    elif left_out:
        told = wording("left out: {what}: {why}", what=left_out[0].label, why=left_out[0].reason)
        yield not_certified(
            told,
            asked=cell.asked,
            runs_on=cell.runs_on,
            left_out=[skip.label for skip in left_out],
        )
    else:
        yield passed(wording("ran on {device}", device=cell.runs_on), asked=cell.asked, runs_on=cell.runs_on)


def reasons_in_line(reasons: Sequence[Reason]) -> Reason | Message:
    """Several reasons, one after the other."""
    line: Reason | Message = reasons[0]
    for reason in reasons[1:]:
        line = wording("{first}; {second}", first=line, second=reason)
    return line


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
    machine sleeps; what ran side by side counts in full. Time that a step's processes were ready to run and
    others had the processors is no fault of the repository and does not count."""
    if scene.plan.mode != LITE:
        return
    by_kind: dict[str, float] = {}
    waited = cpu = 0.0
    for step in scene.plan.steps:
        result = scene.result(step)
        by_kind[step.kind] = by_kind.get(step.kind, 0.0) + result.wall - result.waited
        waited += result.waited
        cpu += result.cpu
    seconds = sum(by_kind.values())
    evidence = {
        "seconds": round(seconds, 2),
        "limit": CHAIN_LIMIT,
        "by_kind": by_kind,
        "cpu": round(cpu, 2),
        "waited": round(waited, 2),
    }
    if seconds > CHAIN_LIMIT:
        yield failed(too_long(by_kind, cpu), evidence=evidence)
    elif len(scene.steps()) == len(scene.plan.steps):
        told = wording("{seconds:.0f} s of {limit:.0f} s", seconds=seconds, limit=CHAIN_LIMIT)
        if waited >= 1:
            told = wording(
                "{message}, and {waited:.0f} s of waiting for processors that others used",
                message=told,
                waited=waited,
            )
        yield passed(told, evidence=evidence)
    else:
        yield unchecked("not all of its steps ran", required=False, evidence=evidence)


def too_long(by_kind: dict[str, float], cpu: float) -> Message:
    """What is said of a chain that took too long."""
    seconds = sum(by_kind.values())
    slowest = max(by_kind, key=lambda kind: by_kind[kind])
    told = wording(
        "the steps took {seconds:.0f} s together, {most:.0f} s of it to {slowest}; allowed are {limit:.0f} s",
        seconds=seconds,
        most=by_kind[slowest],
        slowest=slowest,
        limit=CHAIN_LIMIT,
    )
    if cpu < IDLE_BELOW * seconds:
        return wording(
            "{message}; the processors worked for {cpu:.0f} s only: were its processes stopped?",
            message=told,
            cpu=cpu,
        )
    return told


@check(
    "TS005",
    "The chain goes from training to deployment",
    scope="plan",
    reads="the plan's steps",
    remedy="name the export and the inference script in the config: a chain that ends after training "
    "shows nothing about deployment",
)
def whole_chain(scene: PlanScene) -> Iterator[Outcome]:
    """A config whose export or inference line is empty, or stands a line too low, plans a chain that
    trains and stops: all its steps pass, and nothing was certified."""
    if scene.plan.chain != TRAIN_CHAIN:
        return
    kinds = {step.kind for step in scene.plan.steps}
    accounted = set(kinds)
    for skip in scene.plan.skipped:
        if skip.reason.code in NO_DEVICE:
            accounted.add(skip.kind)
    wanted: tuple[str, ...] = (INFER,)
    if TRAIN in kinds:
        wanted = (TRAIN, EXPORT, INFER)
    absent = [kind for kind in wanted if kind not in accounted]
    if absent:
        yield ends_early(scene, absent, kinds)
    elif kinds >= set(wanted):
        chain = " → ".join(kind for kind in STEP_KINDS if kind in kinds)
        yield passed(wording("{chain}", chain=chain))


def ends_early(scene: PlanScene, absent: list[str], kinds: set[str]) -> Outcome:
    """What is said of a chain without some kind of step."""
    told = wording("the chain has no {kind}", kind=absent[0])
    for kind in absent[1:]:
        told = wording("{message} and no {kind}", message=told, kind=kind)
    reasons = []
    for skip in scene.plan.skipped:
        if skip.kind in absent:
            reasons.append(skip.reason)
    if not reasons:
        return unchecked(told, kinds=sorted(kinds))
    # The config names a script, and asks only for what is left out.
    told = wording("{message}: {why}", message=told, why=reasons_in_line(list(dict.fromkeys(reasons))))
    remedy = wording("ask in the config for {kinds} with settings that are not left out", kinds=tuple(absent))
    return unchecked(told, remedy=remedy, kinds=sorted(kinds))


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
    tried is a failure by itself. Settings that no command names count where a step was seen to read them."""
    repo = scene.repo.resolve()
    changed = of_repository(repo, scene.run.changed_sources)
    written = of_repository(repo, scene.run.changed_settings)
    read = files_read(scene)
    changed += [path for path in written if path in read]
    new = of_repository(repo, scene.run.new_scripts)
    tampered = [wording("{what}", what=one) for one in scene.run.tampered]
    evidence = {"changed_sources": changed[:20], "tampered": tampered, "new_scripts": new[:20]}
    if tampered:
        told = wording("the run's record was changed: {what}", what=tampered[0])
        yield failed(told, evidence=evidence)
    elif changed:
        yield failed(changed_while_running(repo, changed), evidence=evidence)
    else:
        yield passed("as they were", evidence=evidence)
    if new:
        name = Path(new[0]).relative_to(repo).as_posix()
        told = wording(
            "scripts that were not there before: {count}, {first} for one", count=len(new), first=name
        )
        yield unchecked(told, required=False, remedy=NO_NEW_SCRIPTS, evidence=evidence)


def of_repository(repo: Path, paths: Sequence[str]) -> list[str]:
    """Those of some paths that are in a repository, with every link followed."""
    found = []
    for path in paths:
        real = Path(path).resolve()
        if real.is_relative_to(repo):
            found.append(str(real))
    return found


def files_read(scene: PlanScene) -> set[str]:
    """The lists and settings that the steps of a plan were seen to read."""
    found: set[str] = set()
    for step in scene.steps():
        facts = scene.facts(step)
        if facts is None:
            continue
        for process in facts.processes:
            found.update(os.path.realpath(path) for path in process.lists)
    return found


def changed_while_running(repo: Path, changed: list[str]) -> Message:
    """What is said of sources that a step changed."""
    name = changed[0]
    if Path(name).is_relative_to(repo):
        name = Path(name).relative_to(repo).as_posix()
    if len(changed) == 1:
        return wording("{file} changed while the steps ran", file=name)
    return wording("{file} and {more} more changed while the steps ran", file=name, more=len(changed) - 1)
