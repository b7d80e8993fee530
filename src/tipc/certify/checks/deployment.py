"""TP304, TP308–TP311: what the deployment does: its model, its inputs, its answers, and what it draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.checks.training_happened import elsewhere, seen_process
from tipc.certify.compare.agreement import FP32, INT8, compare
from tipc.certify.compare.drawn import drawn_otherwise, masks_of
from tipc.certify.compare.files_fed import difference, what_was_fed
from tipc.certify.compare.picture_pairs import same_pictures
from tipc.certify.evidence.answers import ParityAnswer
from tipc.certify.evidence.evaluations import seen_evaluation
from tipc.certify.evidence.exported import export_of_cell, exports_seen, predictors_seen
from tipc.certify.evidence.input_images import input_images, named_images
from tipc.certify.evidence.training_log_file import complaint
from tipc.certify.evidence.trials import DEPLOYED
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import CellScene, StepScene
from tipc.kinds import EXPORT, INFER
from tipc.kinds import INT8 as INT8_WORD
from tipc.plan.model import Step
from tipc.run.artefacts import digest as file_digest
from tipc.run.record.facts import PredictorFacts

PREPROCESS = 1e-3  # of a normalised batch
LOOKED_AT = 1000  # samples that the witness tells apart
WRITE_PARITY = "write test_tipc/parity.py (`tipc init` makes a skeleton; docs/parity.md tells the protocol)"


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
        if process.doors.get("paddle.inference"):
            yield unchecked(f"predictors could not be seen: {process.doors['paddle.inference']}")
        elif process.started:
            yield unchecked(elsewhere(process, "predicted"))
        else:
            yield failed(f"no predictor ran: the deployment opened no model{complaint(scene)}")
        return
    evidence = {
        "model": ran[0].model,
        "engine": ran[0].engine,
        "runs": sum(one.runs for one in ran),
        "samples": sum(one.samples for one in ran),
    }
    exported = exported_digests(scene)
    if not exported:
        yield passed(f"{ran[0].model}; this chain exports none", evidence=evidence)
        return
    own = own_predictors(scene)
    if not own and not any(one.digests for one in ran):
        yield unchecked(
            "it gave its predictor a model out of memory: which one is not known", evidence=evidence
        )
    elif not own:
        yield failed(
            f"it ran {shown(scene, ran[0].model)}, which is not what this chain exported",
            evidence=evidence,
        )
    else:
        samples = sum(one.samples for one in own)
        yield passed(f"{shown(scene, own[0].model)}, {samples} samples", evidence=evidence)


def own_predictors(scene: StepScene) -> list[PredictorFacts]:
    """The predictors that ran the model which this chain has exported, or any where it exports none: a
    pipeline may run others besides."""
    ran = predictors_seen(scene.facts(scene.step))
    exported = exported_digests(scene)
    if not exported:
        return ran
    return [one for one in ran if one.digests and exported.issuperset(one.digests.values())]


def shown(scene: StepScene, path: str) -> str:
    """A path as people know it."""
    try:
        return str(Path(path).relative_to(scene.repo))
    except ValueError:
        return path


def exported_digests(scene: CellScene) -> set[str]:
    """The files that the cell's export wrote, by what is in them."""
    found: set[str] = set()
    for step in scene.steps(EXPORT, scene.cell.id):
        for export in exports_seen(scene.facts(step)):
            found.update(export.files.values())
    model = export_of_cell(scene, scene.cell.id)
    if not found and model is not None:
        found = {file_digest(model.structure), file_digest(model.parameters)}
    return found


@check(
    "TP309",
    "The deployment's own inputs give its own outputs",
    scope="infer",
    reads="what its predictor was fed and gave, and the exported model on the same inputs",
    remedy="do not change what the predictor gives before it is fetched; one model, one engine, one answer",
)
def replayed(scene: StepScene) -> Iterator[Outcome]:
    """The inputs of the deployment go through the exported model once more, in the engine that it used. What
    comes out must be what came out there: no cache, no other model behind the same name."""
    for step in scene.steps(EXPORT, scene.cell.id):
        for one in scene.trials(step):
            if one.trial.source != f"{DEPLOYED} {scene.step.id}":
                continue
            if one.error:
                yield unchecked(f"its inputs could not be replayed: {one.error}", required=False)
                return
            yield same_outputs(scene, one.outputs)
            return


