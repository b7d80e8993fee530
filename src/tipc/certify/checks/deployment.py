"""TP304, TP308–TP311: what the deployment does: its model, its inputs, its answers, and what it draws."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.checks.training_happened import elsewhere, seen_process
from tipc.certify.compare.agreement import FP32, INT8
from tipc.certify.compare.files_fed import (
    FILES,
    by_channel,
    difference,
    not_of_images,
    not_of_its_files,
    what_was_fed,
)
from tipc.certify.compare.picture_pairs import PREPROCESS, same_pictures
from tipc.certify.evidence.answers import ParityAnswer
from tipc.certify.evidence.deployed_images import answered_as_trained
from tipc.certify.evidence.evaluations import SeenEvaluation, seen_evaluation
from tipc.certify.evidence.exported import exported_digests, predictors_seen
from tipc.certify.evidence.input_images import input_images, named_images
from tipc.certify.evidence.predictions import predictions
from tipc.certify.evidence.training_log_file import with_complaint
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import CellScene, StepScene
from tipc.kinds import EXPORT, FAIL, INFER, PACT
from tipc.message import Message, wording
from tipc.plan.model import Step
from tipc.run.artefacts import digest as file_digest
from tipc.run.record.step_facts import PredictorFacts, ProcessFacts

LOOKED_AT = 1000  # samples that the witness tells apart
TELL_THEM = "print or write the result of each image, with its name"
WRITE_PARITY = (
    "write test_tipc/parity.py (`tipc init --parity` makes a skeleton; docs/parity.md has the protocol)"
)


@check(
    "TP308",
    "The deployment runs the model that was exported",
    scope="infer",
    reads="the files that predictors opened and that the export wrote, as the witness saw them",
    remedy="read the model that the command names, with paddle.inference, and run it",
)
def runs_the_exported_model(scene: StepScene) -> Iterator[Outcome]:
    """A script that opens another model, or none, prints what it likes: every other check of its log
    passes."""
    process, problem = seen_process(scene)
    if process is None:
        yield problem or unchecked("nothing was seen")
        return
    ran = predictors_seen(scene.facts(scene.step))
    if not ran:
        yield no_predictor(scene, process)
        return
    evidence = {
        "model": ran[0].model,
        "engine": ran[0].engine,
        "runs": sum(one.runs for one in ran),
        "samples": sum(one.samples for one in ran),
    }
    if not exported_digests(scene, scene.cell.id):
        told = wording("{model}; this chain exports none", model=ran[0].model)
        yield passed(told, evidence=evidence)
        return
    own = own_predictors(scene)
    if own:
        samples = sum(one.samples for one in own)
        told = wording("{model}, samples: {samples}", model=shown(scene, own[0].model), samples=samples)
        yield passed(told, evidence=evidence)
    elif any(one.digests for one in ran):
        told = wording(
            "it ran {model}, which is not what this chain exported", model=shown(scene, ran[0].model)
        )
        yield failed(told, evidence=evidence)
    elif ran[0].model:
        told = wording(
            "{model} was too large to read, or written to before it was read: which one it ran is not known",
            model=shown(scene, ran[0].model),
        )
        yield unchecked(told, evidence=evidence)
    else:
        yield unchecked(
            "it gave its predictor a model out of memory: which one is not known", evidence=evidence
        )


def no_predictor(scene: StepScene, process: ProcessFacts) -> Outcome:
    """What is said where no predictor was seen to run."""
    unseen = process.doors.get("paddle.inference")
    if unseen:
        return unchecked(wording("predictors could not be seen: {why}", why=unseen))
    if process.started:
        return unchecked(elsewhere(process, wording("predicted")))
    return failed(with_complaint(scene, "no predictor ran: the deployment opened no model"))


def own_predictors(scene: StepScene) -> list[PredictorFacts]:
    """The predictors that ran the model which this chain has exported, or any where it exports none: a
    pipeline may run others besides."""
    ran = predictors_seen(scene.facts(scene.step))
    exported = exported_digests(scene, scene.cell.id)
    if not exported:
        return ran
    own = []
    for one in ran:
        if one.digests and exported.issuperset(one.digests.values()):
            own.append(one)
    return own


def shown(scene: StepScene, path: str) -> str:
    """A path as people know it."""
    try:
        return str(Path(path).relative_to(scene.repo))
    except ValueError:
        return path


@check(
    "TP310",
    "Every image of the input list was predicted",
    scope="infer",
    reads="the images that the command names, what the predictor was fed, and the names in the log",
    remedy="go through the whole list, the rest of the last batch too, and print a result for each",
)
def every_image(scene: StepScene) -> Iterator[Outcome]:
    """A loop that ends after the first image, or loses the rest of a batch, is quick, and its log
    looks well."""
    images = input_images(scene)
    ran = own_predictors(scene)
    if not images or not ran:
        return
    unopened = images_not_opened(scene, images)
    if unopened:
        told = wording(
            "{count} of {images} images that the command names were never opened, {first} for one; others "
            "were",
            count=len(unopened),
            images=len(images),
            first=shown(scene, str(unopened[0])),
        )
        yield failed(told, evidence={"images": len(images), "opened": len(images) - len(unopened)})
        return
    if len(images) < 2:
        return
    samples = sum(one.samples for one in ran)  # predictors may share the list
    different = sum(one.different_samples for one in ran)
    contents = len({file_digest(image) for image in images if image.is_file()})
    evidence = {"images": len(images), "samples": samples, "different_samples": different}
    if 0 < different < min(contents, LOOKED_AT):
        told = wording(
            "{different} different samples were predicted, the list has {contents} different images",
            different=different,
            contents=contents,
        )
        yield failed(told, evidence=evidence)
        return
    if samples < len(images):
        told = wording(
            "{samples} samples were predicted, the list has {images} images",
            samples=samples,
            images=len(images),
        )
        yield failed(told, evidence=evidence)
        return
    named = named_images(scene, images)
    if not named and told_nobody(scene):
        told = wording(
            "{samples} samples were predicted; no line of the log is about one of the images, and no file "
            "was written",
            samples=samples,
        )
        yield unchecked(told, remedy=TELL_THEM, evidence=evidence)
        return
    if named and len(named) < len(images):
        absent = next(image for image in images if image not in named)
        told = wording(
            "the log names {named} of {images} images: nothing about {absent}",
            named=len(named),
            images=len(images),
            absent=absent.name,
        )
        yield failed(told, evidence=evidence)
    else:
        yield passed(wording("images: {count}", count=len(images)), evidence=evidence)


def told_nobody(scene: StepScene) -> bool:
    """Nothing says what was predicted: no result line could be read, and nothing was written. Unknown where
    another program or a fork may have."""
    facts = scene.facts(scene.step)
    if facts is None or predictions(scene, scene.step):
        return False
    for process in facts.processes:
        if process.pictures or process.written or process.forks or process.started:
            return False
    return True


def images_not_opened(scene: StepScene, images: list[Path]) -> list[Path]:
    """The images that the command names and that the step did not open, where it was seen to open some: in
    workers and other programs it is not."""
    facts = scene.facts(scene.step)
    if facts is None:
        return []
    opened: set[str] = set()
    for process in facts.processes:
        if process.forks or process.started or len(process.images) >= LOOKED_AT:
            return []
        opened.update(map(os.path.realpath, process.images))
    if not opened:
        return []
    return [image for image in images if os.path.realpath(image) not in opened]


@check(
    "TP304",
    "Deployment feeds what training saw",
    scope="cell",
    reads="the same images in evaluation and deployment, as the witness saw them; "
    "test_tipc/parity.py, if there is one",
    remedy="take the transforms of training, evaluation and deployment from one place; write them into "
    "the exported model's yaml",
)
def preprocessing(scene: CellScene) -> Iterator[Outcome]:
    """Same weights, other input: another resize, crop, mean, scale or colour order in the deployment script.
    It is the most frequent cause of a model that is worse in production, and no error is ever raised."""
    evaluation = seen_evaluation(scene, scene.cell.id)
    for outcome in by_protocol(scene):
        yield or_in_the_model(scene, evaluation, outcome)
    if evaluation is None:
        return
    pictures = [value for value in evaluation.inputs.values() if value.ndim == 4]
    if not pictures:
        return
    for step in scene.steps(INFER, scene.cell.id):
        fed = fed_pictures(scene, step)
        if fed is None:
            continue
        outcome = against_pictures(scene, evaluation, pictures[0], step, fed)
        yield or_in_the_model(scene, evaluation, outcome)
        return


def or_in_the_model(scene: CellScene, evaluation: SeenEvaluation | None, outcome: Outcome) -> Outcome:
    """Images that are fed otherwise are no fault where the export took a part of the preprocessing into the
    model: then the same images are answered as the trained network answers them."""
    if outcome.status != FAIL or evaluation is None:
        return outcome
    bound = FP32
    if scene.cell.precision == PACT:
        bound = INT8
    deployed = answered_as_trained(scene, scene.cell.id, evaluation, bound)
    if deployed is None:
        return outcome
    told = wording(
        "{difference}; the model makes up for it: {images} images are answered as the trained network "
        "answers them, {figures}",
        difference=outcome.message,
        images=deployed.images,
        figures=deployed.figures,
    )
    return passed(told, evidence={**outcome.evidence, "table": deployed.rows})


def against_pictures(
    scene: CellScene, evaluation: SeenEvaluation, pictures: NDArray[Any], deployed: Step, fed: NDArray[Any]
) -> Outcome:
    """What the evaluation was fed, against what the deployment was fed."""
    found = same_pictures(pictures, fed)
    evidence = {"pairs": found.pairs, "max_abs": found.max_abs, "note": found.note, "step": deployed.id}
    if not found.pairs:
        return by_files(scene, evaluation.step, pictures, deployed, fed, evidence)
    if found.max_abs <= PREPROCESS:
        told = wording(
            "{pairs} images fed alike, max |Δ| {max_abs:.2g}", pairs=found.pairs, max_abs=found.max_abs
        )
        return passed(told, evidence=evidence)
    if found.certain:
        told = wording("the deployment feeds the images of the evaluation otherwise: {why}", why=found.note)
        return failed(told, step=deployed.id, evidence=evidence)
    told = wording(
        "the deployment feeds them otherwise by up to {max_abs:.3g}: {why}",
        max_abs=found.max_abs,
        why=found.note,
    )
    return unchecked(told, required=False, evidence=evidence)


def by_files(
    scene: CellScene,
    evaluated: Step,
    pictures: NDArray[Any],
    deployed: Step,
    fed: NDArray[Any],
    evidence: dict[str, Any],
) -> Outcome:
    """Evaluation and deployment fed other images: what each did to the files that it opened."""
    opened, opened_later = files_of(scene, evaluated), files_of(scene, deployed)
    one = what_was_fed(pictures, opened)
    other = what_was_fed(fed, opened_later)
    evidence = {**evidence, "evaluated": asdict(one), "deployed": asdict(other)}
    told = difference(one, other)
    if told is not None:
        message = wording("by its image files: {difference}", difference=told)
        return failed(message, step=deployed.id, evidence=evidence)
    shared = bool(opened_later) and opened_later.keys() <= opened.keys()
    why = not_of_images(pictures, fed, one, other, shared=shared)
    if why is not None:
        return unchecked(
            why,
            step=evaluated.id,
            remedy="evaluate the images, prepared as for the deployment",
            evidence=evidence,
        )
    # Of more files, those that were fed may not be among those looked at; nor after a warm-up with noise.
    if shared and len(opened) <= FILES and fed_no_more_than(scene, deployed, len(fed)):
        why = not_of_its_files(pictures, fed, one, other)
    if why is not None:
        return unchecked(
            why,
            step=deployed.id,
            remedy="feed the images that were opened, prepared as for the evaluation",
            evidence=evidence,
        )
    if one.slope and other.slope:
        order = Message(one.order or "grey")
        message = wording("other images, fed in the same way: {order}, {line}", order=order, line=one.line)
        return passed(message, evidence=evidence)
    # The files that were opened do not tell: what is left are figures of other images.
    return unchecked(by_channel(pictures, fed), required=False, evidence=evidence)


def files_of(scene: CellScene, step: Step) -> dict[str, NDArray[Any]]:
    """The image files that a step opened, decoded."""
    process = scene.main_process(step)
    found: dict[str, NDArray[Any]] = {}
    if process is None:
        return found
    for path in process.images:
        if path in scene.images:
            found[path] = scene.images[path]
    return found


def by_protocol(scene: CellScene) -> Iterator[Outcome]:
    """What the repository's own parity.py says about its two preprocessings."""
    for step in scene.steps(EXPORT, scene.cell.id):
        answer = scene.answer("parity", step)
        if isinstance(answer, ParityAnswer):
            yield judge_answer(answer, scene.run.directory / "evidence")


