"""TT905, TT906: the trained weights were evaluated, and the metric belongs to what was seen."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tipc.certify.checks.evaluated_weights import with_which_weights
from tipc.certify.checks.evaluation_log import (
    COUNTED,
    NEAR,
    as_share,
    by_canonical_name,
    distance,
    final_metrics,
)
from tipc.certify.checks.named_data import named_data_unopened
from tipc.certify.checks.training_happened import elsewhere, seen_process
from tipc.certify.compare.picture_pairs import PREPROCESS
from tipc.certify.evidence.answers import ParityAnswer
from tipc.certify.evidence.evaluations import last_evaluation
from tipc.certify.evidence.images_left import (
    different_pictures,
    images_instead,
    images_not_fed,
    images_not_opened,
    training_folder,
)
from tipc.certify.evidence.lite_data import IMAGES
from tipc.certify.evidence.logs import read_log
from tipc.certify.evidence.saved_beside import loaded_in_place
from tipc.certify.evidence.training_log_file import with_complaint
from tipc.certify.evidence.trials import NATIVE
from tipc.certify.evidence.weights_file import find_weights, read_weights
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import PlanScene, StepScene, once_a_cell
from tipc.kinds import EXPORT, FP32, PASS, TRAIN
from tipc.message import Message, wording
from tipc.run.record.step_facts import EvaluationFacts, ProcessFacts

FOR_EVALUATION = re.compile(r"(?:val|valid|validation|test|testing|eval|dev)(?:set|_images)?$", re.IGNORECASE)
ROUNDED = 6e-4  # what printing three or four digits rounds away


@check(
    "TT905",
    "The trained weights were evaluated",
    scope="eval",
    reads="the weights that were loaded and the network's calls in eval mode, as the witness saw them",
    remedy="load the weights that training left, and fail if a name is missing: set_state_dict "
    "ignores what does not fit",
)
def trained_weights_evaluated(scene: StepScene) -> Iterator[Outcome]:
    """An evaluation that loads nothing, or whose weights do not fit, evaluates a random network. One that
    opens nothing evaluates nothing, whatever it prints."""
    process, problem = seen_process(scene)
    if process is None:
        yield problem or unchecked("nothing was seen")
        return
    trained: Mapping[str, str] = {}
    known: frozenset[str] = frozenset()
    if scene.step.weights:
        weights = read_weights(find_weights(scene.path(scene.step.weights)))
        trained, known = weights.digests, weights.known
        averages = loaded_in_place(scene, scene.cell.id, scene.step)
        if averages is not None:
            trained, known = averages.tensors, frozenset(averages.tensors.values())
    evaluation = last_evaluation(process, known)
    if not process.paddle or evaluation is None:
        yield no_evaluation(scene, process)
        return
    if not trained or evaluation.weights is None:
        told = wording("{samples} samples; the trained weights are not known", samples=evaluation.samples)
        yield unchecked(told, required=False)
        return
    evidence = {
        "samples": evaluation.samples,
        "calls": evaluation.calls,
        "different": evaluation.different_inputs,
        "different_samples": evaluation.different_samples,
    }
    if evaluation.calls > 1 and evaluation.different_inputs == 1 and len(process.images) > 1:
        told = wording(
            "the network was fed the same in all of its {calls} calls; the evaluation opened {images} images",
            calls=evaluation.calls,
            images=len(process.images),
        )
        yield failed(told, evidence=evidence)
        return
    opened = images_instead(process.images, evaluation.different_samples, evaluation.samples)
    if opened and evaluation.different_samples == 1:
        told = wording(
            "all {samples} samples that the network was fed are the same; the evaluation opened {images} "
            "images",
            samples=evaluation.samples,
            images=opened,
        )
        yield failed(told, evidence=evidence)
        return
    outcome = with_which_weights(scene, evaluation, trained, known, evidence)
    if outcome.status == PASS:
        outcome = only_a_part(scene, process, evaluation, evidence) or outcome
    if outcome.status == PASS:
        outcome = next(named_data_unopened(scene, process, evidence), outcome)
    yield outcome


def only_a_part(
    scene: StepScene, process: ProcessFacts, evaluation: EvaluationFacts, evidence: dict[str, Any]
) -> Outcome | None:
    """Images that were there to be evaluated, and were not; None: there are none, or it does not show."""
    others = trained_on(scene, "") - set(process.images)
    left = images_not_opened(process, others, scene.step.argv, whole_batches(evaluation))
    if left:
        told = wording(
            "{opened} images were evaluated, and {left} more lie beside them; no list of files was read that "
            "leaves them out",
            opened=len(process.images),
            left=left,
        )
    elif images_not_fed(process, evaluation.samples):
        told = wording(
            "{opened} images were opened, and the network was fed {samples} samples",
            opened=len(process.images),
            samples=evaluation.samples,
        )
    else:
        again = images_fed_again(scene, process, evaluation)
        if again is None:
            return None
        told = again
    return unchecked(told, remedy="evaluate all of the images", evidence=evidence)


def whole_batches(evaluation: EvaluationFacts) -> int:
    """The size of an evaluation's batches where there were several, all of one size; else 0."""
    if evaluation.calls < 2 or evaluation.samples % evaluation.calls:
        return 0
    return evaluation.samples // evaluation.calls


