"""TT901–TT904: training happened, as the witness saw it; and what the log says about it agrees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import mean, median

from tipc.certify.checks.training_log import EPOCH_OPTIONS
from tipc.certify.evidence.log_records import BATCH_COST, LOSS, SAMPLES, TrainingLine
from tipc.certify.evidence.option_values import argument_number
from tipc.certify.evidence.training_log_file import complaint, place, training_log
from tipc.certify.evidence.weights_file import find_weights, read_weights
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import AMP, PASS
from tipc.run.record.facts import ProcessFacts, TrainingFacts, WeightsFile

NO_WITNESS = "run it with `tipc run`: the witness stands before every Python script"
# A batch cannot cost less than this share of the time between two steps, of which it is most.
QUICKEST = 0.25
CLOCK = 5e-4  # seconds that rounding to a thousandth may make, where a log rounds
ROUNDED_AWAY = 0.02  # seconds: a step that is shorter may be told as 0.00
SLOWEST = 1.5  # times the mean time between two steps: a batch costs no more, as it is a part of it
ROUNDING = 1e-7  # of the weights' norm: a change of less is what rounding makes
ALONG = 1.5  # times the way that training has gone: averages of it lie no farther off
ELSEWHERE = 3.0  # and from here on it is another network
LEAST_SCALE = 8.0  # a loss scale is far larger; another reduction of the loss is not


def seen_process(scene: StepScene) -> tuple[ProcessFacts | None, Outcome | None]:
    """What the witness saw of the step's first process, or the outcome that says why there is nothing."""
    facts = scene.facts(scene.step)
    if facts is None or not facts.processes:
        why = facts.problem if facts is not None and facts.problem else "there was no witness"
        return None, unchecked(f"what it did was not seen: {why}", remedy=NO_WITNESS)
    return facts.main, None


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
        yield unchecked(elsewhere(process, "trained"))
        return
    if not process.paddle:
        yield failed(f"the script never imported paddle: nothing was trained{complaint(scene)}")
        return
    if training is None or not training.backwards or not training.steps:
        steps = training.steps if training is not None else 0
        yield failed(
            f"no training was seen: {training.backwards if training else 0} calls of backward, "
            f"{steps} steps of an "
            f"optimiser{complaint(scene)}"
        )
        return
    yield what_training_did(scene, training)


