"""TP306, TP307: what the deployment prints: what its predictor gave, and in all settings the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.checks.deployment import files_of, own_predictors, pictures_of
from tipc.certify.compare.files_fed import owners
from tipc.certify.compare.heads import sigmoid, softmax
from tipc.certify.evidence.predictions import (
    COUNTED_FROM_NOUGHT,
    Predictions,
    class_of,
    compare_predictions,
    has_index,
    predictions,
    score_of,
)
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import CellScene, StepScene
from tipc.kinds import INFER
from tipc.message import Message, wording
from tipc.plan.model import Step
from tipc.run.record.step_facts import PredictorRun

MOST_KNOWN = 50  # predictions that differ within the bounds, and that each setting is held against
MOST_CLASSES = 1 << 20
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
    rows = output_rows(scene)
    if rows is None:
        return  # no classification
    printed = []
    for value in predictions(scene, scene.step).values():
        if isinstance(value, dict):
            printed.append(value)
    known = classes_printed(scene, rows.shape[1])
    classes = list(known.values())
    if not classes:
        yield unchecked("no line of its log could be read as the class of an image", required=False)
        return
    if len(rows) < len(classes):
        told = wording(
            "it printed {printed} classes, and {known} answers of its predictor are known",
            printed=len(classes),
            known=len(rows),
        )
        yield unchecked(told, required=False, evidence={"printed": len(classes), "known": len(rows)})
        return
    decided = [int(best) for best in rows.argmax(1)]
    evidence = {"printed": classes[:50], "predicted": decided[:50]}
    in_order = classes == decided and len(printed) == len(rows)
    wrong = printed_too_often(classes, decided)
    if wrong is None:
        wrong = wrong_image(scene, known, decided, in_order=not best_first(printed))
    if wrong is not None and by_threshold(classes, rows):
        told = wording("the numbers that it printed may be decided by a threshold: {why}", why=wrong)
        yield unchecked(told, required=False, evidence=evidence)
        return
    if wrong is not None and counted_from_one(printed, classes, decided):
        told = wording("the labels that it printed may be counted from one: {why}", why=wrong)
        yield unchecked(told, remedy="print the index as `class_id`, from 0 on", evidence=evidence)
        return
    wrong = wrong or wrong_probability(printed, rows, in_order=in_order)
    if wrong is not None:
        yield failed(wrong, evidence=evidence)
    else:
        yield passed(wording("classes as predicted: {count}", count=len(classes)), evidence=evidence)


def classes_printed(scene: StepScene, width: int) -> dict[str, int]:
    """The class that was printed for each image, by its file name. Labels of which one is no index of so many
    outputs are names that happen to be numbers: they are left out."""
    indices, labels = {}, {}
    for image, value in predictions(scene, scene.step).items():
        number = class_of(value)
        if number is not None and has_index(value):
            indices[image] = number
        elif number is not None:
            labels[image] = number
    if all(0 <= number < width for number in labels.values()):
        indices.update(labels)
    return indices


def by_threshold(classes: list[int], rows: NDArray[Any]) -> bool:
    """Whether the classes may honestly be others than the arg-max: there is one output, or of two outputs the
    second is held against a threshold."""
    if rows.shape[1] == 1:
        return True
    if rows.shape[1] != 2 or len(classes) != len(rows) or set(classes) != {0, 1}:
        return False
    second = rows[:, 1] - rows[:, 0]
    positive = np.array(classes) == 1
    return bool(second[~positive].max() < second[positive].min())


def counted_from_one(printed: list[dict[str, Any]], classes: list[int], decided: list[int]) -> bool:
    """Whether all labels are one more than what was predicted, under names that do not say what they
    count."""
    if any(has_index(value, COUNTED_FROM_NOUGHT) for value in printed):
        return False
    return Counter(classes) == Counter(best + 1 for best in decided)


def printed_too_often(classes: list[int], decided: list[int]) -> Message | None:
    """A class that was printed more often than the predictor gave it; None: there is none."""
    printed, given = Counter(classes), Counter(decided)
    for number in printed - given:
        return wording(
            "it printed class {number} {printed} times, its predictor gave it {given} times",
            number=number,
            printed=printed[number],
            given=given[number],
        )
    return None


def wrong_image(
    scene: StepScene, classes: dict[str, int], decided: list[int], *, in_order: bool
) -> Message | None:
    """A result that stands with another image than its own; None: none does, or it does not show."""
    known, mixed_up = under_another_name(scene, classes)
    if known or not in_order or len(decided) != len(classes):
        return mixed_up
    for number, (printed, given) in enumerate(zip(classes.values(), decided, strict=True), 1):
        if printed != given:
            return wording(
                "result {number} says class {printed}, the predictor gave {given}",
                number=number,
                printed=printed,
                given=given,
            )
    return None


def under_another_name(scene: StepScene, classes: dict[str, int]) -> tuple[bool, Message | None]:
    """An image whose printed class is not what its picture was given, by the picture that was fed and the
    file that it is like. First, whether it shows at all which picture is of which image."""
    pictures, rows = fed_and_given(scene)
    if pictures is None or rows is None:
        return False, None
    names = [Path(path).name for path in owners(pictures, files_of(scene, scene.step))]
    known = False
    for row, name in zip(rows, names, strict=False):
        number = classes.get(name)
        if number is None:
            continue
        known = True
        if number != int(row.argmax()):
            told = wording(
                "it printed class {printed} for {image}; for that picture the predictor gave {given}",
                printed=number,
                image=name,
                given=int(row.argmax()),
            )
            return True, told
    return known, None


def fed_and_given(scene: StepScene) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """The pictures of which the classes are known, and these, in the same order; None: there are none."""
    arrays = scene.arrays(scene.step)
    fed: list[NDArray[Any]] = []
    given: list[NDArray[Any]] = []
    for predictor in own_predictors(scene):
        for run in predictor.kept:
            pictures = list(pictures_of(predictor, run.inputs, arrays))
            rows = scores_of(run, arrays)
            if not pictures or rows is None or len(pictures[0]) != len(rows):
                continue
            if not fed or pictures[0].shape[1:] == fed[0].shape[1:]:
                fed.append(pictures[0])
                given.append(rows)
    if not fed:
        return None, None
    return np.concatenate(fed), laid_together(given)


def output_rows(scene: StepScene) -> NDArray[Any] | None:
    """The outputs of a classification, a row a sample, in the order of the runs; None: it is none."""
    arrays = scene.arrays(scene.step)
    for predictor in own_predictors(scene):
        parts = []
        for run in predictor.kept:
            first = scores_of(run, arrays)
            if first is None or first.dtype.kind != "f" or len(first) != run.batch:
                return None
            parts.append(first)
        if parts:
            return laid_together(parts)
    return None


def scores_of(run: PredictorRun, arrays: dict[str, NDArray[Any]]) -> NDArray[Any] | None:
    """The scores of the classes that a run gave, a row a sample; None: its first output has none.

    Where an output of whole numbers has the same form, as those of a top-k have, it says which classes the
    scores are of. Those that are not among them get the lowest score."""
    outputs = [arrays[key] for key in run.outputs.values() if key in arrays]
    if not outputs or outputs[0].ndim != 2:
        return None
    scores = outputs[0]
    for classes in outputs[1:]:
        if scores.dtype.kind == "f" and classes.shape == scores.shape and are_classes(classes):
            spread = np.full((len(scores), int(classes.max()) + 1), -np.inf, scores.dtype)
            np.put_along_axis(spread, classes.astype(np.int64), scores, 1)
            return spread
    return scores


def are_classes(numbers: NDArray[Any]) -> bool:
    """Whether rows of numbers say which classes a top-k found: two at least, and each one once."""
    if numbers.dtype.kind != "i" or not numbers.size or numbers.shape[1] < 2:
        return False
    if numbers.min() < 0 or numbers.max() >= MOST_CLASSES:
        return False
    ordered = np.sort(numbers, axis=1)
    return bool((ordered[:, 1:] > ordered[:, :-1]).all())


def laid_together(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """The rows of several runs, of which each may have fewer classes than the widest one."""
    width = max(part.shape[1] for part in parts)
    wide = []
    for part in parts:
        if part.shape[1] < width:
            missing = np.full((len(part), width - part.shape[1]), -np.inf, part.dtype)
            part = np.concatenate([part, missing], axis=1)
        wide.append(part)
    return np.asarray(np.concatenate(wide))


def wrong_probability(printed: list[dict[str, Any]], rows: NDArray[Any], *, in_order: bool) -> Message | None:
    """A probability that follows from no row by any usual head; None if all do. Where line and row belong
    together, each must follow from its own, and all by one head."""
    wide = rows.astype(np.float64)
    heads = [wide.max(1), softmax(wide, 1).max(1), sigmoid(wide).max(1)]
    numbers = [score_of(value) for value in printed]
    possible = np.concatenate(heads)
    for number in numbers:
        if number is not None and not near(number, possible):
            return wording(
                "it printed a probability of {number:g}, which none of its predictor's outputs gives",
                number=number,
            )
    if not in_order or any(each_near(numbers, head) for head in heads):
        return None
    if best_first(printed) and any(each_near(numbers, np.sort(head)[::-1]) for head in heads):
        return None
    return wording(
        "the probabilities that it printed are not those of its predictor's outputs, image by image"
    )


def best_first(printed: list[dict[str, Any]]) -> bool:
    """Whether the results stand in the order of their scores: it is not that of the images."""
    scores = []
    for value in printed:
        score = score_of(value)
        if score is None:
            return False
        scores.append(score)
    return len(set(scores)) > 1 and scores == sorted(scores, reverse=True)


def each_near(numbers: list[float | None], head: NDArray[Any]) -> bool:
    """Every probability is the one of its own image."""
    pairs = zip(numbers, head, strict=True)
    for number, own in pairs:
        if number is not None and not near(number, np.array([own])):
            return False
    return True


def near(told: float, possible: NDArray[Any]) -> bool:
    """Whether a probability, or one in per cent, is one of several."""
    share = told
    if told > 1:
        share = told / 100
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
    if len(steps) < 2:
        return
    # By precision, for int8 may decide otherwise than fp32: TP305 bounds that.
    known: dict[str | None, list[tuple[Step, Predictions]]] = {}
    settings = images = 0
    for step in steps:
        result = predictions(scene, step)
        if not result:
            continue
        settings += 1
        images = images or len(result)
        others = known.setdefault(step.settings.get("precision"), [])
        for other, first in others:
            comparison = compare_predictions(first, result, all_images=True)
            if comparison.differences:
                told = wording(
                    "{one} differs from {other}: {difference}",
                    one=setting(step),
                    other=setting(other),
                    difference=comparison.differences[0],
                )
                yield failed(told, step=step.id, evidence=comparison.evidence())
                return
        if len(others) < MOST_KNOWN and all(first != result for _, first in others):
            others.append((step, result))
    if settings < 2:
        told = wording(
            "{found} of {steps} inference steps printed predictions that can be compared",
            found=settings,
            steps=len(steps),
        )
        yield unchecked(told, required=False)
    elif settings > len(known):
        told = wording("{settings} settings, {images} images alike", settings=settings, images=images)
        yield passed(told, settings=settings, images=images)
    else:
        yield unchecked("each setting has another precision", required=False)


def setting(step: Step) -> str:
    """The settings of an inference step in words."""
    return ", ".join(f"{key} {value}" for key, value in step.settings.items()) or step.id
