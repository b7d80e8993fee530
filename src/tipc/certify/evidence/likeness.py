"""How the answers of an exported model compare with those of the trained network, output by output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.compare.agreement import Agreement, Bound, compare
from tipc.certify.compare.detections import Matches, are_detections, matched
from tipc.certify.compare.heads import candidates
from tipc.message import Message, wording

Arrays = Mapping[str, NDArray[Any]]
SET_SHARE = 0.99  # of the boxes of a detector
# Where scores are tied, as many must still be the same: another network has its boxes at other places.
SAME_SHARE = 0.75
# Or so many can be told from the last of their list: another network has others at the top.
APART = 10


@dataclass(frozen=True)
class Likeness:
    """One output of the exported model, and the trained network's that it is most like."""

    output: str
    of: str  # the trained network's output; empty: none has this form
    head: str  # what the export added behind it
    agreement: Agreement | None
    boxes: Matches | None = None  # detections

    def agrees(self, bound: Bound) -> bool:
        """Whether it is agreement."""
        if self.agreement is None:
            return False
        if self.agreement.agrees(bound):
            return True
        boxes = self.boxes
        if boxes is None or not boxes.all or not self._is_explained:
            return False
        if boxes.found >= SAME_SHARE * boxes.all:
            return True
        return boxes.apart >= APART and boxes.unexplained <= (1 - SET_SHARE) * boxes.apart

    @property
    def _is_explained(self) -> bool:
        """Nearly every box of either list is in the other, or level with the last of its own list: which of
        those are in it, rounding decides."""
        boxes = self.boxes
        return boxes is not None and boxes.unexplained <= (1 - SET_SHARE) * boxes.all

    @property
    def is_undecided(self) -> bool:
        """Ties explain every difference, or most boxes are tied: this shows neither the right network nor a
        wrong one."""
        if self.boxes is None:
            return False
        return self._is_explained or self.boxes.tied * 2 > self.boxes.all

    @property
    def is_mostly_the_same(self) -> bool:
        """More boxes than not have a partner: what is said of ties then is no more than a remark."""
        return self.boxes is not None and self._is_explained and self.boxes.found * 2 >= self.boxes.all

    def text(self) -> Message:
        """The figures in a line."""
        if self.agreement is None:
            return wording("no output of the trained network has its form")
        if self.boxes is not None:
            return self._boxes_text(self.boxes)
        if self.head == "identity":
            return self.agreement.text()
        return wording("{figures}, after {head}", figures=self.agreement.text(), head=self.head)

    @staticmethod
    def _boxes_text(boxes: Matches) -> Message:
        if boxes.ghosts:
            return wording(
                "{found} of {all} boxes alike, and {ghosts} others",
                found=boxes.found,
                all=boxes.all,
                ghosts=boxes.ghosts,
            )
        if not boxes.tied:
            return wording("{found} of {all} boxes alike", found=boxes.found, all=boxes.all)
        return wording(
            "{found} of {all} boxes alike, {tied} tied with the last of their list",
            found=boxes.found,
            all=boxes.all,
            tied=boxes.tied,
        )

    def row(self) -> dict[str, Any]:
        """For the evidence."""
        found: dict[str, Any] = {"output": self.output, "of": self.of, "head": self.head}
        if self.agreement is not None:
            found.update(
                max_abs=self.agreement.max_abs,
                noise=self.agreement.noise,
                scale=self.agreement.scale,
                argmax_equal=self.agreement.equal,
                argmax_total=self.agreement.decisions,
                finite=self.agreement.finite,
                flat=self.agreement.flat,
                shape=list(self.agreement.shape),
            )
        if self.boxes is not None:
            found.update(
                boxes_matched=self.boxes.found,
                boxes_tied=self.boxes.tied,
                boxes=self.boxes.all,
                boxes_apart=self.boxes.apart,
                boxes_ghosts=self.boxes.ghosts,
            )
        return found


def likenesses(trained: Arrays, got: Arrays, batch: int) -> list[Likeness]:
    """For each output of the exported model the best explanation by the trained network's outputs."""
    found = []
    for name, value in got.items():
        boxes = _boxes(name, trained, got, batch)
        found.append(boxes or _best(name, value, trained))
    return found


def _best(name: str, value: NDArray[Any], trained: Arrays) -> Likeness:
    found: list[tuple[tuple[float, float], Likeness]] = []
    for other, wanted in trained.items():
        for head, made in candidates(wanted, value.shape):
            agreement = compare(made, value, head.unit)
            share = agreement.equal / max(agreement.decisions, 1)
            noise = np.inf
            if agreement.finite:
                noise = agreement.noise
            # Decisions have no noise: what they get wrong counts as much.
            found.append(((max(noise, 1.0 - share), -share), Likeness(name, other, head.name, agreement)))
    if found:
        return min(found, key=lambda pair: pair[0])[1]
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        broken = Agreement(value.shape, False, np.inf, np.inf, 0.0, 0, 1, flat=False)
        return Likeness(name, "", "", broken)
    return Likeness(name, "", "", None)


def likeness_inside(trained: Arrays, inner: Arrays) -> Likeness | None:
    """Of the values inside a model the one that is most like an answer of the trained network which differs
    from sample to sample: what the head behind it (a saturated soft-max, an arg-max) does not show."""
    best = None
    least = np.inf
    for other, wanted in trained.items():
        for name, value in inner.items():
            if value.shape != wanted.shape:
                continue
            agreement = compare(wanted, value)
            if agreement.finite and not agreement.flat and (best is None or agreement.noise < least):
                best, least = Likeness(f"{name} (inside)", other, "identity", agreement), agreement.noise
    return best


def _boxes(name: str, trained: Arrays, got: Arrays, batch: int) -> Likeness | None:
    """Lists of boxes are compared as sets."""
    value = got[name]
    if not are_detections(value, batch):
        return None
    for other, wanted in trained.items():
        if not are_detections(wanted, batch) or wanted.shape[1] != value.shape[1]:
            continue
        agreement = Agreement(value.shape, True, np.inf, np.inf, 0, 0, 1, False)
        if wanted.shape == value.shape:
            agreement = compare(wanted, value)
        matches = matched(wanted, value, _counts(trained, wanted), _counts(got, value))
        return Likeness(name, other, "identity, as a set", agreement, matches)
    return None


def _counts(answers: Arrays, boxes: NDArray[Any]) -> NDArray[Any] | None:
    """The output that says how many boxes each image has."""
    for value in answers.values():
        if value.ndim == 1 and value.dtype.kind in "iu" and int(value.sum()) == len(boxes):
            return value
    return None


def is_flat(found: Sequence[Likeness]) -> bool:
    """None of the outputs differs from sample to sample: what agrees there shows little."""
    known = False
    for one in found:
        if one.agreement is None:
            continue
        if not one.agreement.flat:
            return False
        known = True
    return known
