"""Batch-norm statistics taken anew before evaluation, since a moving average lags behind a short training
run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import paddle


def layers(model: Any) -> list[Any]:
    """The layers that keep statistics."""
    return [layer for layer in model.sublayers() if isinstance(layer, paddle.nn.layer.norm._BatchNormBase)]


def recompute(model: Any, batches: Iterable[Any]) -> int:
    """Set mean and variance to those of some batches of training images taken together ("precise BN").

    Twenty steps at momentum 0.9 keep an eighth of the start values: evaluation is then chance while the
    training loss is near 0. Returns the number of batches; call it on every process, then
    ``distributed.average_buffers``.
    """
    norms = layers(model)
    momenta = [norm._momentum for norm in norms]
    sums = [[0.0, 0.0] for _ in norms]  # of the means, and of the squares
    training = model.training
    model.train()
    count = 0
    try:
        for norm in norms:
            norm._momentum = 0.0  # after a batch a layer holds the statistics of that batch
        with paddle.no_grad():
            for batch in batches:
                model(batch)
                count += 1
                for norm, pair in zip(norms, sums, strict=True):
                    pair[0] += norm._mean.numpy().astype("float64")
                    pair[1] += norm._variance.numpy() + norm._mean.numpy().astype("float64") ** 2
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm._momentum = momentum
        (model.train if training else model.eval)()
    for norm, (means, squares) in zip(norms, sums, strict=True) if count else ():
        mean = means / count
        norm._mean.set_value(np.asarray(mean, "float32"))
        norm._variance.set_value(np.asarray(np.maximum(squares / count - mean**2, 0.0), "float32"))
    return count
