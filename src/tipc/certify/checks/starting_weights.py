"""What TT901 asks of weights that a training was told to start from: they were loaded, and taken over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tipc.certify.evidence.weights_file import SUFFIX, find_weights, read_weights
from tipc.certify.registry import Outcome, unchecked
from tipc.certify.scene import StepScene
from tipc.message import wording
from tipc.run.record.step_facts import ProcessFacts, TrainingFacts

LOAD_THEM = "load them with paddle.load before the first step, or leave the option out"
FIT_THEM = "give set_state_dict the names that the network has (it ignores others), and train that network"


def not_started_from(
    scene: StepScene, process: ProcessFacts, training: TrainingFacts, evidence: dict[str, object]
) -> Iterator[Outcome]:
    """Why a training did not begin with the weights that its command names."""
    unread = weights_never_loaded(scene)
    if unread:
        told = wording("the command names {weights}, and no weights were loaded from it", weights=unread)
        yield unchecked(told, remedy=LOAD_THEM, evidence=evidence)
    untaken = weights_never_taken(scene, process, training)
    if untaken:
        told = wording(
            "the command names {weights}, which was loaded, and no network had a tensor of it",
            weights=untaken,
        )
        yield unchecked(told, remedy=FIT_THEM, evidence=evidence)


def weights_named(scene: StepScene) -> Iterator[tuple[str, str]]:
    """The files of weights that are there and that an option of the training names: the option's value and
    the file."""
    for word in scene.step.argv[1:]:
        value = word.rpartition("=")[2]
        named = scene.path(value, scene.step)
        if named.is_dir():
            continue  # a folder to write to, mostly
        weights = find_weights(named)
        if weights.suffix == SUFFIX and weights.is_file():
            yield value, os.path.realpath(weights)


def weights_never_loaded(scene: StepScene) -> str:
    """A file of weights that the command names and that no process loaded; empty: there is none."""
    facts = scene.facts(scene.step)
    if facts is None:
        return ""
    loaded: set[str] = set()
    for process in facts.processes:
        if process.doors.get("paddle.load, paddle.save") or process.started:
            return ""
        loaded.update(os.path.realpath(load.path) for load in process.loads)
    own = os.path.realpath(find_weights(scene.path(scene.step.weights)))
    for value, path in weights_named(scene):
        if path not in {*loaded, own}:
            return value
    return ""


def weights_never_taken(scene: StepScene, process: ProcessFacts, training: TrainingFacts) -> str:
    """A file of weights that the command names and that was loaded, where not one of its tensors was in a
    network that was trained or evaluated; empty: there is none. What is frozen, and what was put into
    another precision, cannot be told."""
    if training.before is None or training.frozen_numbers or training.amp.get("level") == "O2":
        return ""
    had = set(training.before.tensors.values())
    for evaluation in process.evaluations:
        if evaluation.weights is not None:
            had.update(evaluation.weights.tensors.values())
    for value, path in weights_named(scene):
        for load in process.loads:
            if os.path.realpath(load.path) != path or load.at_step:
                continue
            widened = read_weights(Path(path)).widened  # those of 16 bits, as a network of 32 takes them
            if had.isdisjoint({*load.weights.tensors.values(), *widened}):
                return value
    return ""
