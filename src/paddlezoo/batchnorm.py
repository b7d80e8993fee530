"""Batch-norm statistics taken anew before evaluation, since a moving average lags behind a short training
run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import paddle


def layers(model: Any) -> list[Any]:
    """The layers that keep statistics."""
    return [layer for layer in model.sublayers() if isinstance(layer, paddle.nn.layer.norm._BatchNormBase)]


def recompute(model: Any, batches: Iterable[Any]) -> int:
    """Set mean and variance to their plain averages over some batches of training images ("precise BN").

    Twenty steps at momentum 0.9 keep an eighth of the start values: evaluation is then chance while the
    training loss is near 0. Returns the number of batches; call it on every process, then
    ``distributed.average_buffers``.
    """
    norms = layers(model)
    momenta = [norm._momentum for norm in norms]
    training = model.training
    model.train()
    count = 0
    try:
        with paddle.no_grad():
            for count, batch in enumerate(batches, 1):
                for norm in norms:
                    norm._momentum = (count - 1) / count
                model(batch)
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm._momentum = momentum
        (model.train if training else model.eval)()
    return count