def images_fed_again(scene: StepScene, process: ProcessFacts, evaluation: EvaluationFacts) -> Message | None:
    """Images that were opened and not fed, in whose place others were fed again; None: there are none."""
    opened = images_instead(process.images, evaluation.different_samples, evaluation.samples)
    if opened:
        return wording(
            "{samples} samples were fed to the network, {different} of them different; {opened} images were "
            "opened",
            samples=evaluation.samples,
            different=evaluation.different_samples,
            opened=opened,
        )
    if evaluation.calls > len(evaluation.kept):
        return None  # the others are not known
    pictures = pictures_fed(scene, evaluation)
    different = different_pictures(pictures)
    decoded = [path for path in process.images if path in scene.images]
    opened = images_instead(decoded, different, len(pictures))
    if opened and different_pictures(scene.images[path] for path in decoded) > different:
        return wording(
            "of {samples} pictures that the network was fed {different} are no other one moved or turned; "
            "{opened} images were opened",
            samples=len(pictures),
            different=different,
            opened=opened,
        )
    return None


def pictures_fed(scene: StepScene, evaluation: EvaluationFacts) -> list[NDArray[Any]]:
    """The pictures of an evaluation's calls that were kept, one by one."""
    arrays = scene.arrays(scene.step)
    pictures: list[NDArray[Any]] = []
    for call in evaluation.kept:
        for key in call.inputs.values():
            if key in arrays and arrays[key].ndim == 4:
                pictures += list(arrays[key])
                break
    return pictures


@once_a_cell
def trained_on(scene: PlanScene, cell: str) -> set[str]:
    """The images that the training of a cell opened; without a cell, those of all trainings."""
    found: set[str] = set()
    for step in scene.steps(TRAIN, cell):
        process = scene.main_process(step)
        if process is not None:
            found.update(process.images)
    return found


def no_evaluation(scene: StepScene, process: ProcessFacts) -> Outcome:
    """Nothing was evaluated in eval mode by a network of dynamic graph."""
    if process.started:
        return unchecked(elsewhere(process, wording("evaluated")))
    if not process.paddle:
        return failed(with_complaint(scene, "the script never imported paddle: nothing was evaluated"))
    if process.predictors:
        samples = sum(one.samples for one in process.predictors)
        return passed(wording("a predictor was evaluated on {samples} samples", samples=samples))
    unseen = process.doors.get("Layer.__call__")
    if unseen:
        return unchecked(wording("calls of networks could not be seen: {why}", why=unseen))
    if process.training_calls:
        told = wording(
            "the network was called {calls} times in training mode, never in eval mode: dropout and batch "
            "norms may have changed its answers",
            calls=process.training_calls,
        )
        return unchecked(told, remedy="call model.eval() before the evaluation")
    return failed(with_complaint(scene, "no network was called in eval mode: nothing was evaluated"))


@check(
    "TT906",
    "The metric can be one of the samples that were evaluated",
    scope="eval",
    reads="the evaluation's log, and how many samples the witness saw",
    remedy="divide the number of right answers by the number of samples that were evaluated",
)
def metric_of_samples(scene: StepScene) -> Iterator[Outcome]:
    """An accuracy over 8 images is a multiple of one eighth. A sum in place of a mean, a figure of another
    evaluation or one that was made up mostly is none."""
    process, _ = seen_process(scene)
    evaluation = last_evaluation(process, scene.trained_digests(scene.cell.id))
    if process is None or evaluation is None or not evaluation.samples:
        return
    metrics = by_canonical_name(final_metrics(read_log(scene.step_log).evaluations))
    otherwise = other_than_by_protocol(scene, process, evaluation.samples, metrics)
    if otherwise is not None:
        yield otherwise
        return
    if evaluation.samples % max(evaluation.calls, 1):
        return  # batches of unlike size: a mean of means is no multiple
    for name in COUNTED:
        value = metrics.get(name)
        if value is None or not math.isfinite(value):
            continue
        right = as_share(value) * evaluation.samples
        if abs(right - round(right)) > ROUNDED * evaluation.samples + 1e-3:
            told = wording(
                "{name} is {value:g}: of {samples} samples, {right:.3g} would be right",
                name=name,
                value=value,
                samples=evaluation.samples,
                right=right,
            )
            yield failed(told, samples=evaluation.samples, metric=value)
            return
        told = wording(
            "{name} {value:g}: {right} of {samples} samples",
            name=name,
            value=value,
            right=round(right),
            samples=evaluation.samples,
        )
        yield passed(told, samples=evaluation.samples)


