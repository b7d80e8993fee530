"""Whether two answers to the same question agree, and how much that shows.

Floats are looked at column by column (a class, a channel). A column's *spread* is how much it varies from
sample to sample and from place to place: that is the signal. The difference of two engines is noise, and is
measured against the spread, so that neither a large constant nor one masked value of −1e9 buys tolerance.
What rounding alone does to this very network is measured too (``sensitivity``), by moving every number of the
input and of the weights to its neighbour: a network that a short training left ill-conditioned makes much of
it, and is allowed that much; a wrong engine is off by far more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc import kinds
from tipc.message import Message, wording

Array = NDArray[Any]

# Times what a rounding of every input and weight does. Engines add up in other orders and fuse operators
# (Winograd's convolutions lose two or three bits more than the plain sum): 32 roundings in place of one.
ROUNDINGS = 32.0
# However ill-conditioned: noise of a third of the signal is no agreement any more.
MOST_NOISE = 0.3
LAST_DIGITS = 4e-6  # of a column's largest value: some 32 units in the last place of float32
FLAT = 1e-4  # a spread of less than this share of the answers' size is none: the answers do not differ
TIE = 1e-5  # of the spread: two classes as near as this are a tie
TURNED = 4.0  # times the usual difference: two classes as near as this may change places


@dataclass(frozen=True)
class Bound:
    """How much noise is agreement."""

    noise: float  # in a column, as a share of its spread
    decisions: float  # share of arg-max decisions that must be the same

    def with_sensitivity(self, sensitivity: float) -> Bound:
        """The bound for a network that makes this much noise of a rounding."""
        return Bound(min(max(self.noise, ROUNDINGS * sensitivity), MOST_NOISE), self.decisions)

    def or_coarser(self, other: Bound) -> Bound:
        """The bound that allows what one of two allows."""
        return Bound(max(self.noise, other.noise), min(self.decisions, other.decisions))


def bound_of_precision(name: str) -> Bound:
    """How much noise is agreement for an engine that computes in a precision; for one that nobody knows, as
    much as in fp32."""
    precision = kinds.find_precision(name) or kinds.PRECISIONS[kinds.FP32]
    return Bound(precision.noise, precision.decisions)


FP32 = bound_of_precision(kinds.FP32)
FP16 = bound_of_precision(kinds.FP16)
BF16 = bound_of_precision(kinds.BF16)
INT8 = bound_of_precision(kinds.INT8)


@dataclass(frozen=True)
class Agreement:
    """How two answers compare."""

    shape: tuple[int, ...]
    finite: bool
    noise: float  # the worst column's noise as a share of its spread; 0 for integers
    max_abs: float
    scale: float  # largest absolute value
    equal: int  # decisions that are the same
    decisions: int
    flat: bool  # the reference hardly differs from sample to sample: agreement shows little
    column: int = -1  # the worst one
    kept: int = 0  # decisions that are the same, near ties counted as they fell; 0 where nothing is decided

    def agrees(self, bound: Bound) -> bool:
        """Whether this is agreement."""
        return self.finite and self.noise <= bound.noise and self.equal >= bound.decisions * self.decisions

    def text(self) -> Message:
        """``max |Δ| 2e-06, noise 1e-06 of the signal, 8/8 decisions``."""
        parts = [wording("max |Δ| {max_abs:.2g}", max_abs=self.max_abs)]
        if self.noise:
            parts.append(wording("noise {noise:.2g} of the signal", noise=self.noise))
        parts.append(
            wording("{equal}/{decisions} decisions equal", equal=self.equal, decisions=self.decisions)
        )
        return wording("{parts}", parts=tuple(parts))


def class_axis(array: Array) -> int:
    """The axis of classes or channels: 1 in batches of vectors and pictures, the last in sequences."""
    if array.ndim == 3:
        return 2
    return 1


def compare(wanted: Array, got: Array, unit: float = 0.0) -> Agreement:
    """Two arrays of one shape.

    ``unit`` is the size of one whole, where the values are shares of it (1 behind a soft-max): a share of
    1e-20 against one of 0 is no difference, though it is all that the column has.
    """
    if wanted.shape != got.shape:
        return Agreement(got.shape, True, np.inf, np.inf, 0.0, 0, max(wanted.size, 1), flat=False)
    if got.dtype.kind != "f" or wanted.dtype.kind != "f":
        return _integers(wanted, got)
    return _floats(wanted.astype(np.float64), got.astype(np.float64), unit)


def _integers(wanted: Array, got: Array) -> Agreement:
    same = int((wanted == got).sum())
    finite = got.dtype.kind != "f" or bool(np.isfinite(got).all())
    largest = np.inf
    if finite:
        largest = float(np.abs(wanted.astype(np.float64) - got).max(initial=0.0))
    flat = wanted.size > 1 and bool((wanted == wanted.reshape(-1)[0]).all())
    scale = float(np.abs(wanted).max(initial=0))
    return Agreement(got.shape, finite, 0.0, largest, scale, same, wanted.size, flat)


def columns(array: Array) -> Array:
    """An array as rows of values, a column for each class; a vector is one column."""
    if array.ndim < 2:
        return array.reshape(-1, 1)
    axis = class_axis(array)
    return np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])


def _floats(wanted: Array, got: Array, unit: float) -> Agreement:
    reference, answer = columns(wanted), columns(got)
    if not np.isfinite(got).all():
        # Where the reference is infinite on purpose (a mask), the same infinity is agreement.
        masked = ~np.isfinite(wanted)
        if not np.array_equal(wanted[masked], got[masked]) or not np.isfinite(got[~masked]).all():
            return Agreement(got.shape, False, np.inf, np.inf, 0.0, 0, max(wanted.size, 1), flat=False)
        reference, answer = (
            np.where(masked_columns(reference), 0, reference),
            np.where(masked_columns(reference), 0, answer),
        )
    difference = np.abs(reference - answer)
    if are_shares(reference):
        unit = 1.0
    elif reference.size and is_flat(reference):
        # Without a spread there is only size, and a value near 0 is what larger ones left of each other.
        unit = max(unit, float(np.median(np.abs(reference).max(0, initial=0.0))))
    noise = column_noise(reference, difference, unit)
    worst = -1
    if noise.size:
        worst = int(noise.argmax())
    equal, decisions = same_decisions(reference, answer)
    return Agreement(
        got.shape,
        True,
        float(noise.max(initial=0.0)),
        float(difference.max(initial=0.0)),
        float(np.abs(reference).max(initial=0.0)),
        equal,
        decisions,
        is_flat(reference),
        worst,
        kept_decisions(reference, answer),
    )


def masked_columns(reference: Array) -> Array:
    """Where a value is not finite."""
    return ~np.isfinite(reference)


def are_shares(reference: Array) -> bool:
    """Whether every row is a distribution: shares of several classes that add up to 1."""
    if reference.ndim != 2 or reference.shape[1] < 2 or not reference.size:
        return False
    within = reference.min() >= 0.0 and reference.max() <= 1.0 + LAST_DIGITS
    return bool(within and np.abs(reference.sum(1) - 1.0).max() < 1e-3)


def column_noise(reference: Array, difference: Array, unit: float = 0.0) -> Array:
    """For each column: root mean square of the difference, as a share of the column's spread.

    What lies within the last digits of the column's own values is no noise: a constant column has no spread,
    and must be the same to the last digits.
    """
    if not reference.size:
        return np.zeros(0)
    spread = reference.std(0)
    digits = LAST_DIGITS * np.maximum(np.abs(reference).max(0), unit)
    beyond = np.maximum(difference - digits, 0.0)
    square = np.sqrt((beyond**2).mean(0))
    smallest = np.maximum(digits, np.finfo(np.float32).tiny)
    return np.asarray(square / np.maximum(spread, smallest))


def same_decisions(reference: Array, answer: Array) -> tuple[int, int]:
    """How many rows have their largest value in the same column.

    Near ties of the reference count as same: those that four times the usual difference could turn. The noise
    itself has its bound; another decision than that shows an answer that is wrong in one place.
    """
    if reference.shape[1] < 2:
        return len(reference), len(reference)
    best, chosen = reference.argmax(1), answer.argmax(1)
    rows = np.arange(len(reference))
    gap = reference[rows, best] - reference[rows, chosen]
    usual = np.sqrt(np.median(((reference - answer) ** 2).mean(0)))
    near = max(TIE * float(np.median(reference.std(0))), TURNED * float(usual))
    tie = gap <= near + LAST_DIGITS * np.abs(reference[rows, best])
    return int(((best == chosen) | tie).sum()), len(reference)


def kept_decisions(reference: Array, answer: Array) -> int:
    """How many rows have their largest value in the same column, ties or not."""
    if reference.shape[1] < 2:
        return 0
    return int((reference.argmax(1) == answer.argmax(1)).sum())


def is_flat(reference: Array) -> bool:
    """Whether the rows hardly differ: the largest spread against the size of a usual column."""
    if len(reference) < 2:
        return True
    spread = reference.std(0)
    size = np.median(np.abs(reference.mean(0)) + spread)
    return bool(spread.max(initial=0.0) <= FLAT * size)
