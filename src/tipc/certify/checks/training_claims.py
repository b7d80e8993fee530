"""TT904: what the training log says about the training agrees with what the witness saw of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import correlation, mean, median

from tipc.certify.checks.idle_training import was_loaded
from tipc.certify.checks.log import BATCH_SIZE_OPTIONS
from tipc.certify.checks.training_happened import seen_process, training_evidence
from tipc.certify.checks.training_log import EPOCH_OPTIONS, column
from tipc.certify.evidence.log_records import BATCH_COST, IPS, LOSS, SAMPLES, TrainingLine
from tipc.certify.evidence.option_values import argument_number
from tipc.certify.evidence.training_log_file import place, training_log
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import AMP
from tipc.message import Message, wording
from tipc.run.record.step_facts import ProcessFacts, TrainingFacts

# A batch cannot cost less than this share of what its step took, from the network's call on: some logs divide
# by more batches than there were.
QUICKEST = 0.25
CLOCK = 5e-4  # seconds that rounding to a thousandth may make, where a log rounds
ROUNDED_AWAY = 0.02  # seconds: a step that is shorter may be told as 0.00
SLOWEST = 1.5  # times the mean time between two steps: a batch costs no more, as it is a part of it
LINES = 6  # of single steps, to hold each loss against its own step
ROUNDED = 0.01  # of a loss: as a log may round it
IN_STEP = 0.6  # correlation of the steps from line to line, where a log tells another loss than the minimised
BENDING = 0.3  # and of how these steps change: a smooth formula falls as any loss does, and bends with none
# What a speed counts: samples, under any of their names, or batches. Else it cannot be held against facts.
OF_SAMPLES = re.compile(
    r"(?:im(?:age|g)?|sample|picture|instance|example|sequence|sentence|clip|video)s?/.*|", re.IGNORECASE
)
OF_BATCHES = re.compile(r"(?:batch(?:es)?|it(?:er(?:ation)?)?s?|steps?)/.*", re.IGNORECASE)
EVALUATED_BATCH = re.compile(r"(?:eval|val|test).*(?:batch|bs)", re.IGNORECASE)
LEAST_SCALE = 8.0  # a loss scale is far larger; another reduction of the loss is not


@check(
    "TT904",
    "The training log agrees with the training that was seen",
    scope="train",
    reads="loss, samples, costs and speeds in the training log, and the losses, batches and times that "
    "the witness saw",
    remedy="print the loss that backward is called on, the time of the whole step, the samples of the "
    "batch, and their quotient as the speed",
)
def log_agrees(scene: StepScene) -> Iterator[Outcome]:
    """Figures that are not of this training: a formula, a recording, a clock that stands still. Bounds: a
    loss within the range of those seen, and beyond it by that range at most; samples of a line within the
    batches seen; a batch that costs no less than a quarter of what its step took, from the first call of the
    network to the optimiser's end, and a speed of no more samples than the largest batches of all processes
    in that time; no more epochs than batches, and no more iterations."""
    process, _ = seen_process(scene)
    log = training_log(scene)
    if process is None or process.training is None or not process.training.steps or not log.rows:
        return
    rows = [as_whole_interval(row, process.training) for row in log.rows]
    wrong = (
        wrong_loss(scene, column(rows, LOSS))
        or wrong_samples(scene, process.training, column(rows, SAMPLES))
        or wrong_batch_size(scene, process, column(log.rows, SAMPLES))
        or wrong_cost(process.training, column(rows, BATCH_COST))
        or wrong_speed(scene, process.training, log.rows)
        or wrong_count(scene, process, process.training, log.rows)
    )
    if wrong is not None:
        where = place(scene, log.path, log.rows[0].line)
        told = wording("{problem} ({place})", problem=wrong, place=where)
        yield failed(told, evidence=training_evidence(process.training))
    else:
        told = wording("{lines} lines, {steps} steps", lines=len(log.rows), steps=process.training.steps)
        yield passed(told)
        yield from speed_of_no_samples(log.rows)


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


def wrong_loss(scene: StepScene, told: list[float]) -> Message | None:
    """What is wrong with the losses of a log; None if nothing is."""
    seen = finite_losses_seen(scene)
    told = [loss for loss in told if math.isfinite(loss)]
    if not seen or not told:
        return None
    if scene.cell.precision == AMP:
        seen = unscaled(seen, told)
    low, high = min(seen), max(seen)
    if high > 0:
        high *= gathered_for_a_step(scene)  # each batch has its share of the loss that is told
    # Means over ranks or intervals, another reduction or a part of a sum: as far again as the losses range.
    slack = max(high - low, 0.5 * max(abs(low), abs(high)), 1e-3)
    far = [loss for loss in told if not low - slack <= loss <= high + slack]
    if len(far) * 2 > len(told):
        return wording(
            "the log gives a loss of {told:.4g}; those seen lie between {low:.4g} and {high:.4g}",
            told=far[0],
            low=low,
            high=high,
        )
    if scene.step.processes <= 1 and len(told) == len(seen) >= LINES:
        if processes(scene) > 1:  # that the script has started: their lines stand in one log as they came
            told, seen = sorted(told), sorted(seen)
        return loss_of_no_step(told, seen)
    return None


def processes(scene: StepScene) -> int:
    """How many processes trained: those that were launched, or that the script has started itself."""
    facts = scene.facts(scene.step)
    trained = 0
    if facts is not None:
        for process in facts.processes:
            trained += process.training is not None and process.training.steps > 0
    return max(scene.step.processes, trained, 1)


def gathered_for_a_step(scene: StepScene) -> int:
    """How many batches' gradients were added up for one step, at the most."""
    main = scene.main_process(scene.step)
    if main is None or main.training is None:
        return 1
    return max(main.training.gathered, 1)


