"""The same pictures in two batches, and what was done to one of them and not to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.message import Message, wording

Array = NDArray[Any]

ALIKE = 0.98  # correlation of two pictures that show the same
SIDE = 64  # pictures are thinned to at most this for finding pairs
EXACT = 1e-3  # of the spread: what a straight line may leave over
MOST = 16  # pictures that are looked at
PREPROCESS = 1e-3  # of a normalised batch: pictures that differ by no more are fed alike


@dataclass(frozen=True)
class SamePictures:
    """How many pictures are in both, how far the second are off, and what explains it."""

    pairs: int
    max_abs: float
    note: Message
    certain: bool = False  # the explanation leaves nothing over: another mean, scale or order of channels


def same_pictures(first: Array, second: Array) -> SamePictures:
    """Pictures (batch, channels, height, width) of the first batch that are in the second, too."""
    if first.shape[1:] != second.shape[1:]:
        return SamePictures(
            0,
            np.inf,
            wording("{one} against {other}", one=list(first.shape[1:]), other=list(second.shape[1:])),
        )
    first, second = first[:MOST].astype(np.float64), second[:MOST].astype(np.float64)
    pairs = find_pairs(first, second)
    if not pairs:
        return SamePictures(0, np.inf, wording("no picture of one is like one of the other"))
    one = first[[a for a, _ in pairs]]
    other = second[[b for _, b in pairs]]
    largest = float(np.abs(one - other).max())
    note, certain = explain(one, other)
    apart = np.abs(one - other).reshape(len(pairs), -1).max(1) > PREPROCESS
    if not certain and apart.any():  # a warm-up may feed some of them alike, and the loop does not
        note, certain = explain(one[apart], other[apart])
    return SamePictures(len(pairs), largest, note, certain)


def find_pairs(first: Array, second: Array) -> list[tuple[int, int]]:
    """Which picture of the second is which of the first: those in which brightness goes the same way. Each
    is of one pair at most: one picture that was fed eight times is not eight that were fed alike."""
    left, right = outlines(first), outlines(second)
    likeness = left @ right.T
    found = []
    taken = set()
    for index in range(len(left)):
        best = int(likeness[index].argmax())
        # Pictures that are all alike tell nothing about which is which.
        rivals = np.delete(likeness[index], best)
        clear = not rivals.size or likeness[index, best] - rivals.max() > 1e-3
        is_best = likeness[index, best] >= likeness[:, best].max() - 1e-6
        if likeness[index, best] >= ALIKE and clear and is_best and best not in taken:
            taken.add(best)
            found.append((index, best))
    return found


def outlines(pictures: Array) -> Array:
    """Each picture as a vector of length 1: its channels together, thinned, without its mean."""
    stride = max(1, -(-max(pictures.shape[2:]) // SIDE))
    grey = pictures[:, :, ::stride, ::stride]
    # The order of channels and their means may be what differs: they are laid on top of one another.
    flat = (grey - grey.mean((2, 3), keepdims=True)).sum(1).reshape(len(pictures), -1)
    size = np.linalg.norm(flat, axis=1, keepdims=True)
    return np.asarray(flat / np.maximum(size, 1e-12))


def explain(one: Array, other: Array) -> tuple[Message, bool]:
    """What was done to the second, in words, and whether that leaves nothing over."""
    spread = max(float(one.std()), 1e-12)
    if np.abs(one - other).max() <= EXACT * spread:
        return wording(""), True
    channels = one.shape[1]
    if channels > 1:
        line = straight_line(one[:, ::-1], other)
        if line and not straight_line(one, other):
            return wording("the channels are in the other order (RGB and BGR)"), True
    line = straight_line(one, other)
    if line:
        return wording("another mean or scale: deployed = {line} of evaluated, by channel", line=line), True
    return wording("no change of mean, scale or colour order explains it: another resize or crop"), False


def straight_line(one: Array, other: Array) -> str:
    """Channel by channel ``a·x+b`` where that explains the second by the first; empty where it does not."""
    told = []
    for channel in range(one.shape[1]):
        x, y = one[:, channel].ravel(), other[:, channel].ravel()
        if np.ptp(x) == 0:
            return ""
        slope, offset = np.polyfit(x, y, 1)
        left = np.abs(slope * x + offset - y)
        # Values at the ends may have been cut off.
        if np.quantile(left, 0.98) > 1e-2 * max(float(y.std()), 1e-12):
            return ""
        told.append(f"{slope:.4g}·x{offset:+.4g}")
    return ", ".join(told)