def same_outputs(scene: StepScene, outputs: dict[str, NDArray[Any]]) -> Outcome:
    """Whether a replay gave what the deployment got in its first run."""
    arrays = scene.arrays(scene.step)
    predictor = next(one for one in predictors_seen(scene.facts(scene.step)) if one.kept)
    bound = INT8 if predictor.precision == INT8_WORD else FP32
    compared = 0
    by_place = dict(zip(map(str, range(len(outputs))), outputs.values(), strict=True))  # of a loaded model
    for name, key in predictor.kept[0].outputs.items():
        again = outputs.get(name, by_place.get(name))
        if key not in arrays or again is None:
            continue
        compared += 1
        agreement = compare(arrays[key], again)
        if not agreement.agrees(bound):
            return failed(f"replayed, output {name} is another: {agreement.text()}", noise=agreement.noise)
    if not compared:
        return unchecked("the deployment fetched no output", required=False)
    return passed(f"{compared} outputs as they were", batch=predictor.kept[0].batch)


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
    if len(images) < 2 or not ran:
        return
    samples = sum(one.samples for one in ran)  # predictors may share the list
    different = sum(one.different_samples for one in ran)
    contents = len({file_digest(image) for image in images if image.is_file()})
    evidence = {"images": len(images), "samples": samples, "different_samples": different}
    if 0 < different < min(contents, LOOKED_AT):
        yield failed(
            f"{different} different samples were predicted, the list has {contents} different images",
            evidence=evidence,
        )
        return
    if samples < len(images):
        yield failed(
            f"{samples} samples were predicted, the list has {len(images)} images", evidence=evidence
        )
        return
    named = named_images(scene, images)
    if named and len(named) < len(images):
        absent = next(image for image in images if image not in named)
        yield failed(
            f"the log names {len(named)} of {len(images)} images: nothing about {absent.name}",
            evidence=evidence,
        )
    else:
        yield passed(f"{len(images)} images", evidence=evidence)


@check(
    "TP304",
    "Deployment feeds what training saw",
    scope="cell",
    reads="the same images in evaluation and deployment, as the witness saw them; "
    "test_tipc/parity.py, if there is one",
    remedy="take the transforms of training, evaluation and deployment from one place; write them into "
    "the exported "
    "model's yaml",
)
def preprocessing(scene: CellScene) -> Iterator[Outcome]:
    """Same weights, other input: another resize, crop, mean, scale or colour order in the deployment script.
    It is the most frequent cause of a model that is worse in production, and no error is ever raised."""
    yield from by_protocol(scene)
    evaluation = seen_evaluation(scene, scene.cell.id)
    if evaluation is None:
        return
    pictures = [value for value in evaluation.inputs.values() if value.ndim == 4]
    if not pictures:
        return
    for step in scene.steps(INFER, scene.cell.id):
        fed = fed_pictures(scene, step)
        if fed is None:
            continue
        found = same_pictures(pictures[0], fed)
        evidence = {"pairs": found.pairs, "max_abs": found.max_abs, "note": found.note, "step": step.id}
        if found.pairs and found.max_abs <= PREPROCESS:
            yield passed(f"{found.pairs} images fed alike, max |Δ| {found.max_abs:.2g}", evidence=evidence)
        elif found.pairs and found.certain:
            yield failed(
                f"the deployment feeds the images of the evaluation otherwise: {found.note}",
                step=step.id,
                evidence=evidence,
            )
        elif found.pairs:
            yield unchecked(
                f"the deployment feeds them otherwise by up to {found.max_abs:.3g}: {found.note}",
                required=False,
                evidence=evidence,
            )
        else:
            yield by_files(scene, evaluation.step, pictures[0], step, fed, evidence)
        return


def by_files(
    scene: CellScene,
    evaluated: Step,
    pictures: NDArray[Any],
    deployed: Step,
    fed: NDArray[Any],
    evidence: dict[str, Any],
) -> Outcome:
    """Evaluation and deployment fed other images: what each did to the files that it opened."""
    one = what_was_fed(pictures, files_of(scene, evaluated))
    other = what_was_fed(fed, files_of(scene, deployed))
    evidence = {**evidence, "evaluated": asdict(one), "deployed": asdict(other)}
    told = difference(one, other)
    if told:
        return failed(f"by its image files: {told}", step=deployed.id, evidence=evidence)
    if one.slope and other.slope:
        words = f"{one.order or 'grey'}, {one.line}"
        return passed(f"other images, fed in the same way: {words}", evidence=evidence)
    return unchecked(
        "no image of the evaluation was deployed, and the files that were opened do not tell more",
        required=False,
        evidence=evidence,
    )


