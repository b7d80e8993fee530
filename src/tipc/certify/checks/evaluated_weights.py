"""What TT905 asks of the network that was evaluated: that it had the weights that training left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.evidence.weights_file import digest as weights_digest
from tipc.certify.evidence.weights_file import find_weights, load_arrays
from tipc.certify.registry import Outcome, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import AMP
from tipc.message import wording
from tipc.run.record.step_facts import EvaluationFacts

WHOLE_STATE = "save the whole state of the network: model.state_dict(), running statistics included"


def with_which_weights(
    scene: StepScene,
    evaluation: EvaluationFacts,
    trained: Mapping[str, str],
    known: frozenset[str],
    evidence: dict[str, Any],
) -> Outcome:
    """Whether the network that was evaluated had the trained weights."""
    assert evaluation.weights is not None
    used = evaluation.weights.tensors
    others = []
    for name, digest in used.items():
        if digest not in known:
            others.append(name)
    plain = left_unquantised(used, trained)
    if plain:
        return unquantised(scene, plain, len(used), evidence)
    if not others:
        told = wording(
            "{samples} samples, with the {tensors} trained tensors",
            samples=evaluation.samples,
            tensors=len(used),
        )
        return passed(told, evidence=evidence)
    if telling(evaluation, known) or (scene.cell.precision != AMP and other_values(scene, used)):
        told = wording(
            "the network that was evaluated is not the trained one: {others} of {tensors} tensors are not in "
            "{weights}, for one {first}",
            others=len(others),
            tensors=len(used),
            weights=scene.step.weights,
            first=others[0],
        )
        return failed(told, evidence=evidence)
    missing = left_out_of_file(used, trained)
    if missing:
        told = wording(
            "{missing} of {tensors} tensors of the network that was evaluated are not in {weights}, for one "
            "{first}; others of the same layers are",
            missing=len(missing),
            tensors=len(used),
            weights=scene.step.weights,
            first=missing[0],
        )
        return unchecked(told, remedy=WHOLE_STATE, evidence=evidence)
    told = wording(
        "{shared} of {tensors} tensors of the network are in {weights} as they are",
        shared=len(used) - len(others),
        tensors=len(used),
        weights=scene.step.weights,
    )
    return unchecked(told, required=False, evidence=evidence)


def left_out_of_file(used: Mapping[str, str], trained: Mapping[str, str]) -> list[str]:
    """The tensors of a network that the file does not have, where it has others of the same layer."""
    layers = set()
    for name, digest in used.items():
        if trained.get(name) == digest:
            layers.add(name.rpartition(".")[0])
    known = set(trained.values())
    missing = []
    for name, digest in used.items():
        if name not in trained and digest not in known and name.rpartition(".")[0] in layers:
            missing.append(name)
    return missing


def unquantised(scene: StepScene, plain: list[str], tensors: int, evidence: dict[str, Any]) -> Outcome:
    """The weights are those of a quantised network, and another one was evaluated."""
    told = wording(
        "the plain network was evaluated, not the quantised one: {plain} of its {tensors} tensors were never "
        "loaded, for one {first}, which is {quantised} in {weights}",
        plain=len(plain),
        tensors=tensors,
        first=plain[0],
        quantised=quantised_name(plain[0]),
        weights=scene.step.weights,
    )
    return failed(
        told,
        remedy="quantise the network for the evaluation as for the training: give its command the same "
        "option",
        evidence=evidence,
    )


def left_unquantised(used: Mapping[str, str], trained: Mapping[str, str]) -> list[str]:
    """The tensors of a network that a file has only under the names of its quantised layers, with other
    values."""
    known = set(trained.values())
    found = []
    for name, digest in used.items():
        if name not in trained and quantised_name(name) in trained and digest not in known:
            found.append(name)
    return found


def quantised_name(name: str) -> str:
    """How quantisation calls a tensor of a layer that it has wrapped: ``conv._layer.weight``."""
    layer, _dot, tensor = name.rpartition(".")
    return f"{layer}._layer.{tensor}"


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


def telling(evaluation: EvaluationFacts, known: frozenset[str]) -> bool:
    """Most of the tensors are others: a network that computes in another precision has none of them, and one
    that folds its batch norms some; one with other weights shares only constants."""
    assert evaluation.weights is not None
    tensors = evaluation.weights.tensors
    shared = sum(digest in known for digest in tensors.values())
    return shared * 2 < len(tensors)
