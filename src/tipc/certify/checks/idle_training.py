"""What TT901 doubts of a training that took its steps: without an end, on one batch, at a rate of 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tipc.certify.evidence.images_left import images_never_opened
from tipc.certify.registry import Outcome, unchecked
from tipc.certify.scene import StepScene
from tipc.message import Message, wording
from tipc.run.record.step_facts import ProcessFacts, TrainingFacts

TO_ITS_END = "let the script end as Python ends, by its last line or sys.exit"
ALL_IMAGES = "train on all of the images, or name those that are meant in a list"
LOAD_OR_TRAIN = "load the weights of what is frozen with paddle.load, or train it"
ANOTHER_RATE = "set a learning rate above 0, and a schedule that lasts as long as the training"


def doubts(
    process: ProcessFacts, training: TrainingFacts, argv: Sequence[str], evidence: dict[str, object]
) -> Iterator[Outcome]:
    """Why a training that took steps may have trained next to nothing."""
    found = (
        (no_last_word(process, training), TO_ITS_END),
        (one_batch_of_several(process, training, argv), ALL_IMAGES),
        (mostly_standing(training), ANOTHER_RATE),
    )
    for told, remedy in found:
        if told is not None:
            yield unchecked(told, remedy=remedy, evidence=evidence)


def with_images_of_all(scene: StepScene, process: ProcessFacts) -> ProcessFacts:
    """A process as if it had opened what all that trained with it have opened: each of several ranks has a
    part of the images."""
    facts = scene.facts(scene.step)
    opened = dict.fromkeys(process.images)
    for other in facts.processes if facts is not None else ():
        if other.training is not None and other.training.steps:
            opened.update(dict.fromkeys(other.images))
    return replace(process, images=tuple(opened))


def remarks(process: ProcessFacts, training: TrainingFacts, evidence: dict[str, object]) -> Iterator[Outcome]:
    """What should be known of a training that passes. A head may honestly be trained on a frozen network of
    random weights, where a lite config leaves the pretrained ones out."""
    told = mostly_frozen(process, training)
    if told is not None:
        yield unchecked(told, required=False, remedy=LOAD_OR_TRAIN, evidence=evidence)


def no_last_word(process: ProcessFacts, training: TrainingFacts) -> Message | None:
    """How the weights are at the end is told last, and this process has not come to it."""
    why = process.doors.get("end")
    if not why or training.after is not None:
        return None
    return wording("whether the weights changed is not known: {why}", why=why)


def one_batch_of_several(
    process: ProcessFacts, training: TrainingFacts, argv: Sequence[str]
) -> Message | None:
    """The same batch in every call, and images for another one that were never opened."""
    if training.forwards < 2 or len(set(training.input_digests)) != 1:
        return None
    left = images_never_opened(process, argv)
    if left < max(training.batch_sizes, default=1):
        return None
    return wording(
        "the network was fed the same batch in all of its {calls} calls, and {left} images for training were "
        "never opened; no list of files was read that leaves them out",
        calls=training.forwards,
        left=left,
    )


def mostly_frozen(process: ProcessFacts, training: TrainingFacts) -> Message | None:
    """Most of a network was not to be trained, and nothing was loaded that it could be."""
    loaded = training.states_set or any(load.at_step == 0 for load in process.loads)
    if loaded or not training.frozen or training.frozen_numbers <= training.trainable_numbers:
        return None
    return wording(
        "{frozen} of {all} numbers of the network are frozen, {first} for one, and nothing was loaded before",
        frozen=training.frozen_numbers,
        all=training.frozen_numbers + training.trainable_numbers,
        first=training.frozen[0],
    )


def mostly_standing(training: TrainingFacts) -> Message | None:
    """Most steps were taken at a rate that changes nothing."""
    if training.standing * 2 <= training.steps:
        return None
    return wording(
        "{standing} of {steps} steps were taken at a learning rate of 0",
        standing=training.standing,
        steps=training.steps,
    )
