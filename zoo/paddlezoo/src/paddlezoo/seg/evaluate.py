"""A network's scores on a list of images, at the size of their masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
from paddle.nn import functional as F

from paddlezoo import distributed
from paddlezoo.seg import metrics, transforms
from paddlezoo.seg.data import Pairs


def confusion_of(network: Any, dataset: Pairs, rank: int = 0, world: int = 1) -> np.ndarray:
    """The confusion matrix over the images `rank`, `rank + world`, …; logits are enlarged to each mask's
    size."""
    training = network.training
    network.eval()
    random = np.random.default_rng(0)
    matrix = np.zeros((dataset.num_classes, dataset.num_classes), np.int64)
    with paddle.no_grad():
        for number in range(rank, len(dataset), world):
            sample = dataset.read(number)
            assert sample.mask is not None
            image = transforms.apply(dataset.transforms, transforms.Sample(sample.image), random).image
            logits = network(paddle.to_tensor(image[None]))[0].astype("float32")
            if list(logits.shape[2:]) != list(sample.mask.shape):
                logits = F.interpolate(logits, sample.mask.shape, mode="bilinear")
            prediction = logits.argmax(axis=1).numpy()[0]
            matrix += metrics.confusion(prediction, sample.mask, dataset.num_classes)
    (network.train if training else network.eval)()
    return matrix


def evaluate(network: Any, dataset: Pairs) -> metrics.Scores:
    """The scores over all images, which the processes share among themselves."""
    matrix = confusion_of(network, dataset, distributed.rank(), distributed.world_size())
    return metrics.scores(distributed.sum_over_ranks(matrix))
