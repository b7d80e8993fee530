"""TT901, TT902: training happened, as the witness saw it, and its weights were saved."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tipc.certify.checks.idle_training import doubts, remarks, with_images_of_all
from tipc.certify.checks.named_data import named_data_unopened
from tipc.certify.checks.starting_weights import not_started_from
from tipc.certify.checks.training_log import EPOCH_OPTIONS
from tipc.certify.evidence.option_values import argument_number
from tipc.certify.evidence.question import digest_of
from tipc.certify.evidence.saved_beside import ALONG, FEW
from tipc.certify.evidence.training_log_file import with_complaint
from tipc.certify.evidence.weights_file import (
    WeightsInFile,
    find_weights,
    load_arrays,
    read_weights,
)
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import PASS
from tipc.message import Message, wording
from tipc.run.record.step_facts import ProcessFacts, TrainingFacts, WeightsFile

NO_WITNESS = "run it with `tipc run`: the witness watches every Python script"
ALL_PARAMETERS = "give all parameters to an optimiser of paddle's, or set stop_gradient on those that stay"
LET_IT_THROUGH = "do not detach what comes out of them, nor use no_grad; set stop_gradient on those that stay"
SAVE_STATISTICS = "save the whole state of the network that was trained: model.state_dict()"
WARM_UP = "let the decay of the averages begin small, or correct them for where they began"
STATISTICS = ("._mean", "._variance")
ROUNDING = 1e-7  # of the weights' norm: a change of less is what rounding makes
ELSEWHERE = 3.0  # and from here on it is another network
HARDLY = 0.01  # of the way: averages that went less are what training began with


def seen_process(scene: StepScene) -> tuple[ProcessFacts | None, Outcome | None]:
    """What the witness saw of the step's first process, or the outcome that says why there is nothing."""
    facts = scene.facts(scene.step)
    if facts is not None and facts.processes:
        return facts.main, None
    why: str | Message = wording("there was no witness")
    if facts is not None and facts.problem:
        why = facts.problem
    return None, unchecked(wording("what it did was not seen: {why}", why=why), remedy=NO_WITNESS)


@check(
    "TT901",
    "The network was trained",
    scope="train",
    reads="the optimiser's steps, the losses and the weights before and after, as the witness saw them",
    remedy="call loss.backward() and optimiser.step() with a learning rate above 0, on the network's "
    "parameters",
)
def was_trained(scene: StepScene) -> Iterator[Outcome]:
    """A log can say anything. That training happened shows in what paddle was asked to do: backward on a
    loss, steps of an optimiser, and weights that are others afterwards."""
    process, problem = seen_process(scene)
    if process is None:
        yield problem or unchecked("nothing was seen")
        return
    training = process.training
    if process.started and (training is None or not training.steps):
        yield unchecked(elsewhere(process, wording("trained")))
        return
    if not process.paddle:
        yield failed(with_complaint(scene, "the script never imported paddle: nothing was trained"))
        return
    if training is None or not training.backwards or not training.steps:
        told = wording(
            "no training was seen: {backwards} calls of backward, {steps} steps of an optimiser",
            backwards=training.backwards if training else 0,
            steps=training.steps if training else 0,
        )
        yield failed(with_complaint(scene, told))
        return
    outcome = what_training_did(scene, training)
    if outcome.status == PASS:
        asked = [
            *not_started_from(scene, process, training, {**outcome.evidence}),
            *named_data_unopened(scene, process, outcome.evidence),
        ]
        outcome = next(iter(asked), outcome)
    left_out = given_to_nobody(process, training)
    if outcome.status == PASS and left_out:
        told = wording(
            "{count} of {all} trainable tensors were given to no optimiser, {first} for one, and nothing was "
            "loaded before: they are as they were made",
            count=len(left_out),
            all=training.before.count if training.before else 0,
            first=left_out[0],
        )
        evidence = {**outcome.evidence, "left_out": left_out[:20]}
        outcome = unchecked(told, remedy=ALL_PARAMETERS, evidence=evidence)
    unreached = without_gradient(process, training)
    if outcome.status == PASS and unreached:
        told = wording(
            "{count} of {all} tensors that the optimiser had never had a gradient, {first} for one, and "
            "nothing was loaded before: they are as they were made",
            count=len(unreached),
            all=len(training.given),
            first=unreached[0],
        )
        evidence = {**outcome.evidence, "without_gradient": unreached[:20]}
        outcome = unchecked(told, remedy=LET_IT_THROUGH, evidence=evidence)
    if outcome.status == PASS:
        all_ranks = with_images_of_all(scene, process)
        outcome = next(doubts(all_ranks, training, scene.step.argv, {**outcome.evidence}), outcome)
    yield outcome
    if outcome.status == PASS:
        yield from remarks(process, training, {**outcome.evidence})


