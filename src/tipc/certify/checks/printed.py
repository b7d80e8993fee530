"""TP306, TP307: what the deployment prints: what its predictor gave, and in all settings the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.checks.deployment import files_of, own_predictors, pictures_of
from tipc.certify.compare.files_fed import owners
from tipc.certify.compare.heads import sigmoid, softmax
from tipc.certify.evidence.predictions import Predictions, compare_predictions, predictions
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import CellScene, StepScene
from tipc.kinds import INFER
from tipc.plan.model import Step

PROBABILITY = 0.02  # what a script may print otherwise than its output: rounding, per cent


@check(
    "TP307",
    "The inference script prints what the model predicts",
    scope="infer",
    reads="the result lines of the inference step, and the outputs of its predictor",
    remedy="print the arg-max of the model's own output, each image with its own result",
)
def printed_is_predicted(scene: StepScene) -> Iterator[Outcome]:
    """A script that mixes up its images or prints what it always prints passes every other check. What it
    printed must follow from what its predictor gave, for every image."""
    printed = [value for value in predictions(scene, scene.step).values() if isinstance(value, dict)]
    classes = [int(value["class_id"]) for value in printed if isinstance(value.get("class_id"), (int, float))]
    rows = output_rows(scene)
    if rows is None:
        return  # no classification
    if not classes:
        yield unchecked("no line of its log could be read as the class of an image", required=False)
        return
    if len(rows) < len(classes):
        yield unchecked(
            f"it printed {len(classes)} classes, and {len(rows)} answers of its predictor are known",
            required=False,
            evidence={"printed": len(classes), "known": len(rows)},
        )
        return
    decided = [int(best) for best in rows.argmax(1)]
    missing = Counter(classes) - Counter(decided)
    evidence = {"printed": classes[:50], "predicted": decided[:50]}
    if missing:
        wrong = next(iter(missing))
        yield failed(
            f"it printed class {wrong} {Counter(classes)[wrong]} times, its predictor gave it "
            f"{Counter(decided)[wrong]} times",
            evidence=evidence,
        )
        return
    mixed_up = under_another_name(scene)
    if mixed_up is not None:
        if mixed_up:
            yield failed(mixed_up, evidence=evidence)
            return
    elif len(rows) == len(classes) and classes != decided:
        place = next(at for at, pair in enumerate(zip(classes, decided, strict=True)) if pair[0] != pair[1])
        yield failed(
            f"result {place + 1} says class {classes[place]}, the predictor gave {decided[place]}",
            evidence=evidence,
        )
        return
    odd = wrong_probability(printed, rows, in_order=classes == decided and len(printed) == len(rows))
    if odd:
        yield failed(odd, evidence=evidence)
    else:
        yield passed(f"{len(classes)} classes as predicted", evidence=evidence)


def under_another_name(scene: StepScene) -> str | None:
    """An image whose printed class is not what its picture was given, by the picture that was fed and the
    file that it is like; empty: each has its own; None: it does not show which picture is of which image."""
    pictures, rows = fed_and_given(scene)
    if pictures is None or rows is None:
        return None
    printed = predictions(scene, scene.step)
    names = [Path(path).name for path in owners(pictures, files_of(scene, scene.step))]
    known = 0
    for row, name in zip(rows, names, strict=False):
        value = printed.get(name) if name else None
        number = value.get("class_id") if isinstance(value, dict) else None
        if not isinstance(number, (int, float)):
            continue
        known += 1
        if int(number) != int(row.argmax()):
            return (
                f"it printed class {int(number)} for {name}; for that picture the predictor gave "
                f"{int(row.argmax())}"
            )
    return "" if known else None


def fed_and_given(scene: StepScene) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """The pictures of which the classes are known, and these, in the same order; None: there are none."""
    arrays = scene.arrays(scene.step)
    fed: list[NDArray[Any]] = []
    given: list[NDArray[Any]] = []
    for predictor in own_predictors(scene):
        for run in predictor.kept:
            pictures = list(pictures_of(predictor, run.inputs, arrays))
            rows = [arrays[key] for key in run.outputs.values() if key in arrays]
            if not pictures or not rows or rows[0].ndim != 2 or len(pictures[0]) != len(rows[0]):
                continue
            if not fed or pictures[0].shape[1:] == fed[0].shape[1:]:
                fed.append(pictures[0])
                given.append(rows[0])
    if not fed:
        return None, None
    return np.concatenate(fed), np.concatenate(given)


def output_rows(scene: StepScene) -> NDArray[Any] | None:
    """The outputs of a classification, a row a sample, in the order of the runs; None: it is none."""
    arrays = scene.arrays(scene.step)
    for predictor in own_predictors(scene):
        parts = []
        for run in predictor.kept:
            first = next((arrays[key] for key in run.outputs.values() if key in arrays), None)
            if first is None or first.ndim != 2 or first.dtype.kind != "f" or len(first) != run.batch:
                return None
            parts.append(first)
        if parts:
            return np.asarray(np.concatenate(parts))
    return None


def wrong_probability(printed: list[dict[str, Any]], rows: NDArray[Any], *, in_order: bool) -> str:
    """A probability that follows from no row by any usual head; empty if all do. Where line and row belong
    together, each must follow from its own, and all by one head."""
    wide = rows.astype(np.float64)
    heads = [wide.max(1), softmax(wide, 1).max(1), sigmoid(wide).max(1)]
    told = [value.get("prob", value.get("probability", value.get("score"))) for value in printed]
    numbers = [float(one) if isinstance(one, (int, float)) and np.isfinite(one) else None for one in told]
    possible = np.concatenate(heads)
    for number in numbers:
        if number is not None and not near(number, possible):
            return f"it printed a probability of {number:g}, which none of its predictor's outputs gives"
    if in_order and not any(each_near(numbers, head) for head in heads):
        return "the probabilities that it printed are not those of its predictor's outputs, image by image"
    return ""


def each_near(numbers: list[float | None], head: NDArray[Any]) -> bool:
    """Every probability is the one of its own image."""
    pairs = zip(numbers, head, strict=True)
    return all(near(number, np.array([own])) for number, own in pairs if number is not None)


def near(told: float, possible: NDArray[Any]) -> bool:
    """Whether a probability, or one in per cent, is one of several."""
    share = told / 100 if told > 1 else told
    return bool(min(np.abs(possible - share).min(), np.abs(possible - told).min()) <= PROBABILITY)


@check(
    "TP306",
    "The inference script predicts the same in all its settings",
    scope="cell",
    reads="the result lines and prediction files of the cell's inference steps",
    remedy="see what the script does with a batch: every image of it must be predicted, and with its own "
    "result",
)
def settings_agree(scene: CellScene) -> Iterator[Outcome]:
    """Batch size, threads and oneDNN are a matter of speed. A script that loses images of a larger batch, or
    gives each the result of the first, shows only when its outputs are laid side by side."""
    steps = scene.steps(INFER, scene.cell.id)
    every = [(step, predictions(scene, step)) for step in steps]
    found: list[tuple[Step, Predictions]] = [(step, result) for step, result in every if result]
    if len(steps) < 2:
        return
    if len(found) < 2:
        yield unchecked(
            f"{len(found)} of {len(steps)} inference steps printed predictions that can be compared",
            required=False,
        )
        return
    compared = 0
    for (first_step, first), (step, result) in combinations(found, 2):
        # int8 may decide otherwise than fp32: TP305 bounds that.
        if first_step.settings.get("precision") != step.settings.get("precision"):
            continue
        compared += 1
        comparison = compare_predictions(first, result, all_images=True)
        if comparison.differences:
            yield failed(
                f"{setting(step)} differs from {setting(first_step)}: {comparison.differences[0]}",
                step=step.id,
                evidence=comparison.evidence(),
            )
            return
    images = len(found[0][1])
    if compared:
        yield passed(f"{len(found)} settings, {images} images alike", settings=len(found), images=images)
    else:
        yield unchecked("each setting has another precision", required=False)


def setting(step: Step) -> str:
    """The settings of an inference step in words."""
    return ", ".join(f"{key} {value}" for key, value in step.settings.items()) or step.id
