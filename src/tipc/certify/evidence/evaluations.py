"""What a trained network was fed and answered in its own evaluation."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.scene import PlanScene, arrays_in
from tipc.kinds import EVAL, EXPORT, TRAIN
from tipc.plan.model import Step
from tipc.run.record.step_facts import EvaluationFacts, ProcessFacts

Arrays = dict[str, NDArray[Any]]
Keys = tuple[tuple[str, str], ...]  # name → key of its array
MOST_SAMPLES = 8
MOST_BYTES = 48 * 2**20


class Feeds(Arrays):
    """What a model is fed, by the names of its inputs. Once it is made it is not changed."""

    @cached_property
    def digest(self) -> str:
        """Of every byte; made once, for the same is fed to several engines, and asked about several times."""
        total = hashlib.sha256()
        for name, value in self.items():
            total.update(f"{name} {value.dtype.str} {value.shape}".encode())
            total.update(np.ascontiguousarray(value).data)
        return total.hexdigest()


@dataclass(frozen=True)
class SeenEvaluation:
    """An evaluation with its arrays: the calls that can be laid together, one after the other."""

    step: Step
    facts: EvaluationFacts
    process: ProcessFacts
    inputs: Feeds
    outputs: Arrays

    @property
    def samples(self) -> int:
        return max((len(value) for value in self.inputs.values() if value.ndim), default=0)


def last_evaluation(process: ProcessFacts | None, trained: frozenset[str]) -> EvaluationFacts | None:
    """The last evaluation of a process that fed anything to a network with the trained tensors, of which the
    digests are given; the last of any where none had them."""
    if process is None:
        return None
    last = None
    for one in reversed(process.evaluations):
        if not one.calls:
            continue
        if one.weights is not None and trained and trained.issuperset(one.weights.tensors.values()):
            return one
        last = last or one
    return last


def seen_evaluation(scene: PlanScene, cell: str) -> SeenEvaluation | None:
    """The evaluation of a cell's trained weights: of the evaluation step, else the last of the training, else
    one that the export made before it saved the network."""
    for kind in (EVAL, TRAIN, EXPORT):
        for step in scene.steps(kind, cell):
            process = scene.main_process(step)
            facts = last_evaluation(process, scene.trained_digests(cell))
            if facts is None or process is None or not facts.kept:
                continue
            if kind == TRAIN and process.training and facts.at_step < process.training.steps:
                continue  # the weights have changed since
            if kind == EXPORT and not _has_trained_weights(scene, cell, facts):
                continue
            calls = [(tuple(call.inputs.items()), tuple(call.outputs.items())) for call in facts.kept]
            inputs, outputs = _joined(tuple(calls), scene.arrays_file(step))
            if inputs and outputs:
                return SeenEvaluation(step, facts, process, inputs, outputs)
    return None


def _has_trained_weights(scene: PlanScene, cell: str, facts: EvaluationFacts) -> bool:
    """Whether the network that was evaluated has every trained tensor, or none that was not trained: the
    clipping values of PACT serve the training alone, and an export may leave them out."""
    trained = scene.trained_digests(cell)
    if not trained or facts.weights is None or not facts.weights.tensors:
        return False
    evaluated = set(facts.weights.tensors.values())
    return trained <= evaluated or evaluated <= trained


@lru_cache(maxsize=4)  # each check of a cell asks, and before them who asks the probes
def _joined(calls: tuple[tuple[Keys, Keys], ...], path: str) -> tuple[Feeds, Arrays]:
    """The first calls of one form, laid together: their inputs and outputs, of the arrays in a file."""
    if not path:
        return Feeds(), {}
    arrays = arrays_in(path)
    inputs: dict[str, list[NDArray[Any]]] = {}
    outputs: dict[str, list[NDArray[Any]]] = {}
    form: Any = None
    samples = size = 0
    for fed, answered in calls:
        given, got = _kept(fed, arrays), _kept(answered, arrays)
        every = [*given.values(), *got.values()]
        this = _form(given), _form(got)
        form = form or this
        size += sum(value.nbytes for value in every)
        if this != form or (samples and (samples >= MOST_SAMPLES or size > MOST_BYTES)):
            break
        for name, value in given.items():
            inputs.setdefault(name, []).append(value)
        for name, value in got.items():
            outputs.setdefault(name, []).append(value)
        samples += max((len(value) for value in given.values() if value.ndim), default=1)
        if not _can_be_laid_together(every):
            break
    return Feeds(_concatenated(inputs)), _concatenated(outputs)


def _kept(keys: Keys, arrays: Arrays) -> Arrays:
    """The arrays of a call that were kept, by their names."""
    found = {}
    for name, key in keys:
        if key in arrays:
            found[name] = arrays[key]
    return found


def _form(arrays: Arrays) -> tuple[tuple[str, tuple[int, ...], str], ...]:
    return tuple((name, value.shape[1:], value.dtype.str) for name, value in arrays.items())


def _can_be_laid_together(every: Sequence[NDArray[Any]]) -> bool:
    """Every array has one row a sample: not so the boxes of a detector."""
    counts = set()
    for value in every:
        if not value.ndim:
            return False
        counts.add(len(value))
    return len(counts) == 1


def _concatenated(parts: dict[str, list[NDArray[Any]]]) -> Arrays:
    found = {}
    for name, values in parts.items():
        found[name] = values[0]
        if len(values) > 1:
            found[name] = np.concatenate(values)
    return found
