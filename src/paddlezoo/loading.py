"""Batches of a dataset, in this process or by worker processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import Any, Protocol

import numpy as np
import paddle


class BatchSampler(Sized, Iterable[list[int]], Protocol):
    """Lists of indices."""


class Loader:
    """Tensors of the batches that a sampler names.

    Without workers it reads here and now: paddle's DataLoader then reads in a thread, and when a sample
    raises an error, such as a damaged image, the thread dies and the training waits for ever.
    """

    def __init__(self, dataset: Any, sampler: BatchSampler, workers: int = 0) -> None:
        self._dataset, self._sampler, self._workers = dataset, sampler, workers

    def __len__(self) -> int:
        return len(self._sampler)

    def __iter__(self) -> Iterator[list[Any]]:
        if self._workers:
            yield from paddle.io.DataLoader(
                self._dataset, batch_sampler=self._sampler, num_workers=self._workers
            )
            return
        for indices in self._sampler:
            samples = [self._dataset[index] for index in indices]
            yield [paddle.to_tensor(np.stack(column)) for column in zip(*samples, strict=True)]