def other_than_by_protocol(
    scene: StepScene, process: ProcessFacts, samples: int, metrics: Mapping[str, float]
) -> Outcome | None:
    """A metric that parity.py's own metric() does not find in what the exported model answers to the same
    images, fed as in training; None: it finds it, or does not tell."""
    exports = scene.steps(EXPORT, scene.cell.id)
    if not exports:
        return None
    answer = scene.answer("parity", exports[0])
    if not isinstance(answer, ParityAnswer) or NATIVE not in answer.metrics:
        return None
    fed_alike = answer.preprocess_max_abs is not None and answer.preprocess_max_abs <= PREPROCESS
    opened = set(map(os.path.realpath, process.images))
    if not fed_alike or set(answer.paths) != opened or samples != len(answer.paths):
        return None
    bound = NEAR
    if scene.cell.precision != FP32:
        bound += 1.01 / samples
    found = by_canonical_name({answer.metrics[NATIVE].name: answer.metrics[NATIVE].value})
    for name, value in found.items():
        if name not in metrics or not math.isfinite(value) or distance(metrics[name], value) <= bound:
            continue
        told = wording(
            "{name} is {told:g} in the log; metric() of test_tipc/parity.py makes {found:g} of what the "
            "exported model answers to the same {samples} images",
            name=name,
            told=metrics[name],
            found=value,
            samples=samples,
        )
        evidence = {"samples": samples, "metric": metrics[name], "by_protocol": value}
        return unchecked(told, remedy="print what the evaluation found", evidence=evidence)
    return None


def held_out(opened: Collection[str]) -> str:
    """The folder of images for evaluation that lies beside the one for training in which all of these are;
    empty: there is none."""
    roots = {training_folder(Path(path)) for path in opened}
    root = roots.pop()
    if roots or root is None or not root.parent.is_dir():
        return ""
    for folder in sorted(root.parent.iterdir()):
        if FOR_EVALUATION.match(folder.name) and has_images(folder):
            return str(folder)
    return ""


def has_images(folder: Path) -> bool:
    """Whether there is an image in a folder or below it."""
    for path in folder.rglob("*"):
        if path.suffix.lower() in IMAGES:
            return True
    return False


@check(
    "TT907",
    "Evaluation saw other images than training",
    scope="eval",
    reads="the image files that the steps opened, as the witness saw them",
    remedy="evaluate on images that the network was not trained on",
)
def other_images(scene: StepScene) -> Iterator[Outcome]:
    """A metric of the training images says what was memorised. Small data may well have one list for both, so
    this is a remark. Training may open the images of its own evaluations, too: only where it opened nothing
    else is there nothing that sets the two apart."""
    process, _ = seen_process(scene)
    trainings = scene.steps(TRAIN, scene.cell.id)
    if process is None or not trainings:
        return
    trained = scene.main_process(trainings[0])
    if trained is None or not trained.images:
        return
    if not process.images:
        yield from no_images(process, len(trained.images))
        return
    images = len(process.images)
    same = set(process.images) == set(trained.images)
    spare = ""
    if same:
        spare = held_out(process.images)
    if spare:
        told = wording(
            "training and evaluation opened the same {count} images, and none of those in {folder}",
            count=images,
            folder=spare,
        )
        yield unchecked(told, images=images)
    elif same:
        told = wording("training and evaluation opened the same {count} images", count=images)
        yield unchecked(told, required=False, images=images)
    else:
        yield passed(wording("{count} images, training opened others", count=images), images=images)


def no_images(process: ProcessFacts, trained: int) -> Iterator[Outcome]:
    """An evaluation that opened no image, where training did. Workers and other programs may have opened
    them unseen."""
    if process.forks or process.started or not process.evaluations:
        return
    told = wording(
        "the evaluation opened no image file; training opened {count}: what the network was fed does not "
        "show",
        count=trained,
    )
    yield unchecked(told, remedy="evaluate on images, opened as training opens its own")
