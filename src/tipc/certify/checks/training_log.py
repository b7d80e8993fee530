"""TL103, TL105, TL107, TL109: what the training log says about the training itself."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tipc.certify.evidence.log_lines import Wanted, lines
from tipc.certify.evidence.log_records import (
    BATCH_COST,
    FIELDS,
    IPS,
    LOSS,
    RATE,
    READER_COST,
    EvaluationLine,
    TrainingLine,
)
from tipc.certify.evidence.logs import chart_rows
from tipc.certify.evidence.option_values import argument_number
from tipc.certify.evidence.training_log_file import place, training_log
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.message import Message, wording

EPOCH_OPTIONS = ("epochs", "epoch", "num_epochs", "epoch_num")
ITERATION_OPTIONS = ("iters", "max_iters", "iterations")
EARLY_STOP = re.compile(r"early[ _-]?stop(?:ping|ped)?\b|提前停止|早停", re.IGNORECASE)
EARLY_STOP_BYTES = re.compile(rb"(?i)early[ _-]?stop|\xe6\x8f\x90\xe5\x89\x8d|\xe6\x97\xa9\xe5\x81\x9c")
EARLY_STOP_BUDGET = 2**22  # bytes of lines in the middle of a giant log
GROWN = 100.0  # times its first value (at least 1): no training that learns ends there


@check(
    "TL103",
    "Loss and speeds are finite numbers",
    scope="train",
    reads="every line of the training log",
    remedy="look for a division by zero, a too large learning rate, or an overflow in fp16 without loss "
    "scaling",
)
def finite(scene: StepScene) -> Iterator[Outcome]:
    """A training whose loss is NaN runs to its end, writes a model and exports it: all green, and
    worthless."""
    log = training_log(scene)
    evidence = {"log": str(log.path), "series": chart_rows(log.rows)}
    bad = log.whole.not_finite
    if bad is not None:
        told = wording(
            "{name} is {value} ({place})",
            name=bad.name,
            value=bad.value,
            place=place(scene, log.path, bad.line),
        )
        yield failed(told, evidence=evidence)
        return
    for row in log.rows:
        name = impossible(row)
        if name:
            where = place(scene, log.path, row.line)
            told = wording("{name} is {value} ({place})", name=name, value=row.get(name), place=where)
            yield failed(told, evidence=evidence)
            return
    losses = column(log.rows, LOSS)
    if log.whole.figures_missed:
        told = wording("the log has more words like NaN than are looked at ({log})", log=log.path.name)
        yield unchecked(told, evidence=evidence)
    elif losses:
        told = wording("loss {first:.4g} → {last:.4g}", first=losses[0], last=losses[-1])
        speeds = column(log.rows, IPS)
        if speeds:
            told = wording("{loss}, ips {ips:.1f}", loss=told, ips=sum(speeds) / len(speeds))
        yield passed(told, evidence=evidence)


def column(rows: Sequence[TrainingLine], name: str) -> list[float]:
    """The values of one field, in the lines that have it."""
    found = []
    for row in rows:
        if name in row.values:
            found.append(row.get(name))
    return found


def impossible(row: TrainingLine) -> str:
    """The field of a line that cannot be: not finite, or a cost below nothing; empty if all can."""
    for name in (*FIELDS, RATE):
        if not math.isfinite(row.get(name, 0.0)):
            return name
    for name in (READER_COST, BATCH_COST):
        if row.get(name, 0.0) < 0:
            return name
    if row.get(IPS, 1.0) <= 0:
        return IPS
    return ""


@check(
    "TL105",
    "The loss moves",
    scope="train",
    reads="the training log, and the losses that the witness saw",
    remedy="give the network's parameters to the optimiser, with a learning rate above 0; do not detach the "
    "loss",
)
def loss_moves(scene: StepScene) -> Iterator[Outcome]:
    """A loss that is the same in every line was not trained: a frozen network, a learning rate of 0, a log of
    one constant."""
    log = training_log(scene)
    told = [loss for loss in column(log.rows, LOSS) if math.isfinite(loss)]
    if not told:
        return  # TL101 or TL103
    evidence = {"log": str(log.path), "first": told[0], "last": told[-1], "lines": len(told)}
    seen = seen_losses(scene)
    if len(set(told)) > 1:
        message = wording("{values} values in {lines} lines", values=len(set(told)), lines=len(told))
        yield passed(message, evidence=evidence)
    elif len(told) == 1 and len(set(seen)) > 1:
        message = wording(
            "one training line; {values} values in {steps} steps", values=len(set(seen)), steps=len(seen)
        )
        yield passed(message, evidence=evidence)
    elif len(told) == 1:
        yield unchecked("a single training line: whether the loss moves cannot be seen", evidence=evidence)
    else:
        message = wording("the loss is {loss} in all {lines} training lines", loss=told[0], lines=len(told))
        yield failed(message, evidence=evidence)


def seen_losses(scene: StepScene) -> Sequence[float]:
    """The losses on which backward was called, as the witness saw them; empty where it did not see any."""
    main = scene.main_process(scene.step)
    if main is None or main.training is None:
        return ()
    return main.training.losses


@check(
    "TL107",
    "It trained as long as it was told to",
    scope="train",
    reads="the training log, the command, and the steps that the witness counted",
    remedy="end with a status other than 0 when training stops early; pass the option on to the training "
    "loop",
)
def trained_to_the_end(scene: StepScene) -> Iterator[Outcome]:
    """A loop that ends early (no data, a swallowed error, an option that nothing reads) still leaves a
    model."""
    log = training_log(scene)
    epochs = argument_number(scene.step.argv, EPOCH_OPTIONS)
    iterations = argument_number(scene.step.argv, ITERATION_OPTIONS)
    seen_epoch = last_epoch([*log.rows, *log.whole.evaluations])
    if epochs is not None and seen_epoch is not None:
        # Some count from zero.
        yield judged(scene, "epoch", epochs, seen_epoch, enough=seen_epoch >= epochs - 1)
    elif iterations is not None:
        yield from iterations_done(scene, iterations, log.rows)
    elif log.rows:
        yield unchecked("neither the command nor the log gives epochs or iterations", required=False)


def last_epoch(rows: Sequence[TrainingLine | EvaluationLine]) -> int | None:
    """The highest epoch that a line tells; None: none does."""
    epochs = []
    for row in rows:
        if row.epoch is not None:
            epochs.append(row.epoch)
    return max(epochs, default=None)


def iterations_done(scene: StepScene, asked: float, rows: Sequence[TrainingLine]) -> Iterator[Outcome]:
    """Whether the iterations were made: as the witness counted them, else by the log."""
    main = scene.main_process(scene.step)
    if main is not None and main.training is not None:
        # With gradients of several batches added up there are fewer steps than iterations.
        seen = max(main.training.backwards, main.training.steps)
        yield judged(scene, "iteration", asked, seen, enough=seen >= asked)
        return
    told = []
    for row in rows:
        if row.iteration is not None:
            told.append(row.iteration)
    if told:
        stride = max((later - earlier for earlier, later in itertools.pairwise(told)), default=max(told))
        yield judged(scene, "iteration", asked, max(told), enough=max(told) > asked - max(stride, 1) - 1)


def judged(scene: StepScene, unit: str, asked: float, seen: int, *, enough: bool) -> Outcome:
    """What follows from how far it came."""
    log = training_log(scene)
    evidence = {"log": str(log.path), "unit": unit, "asked": asked, "seen": seen}
    values = {"unit": Message(unit), "seen": seen, "asked": asked}
    if enough:
        return passed(wording("{unit} {seen} of {asked:g}", **values), evidence=evidence)
    told = wording(
        "asked for {asked:g} {unit}s, the log ends at {unit} {seen} ({log})", **values, log=log.path.name
    )
    line = early_stop(log.path)
    if line:
        told = wording("{message}: it stopped early, as line {line} says", message=told, line=line)
        return unchecked(told, required=False, evidence=evidence)
    return failed(told, evidence=evidence)


def early_stop(path: Path) -> int:
    """The line of a log that tells of early stopping: training may end when nothing improves; 0: none."""
    for number, text in lines(path, [Wanted(EARLY_STOP_BYTES, EARLY_STOP_BUDGET)]):
        if EARLY_STOP.search(text):
            return number
    return 0


@check(
    "TL109",
    "The loss does not grow without end",
    scope="train",
    reads="the training log, and the losses that the witness saw",
    remedy="a smaller learning rate, a warm-up, or gradient clipping",
)
def bounded_loss(scene: StepScene) -> Iterator[Outcome]:
    """A training that diverges ends with a loss that is finite, a model that is worthless, and no error. One
    that falls without end does so, too: nothing holds it."""
    log = training_log(scene)
    losses = [loss for loss in seen_losses(scene) if math.isfinite(loss)]
    if not losses:
        losses = [loss for loss in column(log.rows, LOSS) if math.isfinite(loss)]
    if len(losses) < 2:
        return
    last = losses[-max(1, len(losses) // 4) :]
    mean = sum(last) / len(last)
    bound = GROWN * max(abs(losses[0]), 1.0)
    evidence = {"first": losses[0], "mean_of_last_quarter": mean, "bound": bound, "losses": len(losses)}
    if abs(mean) > bound:
        told = wording(
            "the loss grew from {first:.4g} to {mean:.4g}, the mean of the last {count}",
            first=losses[0],
            mean=mean,
            count=len(last),
        )
        yield failed(told, evidence=evidence)
    else:
        told = wording("{first:.4g} at the beginning, {mean:.4g} at the end", first=losses[0], mean=mean)
        yield passed(told, evidence=evidence)