def what_training_did(scene: StepScene, training: TrainingFacts) -> Outcome:
    """Steps were taken: what came of them."""
    evidence = training_evidence(training)
    if unmoved(training):
        return failed(
            f"{training.steps} steps were taken, and no weight has changed: the learning rate was "
            f"{training.learning_rates[0] if training.learning_rates else 0:g}",
            evidence=evidence,
        )
    if training.after is not None and 0.0 < training.change < ROUNDING:
        return unchecked(
            f"{training.steps} steps changed the weights by {training.change:.2g} of their size: no more "
            f"than rounding does, at a learning rate of {(training.learning_rates or (0.0,))[-1]:.2g}",
            evidence=evidence,
        )
    if training.after is not None and not training.after.finite:
        return failed("the weights are not finite at the end of the training", evidence=evidence)
    if any(not math.isfinite(loss) for loss in training.losses) and not training.skipped_steps:
        return failed("backward was called on a loss that is not finite", evidence=evidence)
    if training.unused > max(training.gathered, 1, training.backwards // 2):
        return failed(
            f"training ended after step {training.steps}: backward was called {training.unused} times more, "
            "and no step followed",
            evidence=evidence,
        )
    if one_batch_for_ever(scene, training):
        return failed(
            f"the network was fed the same batch in all of its {training.forwards} calls, and an "
            "epoch has several",
            evidence=evidence,
        )
    change = f", the weights changed by {training.change:.2g}" if training.change else ""
    return passed(f"{training.steps} steps on {training.samples} samples{change}", evidence=evidence)


def elsewhere(process: ProcessFacts, done: str) -> str:
    """What is said of a script that did nothing itself, and started programs that nobody watched."""
    return f"nothing was {done} where it could be seen; the script started `{process.started[-1][:80]}`"


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
    training = process.training
    digests = set(found.digests.values())
    saved = [save for save in process.saves if set(save.weights.tensors.values()) == digests]
    evidence = {"tensors": found.tensors, "saved_at_steps": [save.at_step for save in saved][-5:]}
    if training.after is not None and holds(digests, training.after.tensors.values()):
        yield passed(f"all {training.after.count} trained tensors are in it", evidence=evidence)
    elif started_from(training, digests):
        yield failed(
            "the file holds the weights that training began with, not those that it ended with",
            evidence=evidence,
        )
    elif not saved:
        unseen = process.doors.get("paddle.load, paddle.save", "")
        if unseen:
            yield unchecked(f"what was saved could not be seen: {unseen}")
        else:
            yield failed(
                "the file is not what the training saved: no call of paddle.save wrote these weights",
                evidence=evidence,
            )
    else:
        # Weights that were saved may be loaded and saved once more: the best ones, at the end.
        told = [saved_on_the_way(training, save, evidence) for save in saved]
        yield next((one for one in told if one.status == PASS), told[-1])


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
    count = training.after.count if training.after is not None else 0
    evidence = {**evidence, "trained": save.trained, "apart": save.apart}
    # Of several networks that were trained together one may be saved alone.
    most = save.trained * 2 >= min(count, save.weights.count)
    if save.apart < 0 and unmoved_in(training, save.weights.tensors.values()):
        return failed("none of the tensors in the file was changed by the training", evidence=evidence)
    if save.trained > 0 and (save.trained == count or (save.apart < 0 and most)):
        return passed(
            f"saved after step {save.at_step} of {training.steps}: {save.trained} of the {count} tensors "
            "as they were then",
            evidence=evidence,
        )
    if save.changed and save.apart <= ELSEWHERE:
        return unchecked(
            f"{save.changed} is not what the optimiser left, and others are: it was changed after training",
            evidence=evidence,
        )
    if 0 <= save.apart <= ALONG:
        return passed(
            f"averages: they lie along the way that training went (off by {save.apart:.2g} of it)",
            evidence=evidence,
        )
    if save.apart > ELSEWHERE:
        return failed(
            f"the file holds another network's weights: {save.changed or 'they'} lies off the way by "
            f"{save.apart:.3g} times what training went",
            evidence=evidence,
        )
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


@check(
    "TT903",
    "The processes trained one network together",
    scope="train",
    reads="collective calls and the weights of every rank, as the witness saw them",
    remedy="wrap the network in paddle.DataParallel after init_parallel_env(), or all-reduce the gradients",
)
def trained_together(scene: StepScene) -> Iterator[Outcome]:
    """Processes that never exchange gradients train each a network of its own, at the price of several
    machines: every rank runs to its end, and nothing but the weights shows it."""
    if scene.step.processes < 2:
        return
    facts = scene.facts(scene.step)
    ranks = (
        [one for one in facts.processes if one.training and one.training.steps] if facts is not None else []
    )
    evidence = {
        "ranks": [one.rank for one in ranks],
        "collectives": [dict(one.collectives) for one in ranks],
        "weights": [one.training.after.digest for one in ranks if one.training and one.training.after],
    }
    if len(ranks) < scene.step.processes:
        yield failed(
            f"{len(ranks)} of {scene.step.processes} processes were seen to train", evidence=evidence
        )
        return
    ends = {one.training.after.digest for one in ranks if one.training and one.training.after}
    apart = differed_early(ranks)
    parallel = all(one.collectives.get("DataParallel.forward") for one in ranks)
    exchanged = parallel or all(one.collectives.get("all_reduce") for one in ranks)
    if apart and len(ends) == 1 and not parallel:
        yield failed(
            f"{len(ranks)} ranks trained apart: after the first steps there were {apart} different networks, "
            "which were made equal later",
            evidence=evidence,
        )
    elif exchanged and len(ends) == 1:
        yield passed(
            f"{len(ranks)} ranks exchanged gradients, and ended with equal weights", evidence=evidence
        )
    elif parallel:
        yield unchecked(
            f"{len(ranks)} ranks exchanged gradients, and ended with {len(ends)} different networks",
            evidence=evidence,
        )
    elif len(ends) == 1 and len({one.training.input_digests for one in ranks if one.training}) == 1:
        yield failed(
            f"{len(ranks)} ranks exchanged nothing: each trained the same network on the same data",
            evidence=evidence,
        )
    elif len(ends) == 1:
        yield passed(f"{len(ranks)} ranks ended with equal weights", evidence=evidence)
    else:
        yield failed(
            f"{len(ranks)} ranks trained apart: no DataParallel was called, and there are {len(ends)} "
            "different networks at the end",
            evidence=evidence,
        )


def differed_early(ranks: Sequence[ProcessFacts]) -> int:
    """How many different networks the ranks had after the first steps; 0: one, or it was not seen."""
    early = [one.training.early for one in ranks if one.training is not None and one.training.early]
    if len(early) < len(ranks):
        return 0
    networks = set(early)
    return len(networks) if len(networks) > 1 else 0


@check(
    "TT904",
    "The training log tells of the training that was seen",
    scope="train",
    reads="loss, samples and costs in the training log, and the losses, batches and times that the "
    "witness saw",
    remedy="print the loss that backward is called on, the time of the whole step, and the samples "
    "of the batch",
)
def log_agrees(scene: StepScene) -> Iterator[Outcome]:
    """Figures that are not of this training: a formula, a recording, a clock that stands still. Bounds: a
    loss within the range of those seen, and beyond it by that range at most; samples of a line within the
    batches seen; a batch that costs no less than a quarter of the time between two steps; no more epochs than
    batches, and no more iterations."""
    process, _ = seen_process(scene)
    log = training_log(scene)
    if process is None or process.training is None or not process.training.steps or not log.rows:
        return
    rows = [as_whole_interval(row, process.training) for row in log.rows]
    told = (
        wrong_loss(scene, [row.get(LOSS) for row in rows if LOSS in row.values])
        or wrong_samples(scene, process.training, [row.get(SAMPLES) for row in rows if SAMPLES in row.values])
        or wrong_cost(process.training, [row.get(BATCH_COST) for row in rows if BATCH_COST in row.values])
        or wrong_count(scene, process.training, log.rows)
    )
    if told:
        yield failed(
            f"{told} ({place(scene, log.path, log.rows[0].line)})",
            evidence=training_evidence(process.training),
        )
    else:
        yield passed(f"{len(log.rows)} lines, {process.training.steps} steps")


def as_whole_interval(row: TrainingLine, training: TrainingFacts) -> TrainingLine:
    """A line about an interval that the end of an epoch cut short, as if it had been whole.

    Some loops divide the samples and the time of an interval by its usual length, also where fewer batches
    were in it. Both figures are then too small by one factor, and the speed is right: the time, corrected by
    that factor, is that of a step. Other lines stay as they are.
    """
    samples, cost = row.get(SAMPLES, 0.0), row.get(BATCH_COST, 0.0)
    if not training.batch_sizes or not training.step_seconds or samples <= 0 or cost <= 0:
        return row
    factor = min(training.batch_sizes) / samples
    if factor <= 1 or cost * factor > SLOWEST * mean(training.step_seconds):
        return row
    whole = {SAMPLES: samples * factor, BATCH_COST: cost * factor}
    return replace(row, values={**row.values, **whole})


def unscaled(seen: list[float], told: list[float]) -> list[float]:
    """The losses of a training in mixed precision, without the scale that a scaler of its own put on them.

    A scale is a power of two, and one for all of a run or nearly so; paddle's own scaler is seen through.
    """
    ratio = abs(median(seen)) / max(abs(median(told)), 1e-12)
    if ratio < LEAST_SCALE:
        return seen
    scale = 2.0 ** round(math.log2(ratio))
    return [loss / scale for loss in seen]


def wrong_loss(scene: StepScene, told: list[float]) -> str:
    """What is wrong with the losses of a log; empty if nothing is."""
    facts = scene.facts(scene.step)
    seen: list[float] = []
    for process in facts.processes if facts is not None else ():
        if process.training is not None:
            seen += [loss for loss in process.training.losses if math.isfinite(loss)]
    told = [loss for loss in told if math.isfinite(loss)]
    if not seen or not told:
        return ""
    if scene.cell.precision == AMP:
        seen = unscaled(seen, told)
    low, high = min(seen), max(seen)
    # Means over ranks or intervals, another reduction or a part of a sum: as far again as the losses range.
    slack = max(high - low, 0.5 * max(abs(low), abs(high)), 1e-3)
    far = [loss for loss in told if not low - slack <= loss <= high + slack]
    if len(far) * 2 > len(told):
        return f"the log tells a loss of {far[0]:.4g}; those seen lie between {low:.4g} and {high:.4g}"
    return ""


def wrong_samples(scene: StepScene, training: TrainingFacts, told: list[float]) -> str:
    """What is wrong with the samples of the log's lines; empty if nothing is."""
    if not training.batch_sizes or not told:
        return ""
    low, high = min(training.batch_sizes), max(training.batch_sizes) * max(scene.step.processes, 1)
    far = [count for count in told if not low * 0.9 <= count <= high * 1.1]
    if len(far) * 2 > len(told):
        return f"the log tells of {far[0]:g} samples a batch; the network was fed {low} to {high}"
    return ""


def wrong_cost(training: TrainingFacts, told: list[float]) -> str:
    """What is wrong with the costs of the log's lines; empty if nothing is."""
    if len(training.step_seconds) < 3 or not told:
        return ""
    ordered = sorted(training.step_seconds[1:])
    quick = ordered[len(ordered) // 10]
    cost = median(told)
    if cost <= 0 and quick < ROUNDED_AWAY:
        return ""
    rounds = all(abs(value * 1000 - round(value * 1000)) < 1e-6 for value in told)
    slack = CLOCK if rounds else 0.0
    if cost < QUICKEST * quick - slack:
        return f"the log tells of {cost:.4g} s a batch; between two steps there were {quick:.4g} s at least"
    return ""


def wrong_count(scene: StepScene, training: TrainingFacts, rows: Sequence[TrainingLine]) -> str:
    """What is wrong with the length of the training that was told; empty if nothing is."""
    batches = max(training.forwards, training.backwards)
    told = {(row.epoch, row.iteration) for row in rows if row.iteration is not None and LOSS in row.values}
    # Some scripts tell of the beginning as well, before the first batch.
    if len(told) > batches + 1:
        return f"the log tells of {len(told)} iterations; the network was fed {batches} batches"
    epochs = argument_number(scene.step.argv, EPOCH_OPTIONS) or 0
    if batches < epochs:
        return f"{epochs:g} epochs were asked for; the network was fed {batches} batches"
    return ""
