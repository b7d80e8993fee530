"""Losses: cross entropy, the same on the hardest pixels (OHEM), Dice, and mixtures; one for each head of a
network.

A loss is a function of logits (N, C, H, W) and labels (N, H, W); pixels labelled 255 do not count.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import paddle
from paddle.nn import functional as F

from paddlezoo import cpu
from paddlezoo.errors import ZooError
from paddlezoo.seg import pixel_losses
from paddlezoo.seg.data import IGNORED

Loss = Callable[[paddle.Tensor, paddle.Tensor], paddle.Tensor]


def _pixel_losses(logits: paddle.Tensor, label: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
    """The cross entropy of each pixel, and 1 where a pixel counts."""
    counts = (label != IGNORED).astype("float32")
    logits = logits.astype("float32")
    if cpu.takes_over(logits, "cross_entropy_with_softmax"):
        return pixel_losses.cross_entropy(logits, label), counts
    losses = F.cross_entropy(logits, label.unsqueeze(1), ignore_index=IGNORED, axis=1, reduction="none")
    return losses.squeeze(1), counts


def cross_entropy(
    logits: paddle.Tensor, label: paddle.Tensor, weight: Sequence[float] | None = None
) -> paddle.Tensor:
    """The mean over the pixels that count, weighted by class if weights are given."""
    losses, counts = _pixel_losses(logits, label)
    if weight is not None:
        if len(weight) != logits.shape[1]:
            raise ZooError(f"CrossEntropyLoss has {len(weight)} weights for {logits.shape[1]} classes")
        classes = paddle.where(label == IGNORED, paddle.zeros_like(label), label).flatten()
        counts *= paddle.gather(paddle.to_tensor(weight, "float32"), classes).reshape(label.shape)
    return (losses * counts).sum() / (counts.sum() + 1e-8)


def ohem_cross_entropy(
    logits: paddle.Tensor, label: paddle.Tensor, thresh: float = 0.7, min_kept: int = 10000
) -> paddle.Tensor:
    """The mean over hard pixels: those whose true class has a probability below `thresh`, at least
    `min_kept`."""
    losses, counts = _pixel_losses(logits, label)
    if 0 < min_kept < int(counts.sum()):
        # A probability is exp(-loss): "less likely than the k-th" is "a larger loss than the k-th largest".
        # One partial sort finds it.
        values = np.where(counts.numpy() > 0, losses.detach().numpy(), -1.0).ravel()
        limit = min(-math.log(thresh), float(np.partition(values, -min_kept)[-min_kept]))
        counts *= (losses.detach() > limit).astype("float32")
    return (losses * counts).sum() / (counts.sum() + 1e-5 * counts.size)


def dice(logits: paddle.Tensor, label: paddle.Tensor, smooth: float = 1.0) -> paddle.Tensor:
    """One minus the Dice coefficient, the mean over images and classes."""
    counts = (label != IGNORED).astype("float32").unsqueeze(1)
    classes = paddle.where(label == IGNORED, paddle.zeros_like(label), label)
    truth = paddle.transpose(F.one_hot(classes, logits.shape[1]), [0, 3, 1, 2]) * counts
    chance = F.softmax(logits.astype("float32"), axis=1) * counts
    shared = (chance * truth).sum(axis=[2, 3])
    total = (chance + truth).sum(axis=[2, 3])
    return (1 - (2 * shared + smooth) / (total + smooth + 1e-8)).mean()


def mixed(logits: paddle.Tensor, label: paddle.Tensor, parts: Sequence[tuple[float, Loss]]) -> paddle.Tensor:
    """A weighted sum."""
    return sum(weight * loss(logits, label) for weight, loss in parts)


LOSSES: dict[str, Callable[..., paddle.Tensor]] = {
    "CrossEntropyLoss": cross_entropy,
    "OhemCrossEntropyLoss": ohem_cross_entropy,
    "DiceLoss": dice,
}


def build(entry: Mapping[str, Any]) -> Loss:
    """A loss from an entry of a YAML file: `type` and parameters, or MixedLoss with `losses` and `coef`."""
    options = dict(entry)
    kind = options.pop("type", None)
    if kind == "MixedLoss":
        losses, weights = options.get("losses", []), options.get("coef", [])
        if not losses or len(losses) != len(weights):
            raise ZooError("MixedLoss needs as many losses as coef")
        return partial(mixed, parts=[(w, build(each)) for w, each in zip(weights, losses, strict=True)])
    if kind not in LOSSES:
        raise ZooError(f"{kind!r} is not a loss; known are {', '.join([*LOSSES, 'MixedLoss'])}")
    if options.pop("ignore_index", IGNORED) != IGNORED:
        raise ZooError(f"{kind}: ignore_index is always {IGNORED}")
    known = list(inspect.signature(LOSSES[kind]).parameters)[2:]
    if not set(options) <= set(known):
        unknown = ", ".join(sorted(set(options) - set(known)))
        raise ZooError(f"{kind} has no parameter {unknown}; it has {', '.join(known)}")
    return partial(LOSSES[kind], **options)


def total_loss(
    outputs: Sequence[paddle.Tensor], label: paddle.Tensor, losses: Sequence[tuple[float, Loss]]
) -> paddle.Tensor:
    """The weighted sum over the heads; there must be a loss for each."""
    if len(outputs) != len(losses):
        raise ZooError(
            f"the network has {len(outputs)} outputs in training and the config {len(losses)} losses"
        )
    return sum(weight * loss(logits, label) for logits, (weight, loss) in zip(outputs, losses, strict=True))