def given_to_nobody(process: ProcessFacts, training: TrainingFacts) -> list[str]:
    """Most of a network's trainable tensors, where no optimiser had them and no weights were loaded that
    might stay as they are: transfer learning has loaded some, and who freezes others says so."""
    if training.before is None or training.after is None or not training.given:
        return []
    if any(load.at_step == 0 for load in process.loads):
        return []
    before, after = training.before.tensors, training.after.tensors
    given = set(training.given)
    left_out = []
    for name in before:
        if name not in given and before[name] == after.get(name):
            left_out.append(name)
    if len(left_out) * 2 <= len(before):
        return []
    return left_out


def without_gradient(process: ProcessFacts, training: TrainingFacts) -> list[str]:
    """Most of the tensors that an optimiser had, where no gradient ever reached them and no weights were
    loaded: a network whose lower part was cut off from the loss. A few may be of a head that is not in use.
    """
    if training.before is None or training.after is None:
        return []
    if any(load.at_step == 0 for load in process.loads):
        return []
    before, after = training.before.tensors, training.after.tensors
    unreached = []
    for name in training.without_gradient:
        if name in before and before[name] == after.get(name):
            unreached.append(name)
    if len(unreached) * 2 <= len(training.given):
        return []
    return unreached


def what_training_did(scene: StepScene, training: TrainingFacts) -> Outcome:
    """Steps were taken: what came of them."""
    evidence = training_evidence(training)
    if unmoved(training):
        told = wording(
            "{steps} steps were taken, and no weight has changed: the learning rate was {rate:g}",
            steps=training.steps,
            rate=(training.learning_rates or (0.0,))[0],
        )
        return failed(told, evidence=evidence)
    if training.after is not None and 0.0 < training.change < ROUNDING:
        told = wording(
            "{steps} steps changed the weights by {change:.2g} of their size: no more than rounding does, at "
            "a learning rate of {rate:.2g}",
            steps=training.steps,
            change=training.change,
            rate=(training.learning_rates or (0.0,))[-1],
        )
        return unchecked(told, evidence=evidence)
    wrong = worthless_training(scene, training)
    if wrong is not None:
        return failed(wrong, evidence=evidence)
    if training.zero_gradient and not training.with_gradient:
        told = wording(
            "every gradient was 0 before the first {steps} steps: what changed the weights was not the loss",
            steps=training.gradients_seen,
        )
        return unchecked(
            told, remedy="call the optimiser's step before gradients are cleared", evidence=evidence
        )
    graded, still = tensors_that_stayed(training)
    if len(still) * 2 > graded:
        told = wording(
            "{still} of {graded} tensors that had a gradient are as they were before the first step, {first} "
            "for one: not the optimiser's steps changed the others",
            still=len(still),
            graded=graded,
            first=still[0],
        )
        return unchecked(told, remedy=ALL_PARAMETERS, evidence={**evidence, "still": still[:20]})
    told = wording("{steps} steps on {samples} samples", steps=training.steps, samples=training.samples)
    if training.change:
        told = wording("{message}, the weights changed by {change:.2g}", message=told, change=training.change)
    return passed(told, evidence=evidence)


def tensors_that_stayed(training: TrainingFacts) -> tuple[int, list[str]]:
    """How many tensors had a gradient before one of the first steps, and which of them never changed."""
    if training.before is None or training.after is None:
        return 0, []
    before, after = training.before.tensors, training.after.tensors
    graded = 0
    stayed = []
    for name in training.with_gradient:
        if name not in before or name not in after:
            continue
        graded += 1
        if before[name] == after[name]:
            stayed.append(name)
    return graded, stayed