def judge_answer(answer: ParityAnswer, logs: Path) -> Outcome:
    """What follows from an answer of parity.py."""
    if answer.error:
        told = wording(
            "test_tipc/parity.py broke: {error} (see probe-*.log in {logs})",
            error=answer.error,
            logs=str(logs),
        )
        return failed(told, remedy="correct test_tipc/parity.py, or remove it: it is not needed")
    if answer.missing:
        return unchecked(
            wording("there is no {name}", name=answer.missing), required=False, remedy=WRITE_PARITY
        )
    largest = answer.preprocess_max_abs
    if largest is None:
        one, other = [*answer.preprocess_shapes, [], []][:2]
        told = wording(
            "training feeds {one}, deployment {other}: the preprocessing differs", one=one, other=other
        )
        return failed(told)
    if largest <= PREPROCESS:
        return passed(wording("same input by parity.py, max |Δ| {max_abs:.2g}", max_abs=largest))
    told = wording("the preprocessing differs by {max_abs:.3g}", max_abs=largest)
    if answer.preprocess_note:
        told = wording("{message}: {note}", message=told, note=answer.preprocess_note)
    return failed(told)


def fed_pictures(scene: CellScene, step: Step) -> NDArray[Any] | None:
    """The pictures that a step's predictor was fed; None: none."""
    arrays = scene.arrays(step)
    for predictor in predictors_seen(scene.facts(step)):
        parts: list[NDArray[Any]] = []
        for run in predictor.kept:
            for picture in pictures_of(predictor, run.inputs, arrays):
                if not parts or picture.shape[1:] == parts[0].shape[1:]:
                    parts.append(picture)
        if parts:
            return np.asarray(np.concatenate(parts))
    return None


def fed_no_more_than(scene: CellScene, step: Step, count: int) -> bool:
    """Whether the predictors of a step were fed so many different samples at most."""
    return all(predictor.different_samples <= count for predictor in predictors_seen(scene.facts(step)))


def pictures_of(
    predictor: PredictorFacts, inputs: Any, arrays: dict[str, NDArray[Any]]
) -> Iterator[NDArray[Any]]:
    """The pictures among the inputs of a run."""
    for key in inputs.values():
        if key in arrays and arrays[key].ndim == 4:
            yield arrays[key]