def loss_of_no_step(told: list[float], seen: list[float]) -> Message | None:
    """A log with a line a step, whose losses are not those of the steps: neither the loss itself nor a mean
    or median of those so far, nor a part of a sum, nor one that rises and falls with it. None: they are."""
    slack = [max(ROUNDED * abs(loss), 1e-3) for loss in seen]
    strange = []
    for number, loss in enumerate(told):
        if not min(seen[: number + 1]) - slack[number] <= loss <= max(seen[: number + 1]) + slack[number]:
            strange.append(number)
    # Whatever is made of the losses so far is the first loss itself at the first step.
    of_those_so_far = 0 not in strange and len(strange) * 4 <= len(told)
    part = all(loss <= whole + more for loss, whole, more in zip(told, seen, slack, strict=True))
    if of_those_so_far or part or goes_with(told, seen):
        return None
    return wording(
        "the log gives a loss of {told:.4g} at step {step}, where backward was called on {seen:.4g}; neither "
        "this nor the others follow from those that were minimised",
        told=told[strange[-1]],
        step=strange[-1] + 1,
        seen=seen[strange[-1]],
    )


def goes_with(told: list[float], seen: list[float]) -> bool:
    """Whether two series rise and fall together, and not only because both fall less and less."""
    one, other = differences(told), differences(seen)
    return together(one, other) >= IN_STEP and together(differences(one), differences(other)) >= BENDING


def differences(values: list[float]) -> list[float]:
    """How much each value is more than the one before it."""
    return [after - before for before, after in pairwise(values)]


def together(one: list[float], other: list[float]) -> float:
    """The correlation of two series, from -1 to 1; 0 where one of them never changes."""
    if len(set(one)) == 1 or len(set(other)) == 1:
        return 0.0
    return correlation(one, other)


def finite_losses_seen(scene: StepScene) -> list[float]:
    """The losses on which any process of the step called backward."""
    facts = scene.facts(scene.step)
    seen: list[float] = []
    if facts is None:
        return seen
    for process in facts.processes:
        if process.training is not None:
            seen += filter(math.isfinite, process.training.losses)
    return seen


def wrong_samples(scene: StepScene, training: TrainingFacts, told: list[float]) -> Message | None:
    """What is wrong with the samples of the log's lines; None if nothing is."""
    if not training.batch_sizes or not told:
        return None
    # Gradients of several batches may be gathered for one step, and a line may tell of the step.
    batches = processes(scene) * max(training.gathered, 1)
    low, high = min(training.batch_sizes), max(training.batch_sizes) * batches
    far = [count for count in told if not low * 0.9 <= count <= high * 1.1]
    if len(far) * 2 <= len(told):
        return None
    return wording(
        "the log says {told:g} samples a batch; the network was fed {low} to {high}",
        told=far[0],
        low=low,
        high=high,
    )


def wrong_batch_size(scene: StepScene, process: ProcessFacts, told: list[float]) -> Message | None:
    """A batch size of the command that neither the log nor the network's batches have; None if they have it.

    It may be of one process or of all, of one batch or of those whose gradients a step gathers. Where fewer
    images are there than it asks for, an epoch is one smaller batch."""
    training = process.training
    asked = argument_number(scene.step.argv, BATCH_SIZE_OPTIONS)
    of_evaluation = any(EVALUATED_BATCH.search(word) for word in scene.step.argv)
    if training is None or not training.batch_sizes or not told or not asked or of_evaluation:
        return None
    batches = processes(scene) * max(training.gathered, 1)
    smaller = max(*told, *training.batch_sizes) * batches < asked
    larger = min(*told, *training.batch_sizes) > asked * batches
    if not larger and not (smaller and more_than_a_batch(scene, process, asked)):
        return None
    return wording(
        "the command asks for batches of {asked:g}; the network was fed {sizes}, as the log says",
        asked=asked,
        sizes=sorted(training.batch_sizes),
    )


