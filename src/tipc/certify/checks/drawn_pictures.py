"""TP311: pictures of classes that the deployment drew, against what its predictor gave."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tipc.certify.checks.deployment import files_of, own_predictors, pictures_of
from tipc.certify.compare.drawn import drawn_of_another, drawn_otherwise, samples_of
from tipc.certify.compare.files_fed import owners
from tipc.certify.evidence.input_images import input_images
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import PlanScene, StepScene, once_a_cell
from tipc.kinds import INFER
from tipc.message import Message, wording
from tipc.run.record.step_facts import PredictorRun


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
    samples = predicted_samples(scene)
    written = pictures_written(scene)
    if not samples or not written:
        return
    looked, straight, turned = drawn_otherwise([scene.images[path] for path in written], samples)
    evidence = {"pictures": looked, "as_predicted": straight, "masks": len(samples)}
    others = pictures_of_others(scene, written)
    if turned:
        told = wording("the pictures show the classes {turned}", turned=Message(turned))
        yield failed(told, evidence=evidence)
    elif others:
        told = wording(
            "{count} pictures show the classes of another image than they are named after, {first} for one",
            count=len(others),
            first=others[0],
        )
        yield unchecked(told, evidence=evidence)
    elif looked and straight == looked:
        told = wording("{count} pictures show the classes as predicted", count=looked)
        yield passed(told, evidence=evidence)
    elif looked:
        told = wording("{count} of {all} pictures show the predicted classes", count=straight, all=looked)
        yield unchecked(told, required=straight == 0, evidence=evidence)


def pictures_of_others(scene: StepScene, written: list[str]) -> list[str]:
    """The images after which pictures are named that show another one, where most pictures do that can be
    told."""
    named = [(Path(path).stem, scene.images[path]) for path in written]
    looked, others = drawn_of_another(named, samples_by_image(scene))
    if len(others) * 2 <= looked:
        return []
    return others


def samples_by_image(scene: StepScene) -> dict[str, list[NDArray[Any]]]:
    """What the predictor gave for the pixels of each image of the list, by the image's name: which picture
    was fed for which image shows in the file that it is like."""
    arrays = scene.arrays(scene.step)
    listed = set(map(os.path.realpath, input_images(scene)))
    opened = files_of(scene, scene.step)
    files = {path: opened[path] for path in opened if os.path.realpath(path) in listed}
    found: dict[str, list[NDArray[Any]]] = {}
    for predictor in own_predictors(scene):
        for run in predictor.kept:
            fed = next(pictures_of(predictor, run.inputs, arrays), None)
            if fed is None:
                continue
            for path, sample in zip(owners(fed, files), samples_of_run(run, arrays), strict=False):
                if path:
                    found.setdefault(Path(path).stem, []).append(sample)
    return found


def samples_of_run(run: PredictorRun, arrays: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """What a run gave for the pixels of each sample."""
    samples: list[NDArray[Any]] = []
    for key in run.outputs.values():
        if key in arrays:
            samples += samples_of(arrays[key])
    return samples


def predicted_samples(scene: StepScene) -> list[NDArray[Any]]:
    """What the step's predictor gave for the pixels of each sample."""
    arrays = scene.arrays(scene.step)
    samples: list[NDArray[Any]] = []
    for predictor in own_predictors(scene):
        for run in predictor.kept:
            samples += samples_of_run(run, arrays)
    return samples


def pictures_written(scene: StepScene) -> list[str]:
    """The pictures that the step wrote and that are still its own.

    A later step may have written the same file: what lies there now is the last one's.
    """
    process = scene.main_process(scene.step)
    if process is None:
        return []
    last = last_drawn_by(scene, scene.cell.id)
    kept = []
    for path in process.pictures:
        if path in scene.images and last.get(path) == scene.step.id:
            kept.append(path)
    return kept


@once_a_cell
def last_drawn_by(scene: PlanScene, cell: str) -> dict[str, str]:
    """The last of a cell's inference steps that wrote a picture, by its path."""
    found: dict[str, str] = {}
    for step in scene.steps(INFER, cell):
        process = scene.main_process(step)
        if process is not None:
            found.update(dict.fromkeys(process.pictures, step.id))
    return found
