"""Comparing two recordings: which tensor is the first that differs, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch

import numpy as np

from tipc.align.recorder import STAGES

# The mean absolute difference that a stage may have: what the field allows between two frameworks in float32.
THRESHOLDS = {
    "data": 1e-6,
    "forward": 1e-6,
    "loss": 1e-5,
    "optimizer": 1e-6,
    "backward": 1e-5,
    "weights": 1e-4,
}
MISSING = "missing"  # in ours
EXTRA = "extra"  # not in the reference
SHAPE = "shape"
NOT_FINITE = "not finite"
DIFFERENT = "different"
EQUAL = "equal"


@dataclass(frozen=True)
class TensorDifference:
    """One name in both recordings. ``mean`` and ``largest`` are absolute differences, ``scale`` the largest
    absolute value of the reference."""

    stage: str
    name: str
    state: str  # one of the words above
    threshold: float
    mean: float = 0.0
    largest: float = 0.0
    scale: float = 0.0
    shapes: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    @property
    def ok(self) -> bool:
        return self.state == EQUAL


@dataclass(frozen=True)
class Alignment:
    """Every name of both recordings, in the order of the stages and, within one, of the reference."""

    tensors: tuple[TensorDifference, ...]

    @property
    def ok(self) -> bool:
        return all(tensor.ok for tensor in self.tensors)

    @property
    def first(self) -> TensorDifference | None:
        """The first that differs: where to look."""
        return next((tensor for tensor in self.tensors if not tensor.ok), None)


def compare(
    reference: Mapping[str, np.ndarray],
    ours: Mapping[str, np.ndarray],
    thresholds: Mapping[str, float] | None = None,
) -> Alignment:
    """Compare two recordings. ``thresholds``: a stage, ``stage/name`` or a pattern of it → what is allowed.

    Of several that fit, the last counts.
    """
    names = [*reference, *(name for name in ours if name not in reference)]
    names.sort(key=lambda name: STAGES.index(name.partition("/")[0]))  # stable: keeps the order of recording
    return Alignment(tuple(_difference(name, reference, ours, thresholds or {}) for name in names))


def threshold_of(key: str, thresholds: Mapping[str, float]) -> float:
    """What is allowed for one name."""
    stage = key.partition("/")[0]
    allowed = THRESHOLDS[stage]
    for pattern, value in thresholds.items():
        if pattern == stage or fnmatch(key, pattern):
            allowed = value
    return allowed


def _difference(
    key: str,
    reference: Mapping[str, np.ndarray],
    ours: Mapping[str, np.ndarray],
    thresholds: Mapping[str, float],
) -> TensorDifference:
    stage, _, name = key.partition("/")
    allowed = threshold_of(key, thresholds)
    if key not in ours:
        return TensorDifference(stage, name, MISSING, allowed, shapes=(reference[key].shape, ()))
    if key not in reference:
        return TensorDifference(stage, name, EXTRA, allowed, shapes=((), ours[key].shape))
    a, b = reference[key].astype(np.float64), ours[key].astype(np.float64)
    shapes = (a.shape, b.shape)
    if a.shape != b.shape:
        return TensorDifference(stage, name, SHAPE, allowed, shapes=shapes)
    if not a.size:
        return TensorDifference(stage, name, EQUAL, allowed, shapes=shapes)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return TensorDifference(stage, name, NOT_FINITE, allowed, shapes=shapes)
    apart = np.abs(a - b)
    mean, largest, scale = float(apart.mean()), float(apart.max()), float(np.abs(a).max())
    state = DIFFERENT
    if mean <= allowed:
        state = EQUAL
    return TensorDifference(stage, name, state, allowed, mean, largest, scale, shapes)
