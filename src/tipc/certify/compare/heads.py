"""What an export may add behind a trained network: nothing, a soft-max, a sigmoid, the arg-max."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
CLIP = 80.0  # exp() of more is no float32


def softmax(values: Array, axis: int) -> Array:
    """Shares that add up to 1."""
    raised = np.exp(values - values.max(axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis, keepdims=True))


def sigmoid(values: Array) -> Array:
    """A share for each value by itself."""
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -CLIP, CLIP))))


@dataclass(frozen=True)
class Head:
    """One of them."""

    name: str
    apply: Callable[[Array], Array]
    sides: int  # that an output must have at least
    unit: float = 0.0  # what its values are shares of


HEADS = (
    Head("identity", lambda values: values, 0),
    Head("soft-max over the last axis", lambda values: softmax(values, -1), 2, unit=1.0),
    Head("soft-max over axis 1", lambda values: softmax(values, 1), 3, unit=1.0),
    Head("sigmoid", sigmoid, 1, unit=1.0),
    Head("arg-max over axis 1", lambda values: values.argmax(1), 2),
    Head("arg-max over axis 1, kept", lambda values: values.argmax(1)[:, None], 2),
    Head("arg-max over the last axis", lambda values: values.argmax(-1), 3),
    Head("above one half", lambda values: (sigmoid(values) > 0.5).astype(np.int64), 3),
)


def candidates(trained: Array, shape: tuple[int, ...]) -> Iterator[tuple[Head, Array]]:
    """What the trained network's output becomes by each head that gives this shape."""
    wide = trained.astype(np.float64) if trained.dtype.kind == "f" else trained
    for head in HEADS:
        if wide.ndim < head.sides or (head.sides and wide.dtype.kind != "f"):
            continue
        made = head.apply(wide)
        if made.shape == shape:
            yield head, made
