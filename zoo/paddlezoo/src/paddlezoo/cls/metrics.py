"""Top-1 and top-5, probabilities, and the evaluation of a network over a split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import paddle

from paddlezoo import distributed


@dataclass(frozen=True)
class Result:
    """Of an evaluation over all processes; shares of 1."""

    loss: float
    top1: float
    top5: float
    images: int

    def __str__(self) -> str:
        return f"loss: {self.loss:.5f}, top1: {self.top1:.5f}, top5: {self.top5:.5f}, images: {self.images}"


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities along the last axis."""
    exponential = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exponential / exponential.sum(axis=-1, keepdims=True)


def hits(logits: np.ndarray, labels: np.ndarray) -> tuple[int, int]:
    """How many labels are the likeliest class, and among the five likeliest."""
    order = np.argsort(-logits, axis=-1, kind="stable")[:, :5]
    found = order == labels.reshape(-1, 1)
    return int(found[:, 0].sum()), int(found.any(axis=1).sum())


def evaluate(network: Any, loader: Any) -> Result:
    """Evaluate over all processes, each with its own share; they all get the same result."""
    distributed.average_buffers(network)
    training = network.training
    network.eval()
    sums = np.zeros(4)  # loss, top-1, top-5, images
    with paddle.no_grad():
        for images, labels in loader:
            logits = network(images).astype("float32")
            loss = paddle.nn.functional.cross_entropy(logits, labels, reduction="sum")
            sums += [float(loss.item()), *hits(logits.numpy(), labels.numpy()), len(labels)]
    if training:
        network.train()
    loss_sum, top1, top5, count = map(float, distributed.sum_over_ranks(sums))
    return Result(loss_sum / count, top1 / count, top5 / count, int(count))
