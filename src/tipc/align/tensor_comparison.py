"""Comparing two recordings: which tensor is the first that differs, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch

import numpy as np

from tipc.align.recorder import STAGES
from tipc.errors import UsageError
from tipc.message import wording

# The mean absolute difference that a stage may have: what the field allows between two frameworks in float32.
THRESHOLDS = {
    "data": 1e-6,
    "forward": 1e-6,
    "loss": 1e-5,
    "optimizer": 1e-6,
    "backward": 1e-5,
    "weights": 1e-4,
}
# What is smaller than its threshold would be equal to anything. So a default is at most this share of what
# the reference holds: more than the gradients of a deep network differ between two kinds of CPU (0.4 %).
SHARE = 0.01
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

    @property
    def not_recorded(self) -> tuple[str, ...]:
        """The stages of which neither side has a tensor: nothing is known of them."""
        recorded = {tensor.stage for tensor in self.tensors}
        return tuple(stage for stage in STAGES if stage not in recorded)


def compare(
    reference: Mapping[str, np.ndarray],
    ours: Mapping[str, np.ndarray],
    thresholds: Mapping[str, float] | None = None,
) -> Alignment:
    """Compare two recordings. ``thresholds``: a stage, ``stage/name`` or a pattern of it → what is allowed.

    Of several that fit, the last counts. One that fits nothing is a UsageError: it was meant for something.
    """
    names = [*reference, *(name for name in ours if name not in reference)]
    names.sort(key=lambda name: STAGES.index(name.partition("/")[0]))  # stable: keeps the order of recording
    chosen = thresholds or {}
    for pattern in chosen:
        if not any(_fits(pattern, name) for name in names):
            raise UsageError(
                wording("--threshold {pattern}: no tensor has this name", pattern=pattern),
                remedy="a stage, stage/name or a pattern: forward, forward/logits, 'backward/head.*'",
            )
    allowed = defaults(reference)
    tensors = []
    for name in names:
        limit = allowed.get(name, THRESHOLDS[name.partition("/")[0]])
        for pattern, value in chosen.items():
            if _fits(pattern, name):
                limit = value
        tensors.append(_difference(name, reference, ours, limit))
    return Alignment(tuple(tensors))


def _fits(pattern: str, key: str) -> bool:
    return pattern == key.partition("/")[0] or fnmatch(key, pattern)


def defaults(reference: Mapping[str, np.ndarray]) -> dict[str, float]:
    """What each tensor of a reference may differ by: its stage's threshold, or less where values are small.

    The numbers of an optimizer are each of its own size. Of tensors the stage's largest counts: the gradient
    of a bias before a batch norm is nothing but rounding.
    """
    sizes = {}
    largest = dict.fromkeys(STAGES, 0.0)
    for key, array in reference.items():
        stage = key.partition("/")[0]
        sizes[key] = _size(array)
        largest[stage] = max(largest[stage], sizes[key])
    allowed = {}
    for key, own in sizes.items():
        stage = key.partition("/")[0]
        size = largest[stage]
        if stage == "optimizer":
            size = own
        allowed[key] = THRESHOLDS[stage]
        if size > 0:
            allowed[key] = min(THRESHOLDS[stage], SHARE * size)
    return allowed


def _size(array: np.ndarray) -> float:
    """The mean absolute value; 0 of what is empty or not finite."""
    values = np.abs(array.astype(np.complex128))
    if not values.size or not np.isfinite(values).all():
        return 0.0
    return float(values.mean())


def _difference(
    key: str, reference: Mapping[str, np.ndarray], ours: Mapping[str, np.ndarray], allowed: float
) -> TensorDifference:
    stage, _, name = key.partition("/")
    if key not in ours:
        return TensorDifference(stage, name, MISSING, allowed, shapes=(reference[key].shape, ()))
    if key not in reference:
        return TensorDifference(stage, name, EXTRA, allowed, shapes=((), ours[key].shape))
    a, b = reference[key].astype(np.complex128), ours[key].astype(np.complex128)
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
