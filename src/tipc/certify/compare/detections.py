"""Boxes of detectors, compared as sets: engines that round differently put ties into another order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

WIDTHS = (6, 7, 10)  # class, score, corners; with an index; rotated
SCORE = 1e-3
PLACE = 1e-3  # of the largest coordinate
# Scores as near as this to the lowest of a list: rounding alone decides which of them are in it.
TIED = 1e-5
TELLING = 1e-3  # boxes with a lower score are not looked at: the cut of the list is among them


def are_detections(array: Array, batch: int) -> bool:
    """A list of boxes: rows of a class, a score and a place, in a number that is not the batch's."""
    return array.ndim == 2 and array.shape[1] in WIDTHS and array.dtype.kind == "f" and len(array) != batch


@dataclass(frozen=True)
class Matches:
    """How many boxes of a list have a partner in another."""

    found: int
    tied: int  # without a partner, and so near to the end of the list that rounding decides about them
    all: int
    apart: int = 0  # of all, those that can be told from the last of their list
    ghosts: int = 0  # boxes of the other list without a partner that can be told from the last of theirs

    @property
    def unexplained(self) -> int:
        """Boxes of either list that the other should have and has not."""
        return self.all - self.found - self.tied + self.ghosts


def matched(
    wanted: Array, got: Array, counts: Array | None = None, got_counts: Array | None = None
) -> Matches:
    """How many telling boxes have a partner of the same class, score and place, each partner used once.

    ``counts`` and ``got_counts`` say how many boxes each image has: a list is cut image by image.
    """
    telling = wanted[:, 1] >= TELLING
    reference, cut = wanted[telling], lowest_scores(wanted, counts)[telling]
    # A partner's score may lie a little below.
    left = list(np.column_stack([got, lowest_scores(got, got_counts)])[got[:, 1] >= TELLING / 2])
    size = max(float(np.abs(wanted[:, 2:]).max(initial=0.0)), 1.0)
    found = tied = apart = 0
    for box, lowest in zip(reference, cut, strict=True):
        level = bool(box[1] - lowest <= TIED)
        apart += not level
        for index, other in enumerate(left):
            if _same(box, other[:-1], size):
                left.pop(index)
                found += 1
                break
        else:
            tied += level
    ghosts = 0
    for other in left:
        # Near the lowest telling score, a partner may just not be telling.
        ghosts += bool(other[1] - other[-1] > TIED and other[1] > TELLING + SCORE)
    return Matches(found, tied, len(reference), apart, ghosts)


def lowest_scores(boxes: Array, counts: Array | None) -> Array:
    """For each box the lowest score of its image; without counts, of all."""
    if counts is None or int(counts.sum()) != len(boxes):
        counts = np.array([len(boxes)])
    ends = np.cumsum(counts)
    parts = np.split(boxes[:, 1], ends[:-1])
    return np.concatenate([np.full(len(part), part.min(initial=np.inf)) for part in parts])


def _same(one: Array, other: Array, size: float) -> bool:
    if one[0] != other[0] or abs(one[1] - other[1]) > SCORE:
        return False
    return bool(np.abs(one[2:] - other[2:]).max(initial=0.0) <= PLACE * size)
