"""Batches of a dataset, read in this thread or ahead of it by others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import paddle

AHEAD = 2  # batches that each worker may have ready


class BatchSampler(Sized, Iterable[list[int]], Protocol):
    """Lists of indices."""


class Loader:
    """Tensors of the batches that a sampler names, in its order.

    Not paddle's DataLoader: when a sample raises an error, such as a damaged image, that one waits for ever
    (without workers) or dies with several tracebacks. Threads are enough: decoding and resizing images leave
    the lock free.
    """

    def __init__(self, dataset: Any, sampler: BatchSampler, workers: int = 0) -> None:
        self.dataset, self._sampler, self._workers = dataset, sampler, workers

    def __len__(self) -> int:
        return len(self._sampler)

    def __iter__(self) -> Iterator[list[Any]]:
        for arrays in self._ahead() if self._workers > 0 else map(self._read, self._sampler):
            yield [paddle.to_tensor(array) for array in arrays]

    def _read(self, indices: list[int]) -> list[np.ndarray]:
        samples = [self.dataset[index] for index in indices]
        return [np.stack(column) for column in zip(*samples, strict=True)]

    def _ahead(self) -> Iterator[list[np.ndarray]]:
        pool = ThreadPoolExecutor(self._workers)
        waiting: deque[Future[list[np.ndarray]]] = deque()
        try:
            for indices in self._sampler:
                waiting.append(pool.submit(self._read, indices))
                if len(waiting) > AHEAD * self._workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
