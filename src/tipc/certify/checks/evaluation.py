"""TT905, TT906: the trained weights were evaluated, and the metric belongs to what was seen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.checks.evaluation_log import PER_CENT, by_canonical_name, final_metrics
from tipc.certify.checks.training_happened import elsewhere, seen_process
from tipc.certify.evidence.evaluations import last_evaluation
from tipc.certify.evidence.logs import read_log
from tipc.certify.evidence.training_log_file import complaint
from tipc.certify.evidence.weights_file import digest as weights_digest
from tipc.certify.evidence.weights_file import find_weights, load_arrays, read_weights
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import AMP, TRAIN
from tipc.run.record.facts import EvaluationFacts, ProcessFacts

COUNTED = ("top1", "top5")  # metrics that count samples: a whole number of them
ROUNDED = 6e-4  # what printing three or four digits rounds away


@check(
    "TT905",
    "The trained weights were evaluated",
    scope="eval",
    reads="the weights that were loaded and the network's calls in eval mode, as the witness saw them",
    remedy="load the weights that training left, and fail if a name is missing: set_state_dict "
    "ignores what does "
    "not fit",
)
def trained_weights_evaluated(scene: StepScene) -> Iterator[Outcome]:
    """An evaluation that loads nothing, or whose weights do not fit, evaluates a random network. One that
    opens nothing evaluates nothing, whatever it prints."""
    process, problem = seen_process(scene)
    if process is None:
        yield problem or unchecked("nothing was seen")
        return
    trained = read_weights(find_weights(scene.path(scene.step.weights))).digests if scene.step.weights else {}
    evaluation = last_evaluation(process, frozenset(trained.values()))
    if not process.paddle or evaluation is None:
        yield no_evaluation(scene, process)
        return
    evidence = {
        "samples": evaluation.samples,
        "calls": evaluation.calls,
        "different": evaluation.different_inputs,
    }
    if not trained or evaluation.weights is None:
        yield unchecked(f"{evaluation.samples} samples; the trained weights are not known", required=False)
        return
    if evaluation.calls > 1 and evaluation.different_inputs == 1 and len(process.images) > 1:
        yield failed(
            f"the network was fed the same in all of its {evaluation.calls} calls; the evaluation opened "
            f"{len(process.images)} images",
            evidence=evidence,
        )
        return
    known = set(trained.values())
    used = evaluation.weights.tensors
    shared = [name for name, digest in used.items() if digest in known]
    plain = left_unquantised(used, trained)
    if plain:
        yield failed(
            f"the plain network was evaluated, not the quantised one: {len(plain)} of its {len(used)} "
            f"tensors were never loaded, for one {plain[0]}, which is {quantised_name(plain[0])} in "
            f"{scene.step.weights}",
            remedy="quantise the network for the evaluation as for the training: give its command the same "
            "option",
            evidence=evidence,
        )
    elif len(shared) == len(used):
        yield passed(f"{evaluation.samples} samples, with the {len(used)} trained tensors", evidence=evidence)
    elif telling(evaluation, known) or (scene.cell.precision != AMP and other_values(scene, used)):
        first = next(name for name in used if name not in shared)
        yield failed(
            f"the network that was evaluated is not the trained one: {len(used) - len(shared)} of "
            f"{len(used)} tensors "
            f"are not in {scene.step.weights}, for one {first}",
            evidence=evidence,
        )
    else:
        yield unchecked(
            f"{len(shared)} of {len(used)} tensors of the network are in {scene.step.weights} as they are",
            required=False,
            evidence=evidence,
        )


def left_unquantised(used: Mapping[str, str], trained: Mapping[str, str]) -> list[str]:
    """The tensors of a network that a file has only under the names of its quantised layers, with other
    values."""
    known = set(trained.values())
    return [
        name
        for name, digest in used.items()
        if name not in trained and quantised_name(name) in trained and digest not in known
    ]


def quantised_name(name: str) -> str:
    """How quantisation calls a tensor of a layer that it has wrapped: ``conv._layer.weight``."""
    layer, _dot, tensor = name.rpartition(".")
    return f"{layer}._layer.{tensor}"


def no_evaluation(scene: StepScene, process: ProcessFacts) -> Outcome:
    """Nothing was evaluated in eval mode by a network of dynamic graph."""
    if process.started:
        return unchecked(elsewhere(process, "evaluated"))
    if not process.paddle:
        return failed(f"the script never imported paddle: nothing was evaluated{complaint(scene)}")
    if process.predictors:
        samples = sum(one.samples for one in process.predictors)
        return passed(f"a predictor was evaluated on {samples} samples")
    if process.doors.get("Layer.__call__"):
        return unchecked(f"calls of networks could not be seen: {process.doors['Layer.__call__']}")
    return failed(f"no network was called in eval mode: nothing was evaluated{complaint(scene)}")


def other_values(scene: StepScene, used: Mapping[str, str]) -> bool:
    """A tensor of the network has another value than the file has under its name, in whatever precision."""
    arrays = load_arrays(find_weights(scene.path(scene.step.weights)))
    for name, digest in used.items():
        array = arrays.get(name)
        if array is None or array.dtype.kind != "f":
            continue
        if digest not in {weights_digest(each) for each in forms(array)}:
            return True
    return False


def forms(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """An array of floats in each precision that a network may compute in; bfloat16 as its 16 bits."""
    yield array
    if array.dtype == np.float32:
        yield array.astype(np.float16)
        bits = array.view(np.uint32).astype(np.uint64)
        yield ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    else:
        yield array.astype(np.float32)


def telling(evaluation: EvaluationFacts, known: set[str]) -> bool:
    """Most of the tensors are others: a network that computes in another precision has none of them, and one
    that folds its batch norms some; one with other weights shares only constants."""
    assert evaluation.weights is not None
    tensors = evaluation.weights.tensors
    shared = sum(digest in known for digest in tensors.values())
    return shared * 2 < len(tensors)


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
    if evaluation is None or not evaluation.samples or evaluation.samples % max(evaluation.calls, 1):
        return  # batches of unlike size: a mean of means is no multiple
    metrics = by_canonical_name(final_metrics(read_log(scene.step_log).evaluations))
    for name in COUNTED:
        value = metrics.get(name)
        if value is None or not math.isfinite(value):
            continue
        share = value / PER_CENT if value > 1 else value
        right = share * evaluation.samples
        if abs(right - round(right)) > ROUNDED * evaluation.samples + 1e-3:
            yield failed(
                f"{name} is {value:g}: of {evaluation.samples} samples, {right:.3g} would be right",
                samples=evaluation.samples,
                metric=value,
            )
            return
        yield passed(
            f"{name} {value:g}: {round(right)} of {evaluation.samples} samples", samples=evaluation.samples
        )


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
    trained = scene.main_process(trainings[0]) if trainings else None
    if process is None or trained is None or not process.images or not trained.images:
        return
    if set(process.images) == set(trained.images):
        yield unchecked(
            f"training and evaluation opened the same {len(process.images)} images",
            required=False,
            images=len(process.images),
        )
    else:
        yield passed(f"{len(process.images)} images, training opened others", images=len(process.images))