def more_than_a_batch(scene: StepScene, process: ProcessFacts, asked: float) -> bool:
    """Whether there were enough images for a whole batch: an epoch has several, or so many were opened."""
    epochs = argument_number(scene.step.argv, EPOCH_OPTIONS)
    if epochs and process.training is not None:
        return process.training.forwards > epochs
    return len(set(process.images)) >= asked


def wrong_cost(training: TrainingFacts, told: list[float]) -> Message | None:
    """What is wrong with the costs of the log's lines; None if nothing is."""
    quick = quick_step(training)
    if quick is None or not told:
        return None
    cost = median(told)
    if cost <= 0 and quick < ROUNDED_AWAY:
        return None
    if cost >= QUICKEST * quick - rounded_away(told):
        return None
    return wording(
        "the log says {told:.4g} s a batch; a step took {seen:.4g} s at least",
        told=cost,
        seen=quick,
    )


def quick_step(training: TrainingFacts) -> float | None:
    """What a quick step took, in seconds: a tenth of them took less. None: there were too few.

    Counted from the first call of the network: what a loop does between two steps, evaluating or saving, is
    no part of a batch.
    """
    seconds = training.work_seconds or training.step_seconds
    if len(seconds) < 3:
        return None
    ordered = sorted(seconds[1:])
    return ordered[len(ordered) // 10]


def rounded_away(costs: list[float]) -> float:
    """The seconds that a log's costs may be short of because of rounding to a thousandth."""
    if all(abs(value * 1000 - round(value * 1000)) < 1e-6 for value in costs):
        return CLOCK
    return 0.0


def wrong_speed(scene: StepScene, training: TrainingFacts, rows: Sequence[TrainingLine]) -> Message | None:
    """A speed that so many samples in so quick steps cannot have; None if all can.

    A line is of one process or of all, and a step may gather the gradients of several batches."""
    quick = quick_step(training)
    if quick is None or not training.batch_sizes:
        return None
    batches = processes(scene) * max(training.gathered, 1)
    told = []  # batches a second, if all were as large as the largest
    for row in rows:
        unit = row.units.get(IPS, "")
        if IPS not in row.values:
            continue
        if OF_SAMPLES.fullmatch(unit):
            told.append(row.get(IPS) / max(training.batch_sizes))
        elif OF_BATCHES.fullmatch(unit):
            told.append(row.get(IPS))
    shortest = QUICKEST * quick - rounded_away(column(rows, BATCH_COST))
    if not told or shortest <= 0 or median(told) <= batches / shortest:
        return None
    return wording(
        "the log says {told:.4g} samples a second; a step of {samples} at most took {seen:.4g} s at least",
        told=median(told) * max(training.batch_sizes),
        samples=batches * max(training.batch_sizes),
        seen=quick,
    )


def speed_of_no_samples(rows: Sequence[TrainingLine]) -> Iterator[Outcome]:
    """What is said of a speed that counts something else than the witness does."""
    for row in rows:
        unit = row.units.get(IPS, "")
        if not OF_SAMPLES.fullmatch(unit) and not OF_BATCHES.fullmatch(unit):
            told = wording("the log's speed is in {unit}, which the witness does not count", unit=unit)
            yield unchecked(told, required=False)
            return


def wrong_count(
    scene: StepScene, process: ProcessFacts, training: TrainingFacts, rows: Sequence[TrainingLine]
) -> Message | None:
    """What is wrong with the length of the training that was told; None if nothing is."""
    batches = max(training.forwards, training.backwards)
    told = set()
    epochs_told = set()
    for row in rows:
        if row.iteration is None or LOSS not in row.values:
            continue
        told.add((row.epoch, row.iteration))
        if row.epoch is not None:
            epochs_told.add(row.epoch)
    # Some scripts tell of the beginning as well, before the first batch.
    if len(told) > training.backwards + 1:
        return wording(
            "the log says {told} iterations; backward was called {backwards} times",
            told=len(told),
            backwards=training.backwards,
        )
    if scene.step.processes <= 1 and len(told) == training.backwards:
        untold = epoch_untold(epochs_told, resumed=was_loaded(process, training))
        if untold is not None:
            return wording(
                "the log has a line for each of {lines} batches, and none of them is of epoch {epoch}",
                lines=len(told),
                epoch=untold,
            )
    epochs = argument_number(scene.step.argv, EPOCH_OPTIONS) or 0
    if batches < epochs:
        return wording(
            "{epochs:g} epochs were asked for; the network was fed {batches} batches",
            epochs=epochs,
            batches=batches,
        )
    return None


def epoch_untold(told: set[int], *, resumed: bool) -> int | None:
    """The first epoch that is missing before the last one; None: none is. A training that goes on where
    another ended begins later."""
    ordered = sorted(told)
    if not resumed and ordered and ordered[0] > 1:
        return 1
    for before, after in pairwise(ordered):
        if after > before + 1:
            return before + 1
    return None