def worthless_training(scene: StepScene, training: TrainingFacts) -> Message | None:
    """Why the steps that were taken are no training; None: they are."""
    if training.after is not None and not training.after.finite:
        return wording("the weights are not finite at the end of the training")
    if any(not math.isfinite(loss) for loss in training.losses) and not training.skipped_steps:
        return wording("backward was called on a loss that is not finite")
    if training.unused > max(training.gathered, 1, training.backwards // 2):
        return wording(
            "training ended after step {steps}: backward was called {unused} times more, and no step "
            "followed",
            steps=training.steps,
            unused=training.unused,
        )
    if one_batch_for_ever(scene, training):
        return wording(
            "the network was fed the same batch in all of its {calls} calls, and an epoch has several",
            calls=training.forwards,
        )
    return None


def elsewhere(process: ProcessFacts, done: Message) -> Message:
    """What is said of a script that did nothing itself, and started programs that nobody watched."""
    return wording(
        "nothing was {done} where it could be seen; the script started `{program}`",
        done=done,
        program=process.started[-1][:80],
    )


def training_evidence(training: TrainingFacts) -> dict[str, object]:
    """The figures of a training."""
    losses = training.losses
    return {
        "steps": training.steps,
        "skipped_steps": training.skipped_steps,
        "backwards": training.backwards,
        "first_loss": losses[0] if losses else None,
        "last_loss": losses[-1] if losses else None,
        "change": training.change,
        "batch_sizes": list(training.batch_sizes),
        "samples": training.samples,
        "learning_rates": list(training.learning_rates),
        "different_batches": len(set(training.input_digests)),
        "frozen_numbers": training.frozen_numbers,
        "standing": training.standing,
    }


def unmoved(training: TrainingFacts) -> bool:
    """Not one of the optimised tensors is another afterwards; False where that was not seen."""
    if training.before is None or training.after is None:
        return False
    return training.before.digest == training.after.digest


def one_batch_for_ever(scene: StepScene, training: TrainingFacts) -> bool:
    """The same input in every call, though an epoch has more than one batch."""
    epochs = argument_number(scene.step.argv, EPOCH_OPTIONS)
    if epochs is None or len(set(training.input_digests)) != 1:
        return False
    return training.forwards > epochs > 0


@check(
    "TT902",
    "The weights file holds what training ended with",
    scope="train",
    reads="the weights file, what paddle.save wrote, and the weights before and after, as the "
    "witness saw them",
    remedy="save model.state_dict() of the network that was trained, after its last step, with paddle.save",
)
def saved_what_was_trained(scene: StepScene) -> Iterator[Outcome]:
    """Training that saves another network than the trained one, or the weights that it began with, leaves a
    file that every later step takes for the trained weights."""
    process, _ = seen_process(scene)
    if not scene.step.weights or process is None or process.training is None or not process.training.steps:
        return
    found = read_weights(find_weights(scene.path(scene.step.weights)))
    if found.error or not found.digests:
        return  # TX703
    changed = changed_since(scene)
    if changed:
        yield failed(
            wording(
                "{file} is not the file that the training step left: it was changed afterwards", file=changed
            )
        )
        return
    training = process.training
    digests = set(found.digests.values())
    saved = [save for save in process.saves if set(save.weights.tensors.values()) == digests]
    evidence = {"tensors": found.tensors, "saved_at_steps": [save.at_step for save in saved][-5:]}
    reset = statistics_as_made(process, training, found)
    if reset:
        told = wording(
            "{name} in the file is as it was made; training evaluated its network with another one",
            name=reset,
        )
        yield unchecked(told, remedy=SAVE_STATISTICS, evidence=evidence)
    elif training.after is not None and holds(digests, training.after.tensors.values()):
        told = wording("all {count} trained tensors are in it", count=training.after.count)
        yield passed(told, evidence=evidence)
    elif started_from(training, digests):
        yield failed(
            "the file holds the weights that training began with, not those that it ended with",
            evidence=evidence,
        )
    elif saved:
        yield best_of_saves(training, saved, evidence)
    else:
        yield not_saved(process, evidence)


def statistics_as_made(process: ProcessFacts, training: TrainingFacts, found: WeightsInFile) -> str:
    """Statistics of a batch norm that are all one value in the file, and were not when training evaluated the
    same weights after its last step; empty: there are none. Taking them anew from images is no fault."""
    for evaluation in process.evaluations:
        if evaluation.weights is None or evaluation.at_step != training.steps or training.after is None:
            continue
        used = evaluation.weights.tensors
        if not holds(set(used.values()), training.after.tensors.values()):
            continue  # averages, or another network
        others = []
        for name, digest in used.items():
            if name.endswith(STATISTICS) and found.digests.get(name, digest) != digest:
                others.append(name)
        in_file = load_arrays(found.path) if others else {}
        for name in others:
            if in_file[name].size > 1 and np.ptp(in_file[name]) == 0:
                return name
    return ""


def changed_since(scene: StepScene) -> str:
    """A weights file whose contents are others than when the step had ended; empty: none is.

    Where another step of the run has left a file of the same name, that is the last one's.
    """
    weights = find_weights(scene.path(scene.step.weights))
    name = os.path.relpath(weights, scene.repo)
    left = scene.outcome.artefacts.get(name)
    if left is None or not weights.is_file():
        return ""
    if scene.run.writers[scene.plan.repo, name] > 1:
        return ""
    if digest_of(weights) == left:
        return ""
    return name


def best_of_saves(
    training: TrainingFacts, saved: Sequence[WeightsFile], evidence: dict[str, object]
) -> Outcome:
    """Weights that were saved may be loaded and saved once more: the best ones, at the end."""
    outcome = saved_on_the_way(training, saved[0], evidence)
    for save in saved[1:]:
        if outcome.status == PASS:
            break
        outcome = saved_on_the_way(training, save, evidence)
    return outcome


def not_saved(process: ProcessFacts, evidence: dict[str, object]) -> Outcome:
    """No call of paddle.save that was seen wrote the file."""
    unseen = process.doors.get("paddle.load, paddle.save", "")
    if unseen:
        return unchecked(wording("what was saved could not be seen: {why}", why=unseen))
    return failed(
        "the file is not what the training saved: no call of paddle.save wrote these weights",
        evidence=evidence,
    )


def holds(digests: set[str], tensors: Iterable[str]) -> bool:
    """Every tensor is among those of the file."""
    wanted = set(tensors)
    return bool(wanted) and wanted <= digests


def started_from(training: TrainingFacts, digests: set[str]) -> bool:
    """The file has the tensors that were optimised as they were before the first step."""
    return training.before is not None and holds(digests, training.before.tensors.values())


def saved_on_the_way(training: TrainingFacts, save: WeightsFile, evidence: dict[str, object]) -> Outcome:
    """Weights that paddle.save wrote and that are not those of the end: the best of earlier ones, averages,
    or those of another network."""
    count = 0
    if training.after is not None:
        count = training.after.count
    evidence = {**evidence, "trained": save.trained, "apart": save.apart}
    # Of several networks that were trained together one may be saved alone.
    most = save.trained * 2 >= min(count, save.weights.count)
    if save.apart < 0 and unmoved_in(training, save.weights.tensors.values()):
        return failed("none of the tensors in the file was changed by the training", evidence=evidence)
    if save.trained > 0 and (save.trained == count or (save.apart < 0 and most)):
        told = wording(
            "saved after step {step} of {steps}: {trained} of the {count} tensors as they were then",
            step=save.at_step,
            steps=training.steps,
            trained=save.trained,
            count=count,
        )
        return passed(told, evidence=evidence)
    return off_the_way(save, evidence)


def off_the_way(save: WeightsFile, evidence: dict[str, object]) -> Outcome:
    """Weights that are those of no step: how far they lie off the way that training went."""
    if save.changed and save.apart <= ELSEWHERE:
        told = wording(
            "{tensor} is not what the optimiser left, and others are: it was changed after training",
            tensor=save.changed,
        )
        return unchecked(told, evidence=evidence)
    if 0 <= save.apart <= ALONG and len(save.strayed) > FEW * save.judged:
        told = wording(
            "{count} of {judged} tensors, {first} for one, are neither what the optimiser left nor averages: "
            "each lies off the way that it went",
            count=len(save.strayed),
            judged=save.judged,
            first=save.strayed[0],
        )
        return unchecked(told, evidence={**evidence, "strayed": save.strayed[:20]})
    if 0 <= save.apart <= ALONG and save.gone < HARDLY:
        told = wording(
            "averages that hardly began: they have gone {share:.2g} of the way of the training, and are the "
            "weights that it began with",
            share=save.gone,
        )
        return unchecked(told, remedy=WARM_UP, evidence={**evidence, "gone": save.gone})
    if 0 <= save.apart <= ALONG:
        told = wording(
            "averages: they lie along the way that training went (off by {share:.2g} of it)", share=save.apart
        )
        return passed(told, evidence=evidence)
    if save.apart > ELSEWHERE and save.changed:
        told = wording(
            "the file holds another network's weights: {tensor} lies off the way by {times:.3g} times what "
            "training went",
            tensor=save.changed,
            times=save.apart,
        )
        return failed(told, evidence=evidence)
    if save.apart > ELSEWHERE:
        told = wording(
            "the file holds another network's weights: they lie off the way by {times:.3g} times what "
            "training went",
            times=save.apart,
        )
        return failed(told, evidence=evidence)
    return unchecked(
        "none of the tensors that were saved is one that the optimiser had; whether they are averages "
        "does not show",
        evidence=evidence,
    )


def unmoved_in(training: TrainingFacts, tensors: Iterable[str]) -> bool:
    """Training has changed tensors, and those that are saved are others, as they were at the start."""
    if training.before is None or training.after is None:
        return False
    start = set(training.before.tensors.values())
    moved = set(training.after.tensors.values()) - start
    saved = set(tensors)
    return bool(moved and saved & start) and not saved & moved
