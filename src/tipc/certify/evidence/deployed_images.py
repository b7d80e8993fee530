"""The images of the evaluation as the deployment fed and answered them: both ways, from picture to answer.

An export may take a part of the preprocessing into the model: mean and scale, or the order of
channels or sides. Such
a model is not to be fed what the evaluation fed, and a comparison on those inputs tells nothing. What it
answers to its own inputs of the same images must still be what the trained network answered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.compare.agreement import Bound
from tipc.certify.compare.picture_pairs import PREPROCESS, find_pairs
from tipc.certify.evidence.evaluations import Arrays, SeenEvaluation
from tipc.certify.evidence.exported import ExportedModel, export_of_cell, predictors_seen
from tipc.certify.evidence.likeness import Likeness, is_flat, likenesses
from tipc.certify.evidence.question import digest_of
from tipc.certify.evidence.trials import EVALUATION, NATIVE
from tipc.certify.scene import PlanScene
from tipc.kinds import EXPORT, INFER
from tipc.message import Message, wording
from tipc.plan.model import Step
from tipc.run.record.step_facts import PredictorFacts

FEWEST = 2  # images: of one alone it does not show whether answers differ from image to image


@dataclass(frozen=True)
class DeployedImages:
    """Images of the evaluation that an inference step answered as the trained network did."""

    step: str
    images: int
    figures: Message
    rows: list[dict[str, Any]]  # for the evidence

    def text(self) -> Message:
        """The figures in a line."""
        return wording(
            "fed as in {step}: {figures}, {images} images of the evaluation; a part of the preprocessing is "
            "in the model",
            step=self.step,
            figures=self.figures,
            images=self.images,
        )


def answered_as_trained(
    scene: PlanScene, cell: str, evaluation: SeenEvaluation, bound: Bound
) -> DeployedImages | None:
    """What the deployment made of the evaluation's images, if it was fed them otherwise and its answers are
    the trained network's; None: it had none of them, was fed alike, or answered otherwise."""
    model = export_of_cell(scene, cell)
    pictures = first_picture(evaluation.inputs, evaluation.inputs)
    if model is None or pictures is None or _takes_what_was_evaluated(scene, cell, evaluation, bound):
        return None
    for step in scene.steps(INFER, cell):
        for predictor in predictors_seen(scene.facts(step)):
            if not _is_of(predictor, model):
                continue
            found, images = _likenesses(scene, step, predictor, evaluation, pictures)
            known = [one for one in found if one.agreement is not None]
            if not known or is_flat(known) or not all(one.agrees(bound) for one in known):
                continue
            return DeployedImages(step.id, images, known[0].text(), [one.row() for one in known])
    return None


def _takes_what_was_evaluated(scene: PlanScene, cell: str, evaluation: SeenEvaluation, bound: Bound) -> bool:
    """Whether the model answers the evaluation's own inputs rightly: then no preprocessing is in it, and one
    that answers others alike as well hides nothing but a difference that these images do not show."""
    for step in scene.steps(EXPORT, cell):
        for one in scene.trials(step):
            if one.trial.source == EVALUATION and one.trial.engine == NATIVE and not one.error:
                found = likenesses(evaluation.outputs, one.outputs, evaluation.samples)
                return all(like.agrees(bound) for like in found if like.agreement is not None)
    return False


def _is_of(predictor: PredictorFacts, model: ExportedModel) -> bool:
    """Whether a predictor ran the very files of the exported model."""
    exported = {digest_of(model.structure), digest_of(model.parameters)}
    return bool(predictor.digests) and exported.issuperset(predictor.digests.values())


def _likenesses(
    scene: PlanScene,
    step: Step,
    predictor: PredictorFacts,
    evaluation: SeenEvaluation,
    pictures: NDArray[Any],
) -> tuple[list[Likeness], int]:
    """The answers to the images that are in both, and how many those are."""
    fed, answers = _joined(predictor, scene.arrays(step))
    if fed is None:
        return [], 0
    if fed.shape[1:] != pictures.shape[1:]:
        fed = np.moveaxis(fed, 3, 1)  # the model turns them itself: height, width, channels
    if fed.shape[1:] != pictures.shape[1:]:
        return [], 0
    pairs = find_pairs(pictures.astype(np.float64), fed.astype(np.float64))
    if len(pairs) < FEWEST:
        return [], 0
    evaluated, deployed = map(list, zip(*pairs, strict=True))
    if np.abs(pictures[evaluated] - fed[deployed]).max() <= PREPROCESS:
        return [], 0
    trained = _rows(evaluation.outputs, evaluated, len(pictures))
    return likenesses(trained, _rows(answers, deployed, len(fed)), len(pairs)), len(pairs)


def _joined(predictor: PredictorFacts, arrays: Arrays) -> tuple[NDArray[Any] | None, Arrays]:
    """The pictures of the runs that were kept, one after the other, and the outputs."""
    fed: list[NDArray[Any]] = []
    answers: dict[str, list[NDArray[Any]]] = {}
    for run in predictor.kept:
        given = first_picture(run.inputs.values(), arrays)
        if given is None or (fed and given.shape[1:] != fed[0].shape[1:]):
            break
        fed.append(given)
        for name, key in run.outputs.items():
            if key in arrays:
                answers.setdefault(name, []).append(arrays[key])
    if not fed:
        return None, {}
    whole = {}
    for name, parts in answers.items():
        if all(part.ndim and part.shape[1:] == parts[0].shape[1:] for part in parts):
            whole[name] = np.concatenate(parts)
    return np.concatenate(fed), whole


def first_picture(keys: Iterable[str], arrays: Arrays) -> NDArray[Any] | None:
    """The first of some arrays that is a batch of pictures."""
    for key in keys:
        if key in arrays and arrays[key].ndim == 4:
            return arrays[key]
    return None


def _rows(arrays: Arrays, chosen: list[int], count: int) -> Arrays:
    """Some samples of the arrays that have one row for each of ``count``."""
    found = {}
    for name, value in arrays.items():
        if value.ndim and len(value) == count:
            found[name] = value[chosen]
    return found
