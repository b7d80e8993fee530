"""TS007: functions of paddle's that could not be watched, and what is concluded without them.

A door is one kind of paddle's functions (``run/guest/witness``). Of what it would have shown nothing is
known where it is not there: a check that rests on it cannot tell what was not done from what was not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tipc.certify.registry import Outcome, check, unchecked
from tipc.certify.scene import CellScene, PlanScene, StepScene
from tipc.kinds import FAIL, TRAIN, UNCHECKED
from tipc.message import wording

TRAINING = ("Optimizer.step", "paddle.grad", "Executor.run", "Layer.__call__")
EVALUATION = ("Layer.__call__", "Executor.run", "paddle.load, paddle.save")
DEPLOYMENT = ("paddle.inference", "Executor.run")
EXPORTED = ("paddle.jit.save", "Executor.run", "Layer.__call__")
IMAGES = ("images",)
# Check → the doors that its findings rest on.
RESTS_ON: Mapping[str, tuple[str, ...]] = {
    "TA201": ("operators",),
    "TA202": ("paddle.amp", "operators", "Layer.__call__"),
    "TB604": DEPLOYMENT,
    "TL103": TRAINING,
    "TL105": TRAINING,
    "TL107": TRAINING,
    "TL108": EVALUATION,
    "TL109": TRAINING,
    "TP301": (*EVALUATION, *EXPORTED),
    "TP302": (*EVALUATION, *EXPORTED, *DEPLOYMENT),
    "TP303": (*EVALUATION, *EXPORTED),
    "TP304": (*EVALUATION, *DEPLOYMENT, *IMAGES),
    "TP305": (*EVALUATION, *EXPORTED, *DEPLOYMENT),
    "TP307": DEPLOYMENT,
    "TP308": (*DEPLOYMENT, *EXPORTED),
    "TP309": DEPLOYMENT,
    "TP310": (*DEPLOYMENT, *IMAGES),
    "TP311": (*DEPLOYMENT, *IMAGES),
    "TQ402": (*TRAINING, "paddle.load, paddle.save"),
    "TQ403": (*TRAINING, "paddle.load, paddle.save"),
    "TQ404": DEPLOYMENT,
    "TQ405": ("operators",),
    "TT901": (*TRAINING, "paddle.load, paddle.save"),
    "TT902": (*TRAINING, "paddle.load, paddle.save"),
    "TT903": (*TRAINING, "paddle.distributed"),
    "TT904": TRAINING,
    "TT905": (*EVALUATION, *IMAGES),
    "TT906": EVALUATION,
    "TT907": IMAGES,
    "TX704": EXPORTED,
}
# Of the whole process: its import of paddle was not seen, its report is malformed, or its end is missing.
ANOTHER_PADDLE = "run it with another release of paddle, and let no script take paddle apart"
OF_ALL = ("paddle", "witness", "end")


@check(
    "TS007",
    "All of paddle's functions that are looked at could be watched",
    scope="plan",
    reads="what the witness says of its own doors, in every process of every step",
    remedy=ANOTHER_PADDLE,
)
def every_door(scene: PlanScene) -> Iterator[Outcome]:
    """A paddle of another release may lack a function that the witness watches, or have another in its place.
    What it would have shown is then not known, and the checks that rest on it cannot be made."""
    doors: list[dict[str, str]] = []
    names: dict[str, str] = {}
    for step in scene.steps():
        for door, why in closed_doors(scene, step.id).items():
            names.setdefault(door, why)
            doors.append({"step": step.id, "door": door, "why": why})
    if not doors:
        return
    told = tuple(f"{door} ({why})" for door, why in names.items())
    yield unchecked(
        wording("could not be watched: {doors}", doors=told), required=False, evidence={"doors": doors[:50]}
    )


def closed_doors(scene: PlanScene, step: str) -> dict[str, str]:
    """The doors that could not be watched in a step, and why."""
    found: dict[str, str] = {}
    facts = scene.witnessed.get((scene.plan.key, step))
    if facts is None:
        return found
    for process in facts.processes:
        for door, why in process.doors.items():
            if why:
                found.setdefault(door, why)
    return found


def without_doors(name: str, outcome: Outcome, scene: CellScene) -> Outcome:
    """What a check has concluded; a failure that rests on a door which could not be watched is none."""
    if outcome.status != FAIL:
        return outcome
    door, why = door_of(name, scene)
    if not door:
        return outcome
    told = wording(
        "{message}; but {door} could not be watched: {why}", message=outcome.message, door=door, why=why
    )
    return replace(outcome, status=UNCHECKED, message=told, remedy=ANOTHER_PADDLE)


def door_of(name: str, scene: CellScene) -> tuple[str, str]:
    """A door that a check rests on and that was closed, and why; empty: there is none."""
    rests_on = RESTS_ON.get(name, ())
    if not rests_on:
        return "", ""
    for step in steps_behind(scene):
        closed = closed_doors(scene, step)
        for door in (*rests_on, *OF_ALL):
            if door in closed:
                return door, closed[door]
    return "", ""


def steps_behind(scene: CellScene) -> list[str]:
    """The steps whose facts a check is shown: of a training its own, else all of the cell."""
    if isinstance(scene, StepScene) and scene.step.kind == TRAIN:
        return [scene.step.id]
    return [step.id for step in scene.steps("", scene.cell.id)]
