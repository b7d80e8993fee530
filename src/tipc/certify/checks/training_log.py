"""TL103, TL105, TL107, TL109: what the training log says about the training itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from tipc.certify.evidence.log_records import BATCH_COST, FIELDS, IPS, LOSS, RATE, READER_COST, TrainingLine
from tipc.certify.evidence.logs import chart_rows
from tipc.certify.evidence.option_values import argument_number
from tipc.certify.evidence.training_log_file import place, training_log
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene

EPOCH_OPTIONS = ("epochs", "epoch", "num_epochs", "epoch_num")
ITERATION_OPTIONS = ("iters", "max_iters", "iterations")
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
        yield failed(f"{bad.name} is {bad.value} ({place(scene, log.path, bad.line)})", evidence=evidence)
        return
    for row in log.rows:
        told = impossible(row)
        if told:
            yield failed(f"{told} ({place(scene, log.path, row.line)})", evidence=evidence)
            return
    losses = [row.get(LOSS) for row in log.rows if LOSS in row.values]
    if losses:
        speeds = [row.get(IPS) for row in log.rows if IPS in row.values]
        speed = f", ips {sum(speeds) / len(speeds):.1f}" if speeds else ""
        yield passed(f"loss {losses[0]:.4g} → {losses[-1]:.4g}{speed}", evidence=evidence)


def impossible(row: TrainingLine) -> str:
    """A figure of a line that cannot be: not finite, or a cost below nothing; empty if all can."""
    for name in (*FIELDS, RATE):
        if not math.isfinite(row.get(name, 0.0)):
            return f"{name} is {row.get(name)}"
    for name in (READER_COST, BATCH_COST):
        if row.get(name, 0.0) < 0:
            return f"{name} is {row.get(name)}"
    return f"{IPS} is {row.get(IPS)}" if row.get(IPS, 1.0) <= 0 else ""


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
    told = [row.get(LOSS) for row in log.rows if math.isfinite(row.get(LOSS))]
    if not told:
        return  # TL101 or TL103
    evidence = {"log": str(log.path), "first": told[0], "last": told[-1], "lines": len(told)}
    seen = seen_losses(scene)
    if len(set(told)) > 1:
        yield passed(f"{len(set(told))} values in {len(told)} lines", evidence=evidence)
    elif len(told) == 1 and len(set(seen)) > 1:
        yield passed(f"one training line; {len(set(seen))} values in {len(seen)} steps", evidence=evidence)
    elif len(told) == 1:
        yield unchecked("a single training line: it cannot be told whether the loss moves", evidence=evidence)
    else:
        yield failed(f"the loss is {told[0]} in all {len(told)} training lines", evidence=evidence)


def seen_losses(scene: StepScene) -> Sequence[float]:
    """The losses on which backward was called, as the witness saw them; empty where it did not see any."""
    main = scene.main_process(scene.step)
    return main.training.losses if main is not None and main.training is not None else ()


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
    seen_epoch = max(
        [row.epoch for row in log.rows if row.epoch is not None]
        + [row.epoch for row in log.whole.evaluations if row.epoch is not None],
        default=None,
    )
    if epochs is not None and seen_epoch is not None:
        # Some count from zero.
        yield judged(scene, "epoch", epochs, seen_epoch, enough=seen_epoch >= epochs - 1)
    elif iterations is not None:
        yield from iterations_done(scene, iterations, log.rows)
    elif log.rows:
        yield unchecked("neither the command nor the log tells epochs or iterations", required=False)


def iterations_done(scene: StepScene, asked: float, rows: Sequence[TrainingLine]) -> Iterator[Outcome]:
    """Whether the iterations were made: as the witness counted them, else by the log."""
    main = scene.main_process(scene.step)
    if main is not None and main.training is not None:
        # With gradients of several batches added up there are fewer steps than iterations.
        seen = max(main.training.forwards, main.training.steps)
        yield judged(scene, "iteration", asked, seen, enough=seen >= asked)
        return
    told = [row.iteration for row in rows if row.iteration is not None]
    if told:
        stride = max((later - earlier for earlier, later in itertools.pairwise(told)), default=max(told))
        yield judged(scene, "iteration", asked, max(told), enough=max(told) > asked - max(stride, 1) - 1)


def judged(scene: StepScene, unit: str, asked: float, seen: int, *, enough: bool) -> Outcome:
    """What follows from how far it came."""
    log = training_log(scene)
    evidence = {"log": str(log.path), "unit": unit, "asked": asked, "seen": seen}
    if enough:
        return passed(f"{unit} {seen} of {asked:g}", evidence=evidence)
    return failed(
        f"asked for {asked:g} {unit}s, the log ends at {unit} {seen} ({log.path.name})", evidence=evidence
    )


@check(
    "TL109",
    "The loss does not grow without end",
    scope="train",
    reads="the training log, and the losses that the witness saw",
    remedy="a smaller learning rate, a warm-up, or gradient clipping",
)
def bounded_loss(scene: StepScene) -> Iterator[Outcome]:
    """A training that diverges ends with a loss that is finite, a model that is worthless, and no error."""
    log = training_log(scene)
    losses = [loss for loss in seen_losses(scene) if math.isfinite(loss)]
    losses = losses or [row.get(LOSS) for row in log.rows if math.isfinite(row.get(LOSS))]
    if len(losses) < 2:
        return
    last = losses[-max(1, len(losses) // 4) :]
    mean = sum(last) / len(last)
    bound = GROWN * max(abs(losses[0]), 1.0)
    evidence = {"first": losses[0], "mean_of_last_quarter": mean, "bound": bound, "losses": len(losses)}
    if mean > bound:
        yield failed(
            f"the loss grew from {losses[0]:.4g} to {mean:.4g}, the mean of the last {len(last)}",
            evidence=evidence,
        )
    else:
        yield passed(f"{losses[0]:.4g} at the beginning, {mean:.4g} at the end", evidence=evidence)