def files_of(scene: CellScene, step: Step) -> dict[str, NDArray[Any]]:
    """The image files that a step opened, decoded."""
    process = scene.main_process(step)
    paths = process.images if process is not None else ()
    return {path: scene.images[path] for path in paths if path in scene.images}


@check(
    "TP311",
    "What was drawn is what was predicted",
    scope="infer",
    reads="the pictures of classes that the inference step wrote, and the outputs of its predictor",
    remedy="draw the classes as the model gives them: same side up, and each with its own image",
)
def drawn_is_predicted(scene: StepScene) -> Iterator[Outcome]:
    """People look at pictures. One that is drawn upside down, or of another image, shows a model that is
    not there; every figure in the log is right."""
    process = scene.main_process(scene.step)
    arrays = scene.arrays(scene.step)
    masks = [
        mask
        for predictor in own_predictors(scene)
        for run in predictor.kept
        for key in run.outputs.values()
        if key in arrays
        for mask in masks_of(arrays[key])
    ]
    written = [path for path in (process.pictures if process is not None else ()) if path in scene.images]
    # A later step may have written the same file: what lies there now is the last one's.
    later = scene.steps(INFER, scene.cell.id)
    later = later[later.index(scene.step) + 1 :] if scene.step in later else []
    for step in later:
        other = scene.main_process(step)
        written = [path for path in written if other is None or path not in other.pictures]
    if not masks or not written:
        return
    looked, straight, turned = drawn_otherwise([scene.images[path] for path in written], masks)
    evidence = {"pictures": looked, "as_predicted": straight, "masks": len(masks)}
    if turned:
        yield failed(f"the pictures show the classes {turned}", evidence=evidence)
    elif looked and straight == looked:
        yield passed(f"{looked} pictures show the classes as predicted", evidence=evidence)
    elif looked:
        yield unchecked(
            f"{straight} of {looked} pictures show the predicted classes", required=False, evidence=evidence
        )


def by_protocol(scene: CellScene) -> Iterator[Outcome]:
    """What the repository's own parity.py says about its two preprocessings."""
    for step in scene.steps(EXPORT, scene.cell.id):
        answer = scene.answer("parity", step)
        if not isinstance(answer, ParityAnswer):
            continue
        log = scene.run.directory / "evidence"
        if answer.error:
            yield failed(
                f"test_tipc/parity.py broke: {answer.error} (see probe-*.log in {log})",
                remedy="mend test_tipc/parity.py, or remove it: it is not needed",
            )
        elif answer.missing:
            yield unchecked(f"there is no {answer.missing}", required=False, remedy=WRITE_PARITY)
        elif answer.preprocess_max_abs is None:
            one, other = ([*answer.preprocess_shapes, [], []])[:2]
            yield failed(f"training feeds {one}, deployment {other}: the preprocessing differs")
        elif not answer.preprocess_max_abs <= PREPROCESS:
            note = f": {answer.preprocess_note}" if answer.preprocess_note else ""
            yield failed(f"the preprocessing differs by {answer.preprocess_max_abs:.3g}{note}")
        else:
            yield passed(f"same input by parity.py, max |Δ| {answer.preprocess_max_abs:.2g}")


def fed_pictures(scene: CellScene, step: Step) -> NDArray[Any] | None:
    """The pictures that a step's predictor was fed; None: none."""
    arrays = scene.arrays(step)
    for predictor in predictors_seen(scene.facts(step)):
        parts = [picture for run in predictor.kept for picture in pictures_of(predictor, run.inputs, arrays)]
        parts = [part for part in parts if part.shape[1:] == parts[0].shape[1:]]
        if parts:
            return np.asarray(np.concatenate(parts))
    return None


def pictures_of(
    predictor: PredictorFacts, inputs: Any, arrays: dict[str, NDArray[Any]]
) -> Iterator[NDArray[Any]]:
    """The pictures among the inputs of a run."""
    for key in inputs.values():
        if key in arrays and arrays[key].ndim == 4:
            yield arrays[key]
