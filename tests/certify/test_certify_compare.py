"""Agreement is judged against the signal: what rounding does is allowed, what a wrong engine does is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tipc.certify.checks.parity import Compared, only_ties
from tipc.certify.compare.agreement import BF16, FP16, FP32, INT8, MOST_NOISE, Bound, compare
from tipc.certify.compare.detections import Matches, are_detections, matched
from tipc.certify.compare.heads import softmax
from tipc.certify.compare.picture_pairs import same_pictures
from tipc.certify.evidence.likeness import likenesses
from tipc.certify.evidence.trials import Answered, Trial

RANDOM = np.random.default_rng(3)
LOGITS = (RANDOM.standard_normal((64, 10)) * 3).astype("float32")


def with_noise(share: float) -> Any:
    return (LOGITS + share * LOGITS.std(0) * RANDOM.standard_normal(LOGITS.shape)).astype("float32")


@pytest.mark.parametrize(
    ("bound", "share", "agrees"),
    [
        (FP32, 1e-7, True),
        (FP32, 3e-4, True),
        (FP32, 5e-3, False),
        (FP16, 5e-3, True),
        (FP16, 0.1, False),
        (BF16, 0.03, True),
        (INT8, 0.1, True),
        (INT8, 0.6, False),
    ],
)
def test_noise_is_allowed_by_the_type_of_numbers(bound: Bound, share: float, agrees: bool) -> None:
    assert compare(LOGITS, with_noise(share)).agrees(bound) == agrees


def test_a_network_that_makes_much_of_a_rounding_is_allowed_as_much_and_not_everything() -> None:
    assert FP32.with_sensitivity(1e-3).noise == pytest.approx(0.032)
    assert FP32.with_sensitivity(1e-9) == FP32
    assert FP32.with_sensitivity(5.0).noise == MOST_NOISE
    assert not compare(LOGITS, LOGITS[::-1].copy()).agrees(FP32.with_sensitivity(5.0)), "a wrong answer"


def test_large_outputs_that_differ_in_their_last_digits_agree() -> None:
    large = (480 * RANDOM.standard_normal((2, 2, 64, 64))).astype("float32")
    other = (large * (1 + 4e-4 * RANDOM.standard_normal(large.shape))).astype("float32")
    assert compare(large, other).agrees(FP32)


def test_a_constant_column_must_be_the_same_and_hides_nothing() -> None:
    masked = np.concatenate([LOGITS, np.full((64, 1), -1e9, "float32")], 1)
    scaled = masked.copy()
    scaled[:, :10] *= np.float32(1.01)
    assert compare(masked, masked).agrees(FP32)
    assert not compare(masked, scaled).agrees(FP32)
    shifted = masked.copy()
    shifted[:, 10] = -2e9
    assert not compare(masked, shifted).agrees(FP32)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_never_agrees(bad: float) -> None:
    broken = LOGITS.copy()
    broken[3, 4] = bad
    assert not compare(LOGITS, broken).agrees(INT8)


def test_integers_agree_by_their_share() -> None:
    classes = RANDOM.integers(0, 5, (2, 50, 50))
    other = classes.copy()
    other[0, 0, 0] += 7
    assert compare(classes, other).agrees(FP32), "one pixel of 5,000"
    other[0, :2] += 1
    assert not compare(classes, other).agrees(FP32)


def test_a_value_near_0_may_differ_as_the_larger_ones_do_where_all_samples_are_one() -> None:
    """It is what is left of larger numbers, and one image has no spread that it could be held to."""
    for rows in (1, 8):
        wanted = np.repeat(np.array([[2.5, -1.75, 1e-5, 3.25]], "float32"), rows, 0)
        got = wanted.copy()
        got[:, 2] += 2e-6
        assert compare(wanted, got).agrees(FP32)
        got[:, 2] += 1e-3
        assert not compare(wanted, got).agrees(FP32)


def test_answers_that_do_not_differ_are_flat() -> None:
    same = np.tile(np.array([1.0, 0.0, -1.0], "float32"), (8, 1))
    assert compare(same, same).flat
    assert compare(same + LOGITS[:8, :3] * np.float32(1e-7), same).flat
    assert not compare(LOGITS, LOGITS).flat
    assert compare(np.zeros((4, 4), "int64"), np.zeros((4, 4), "int64")).flat


def test_every_output_is_looked_at_and_garbage_is_found() -> None:
    garbage = np.full((64, 10), np.nan, "float32")
    first, second = likenesses({"0": LOGITS}, {"a": LOGITS, "b": garbage}, 64)
    assert first.agrees(FP32)
    assert not second.agrees(FP32)


def test_boxes_are_compared_as_sets() -> None:
    boxes = np.column_stack(
        [RANDOM.integers(0, 3, 40), RANDOM.uniform(0.1, 1, 40), RANDOM.uniform(0, 600, (40, 4))]
    ).astype("float32")
    shuffled = boxes[RANDOM.permutation(40)]
    assert are_detections(boxes, 2)
    assert matched(boxes, shuffled) == Matches(40, 0, 40, apart=39)
    moved = shuffled.copy()
    moved[:10, 2:] += 20
    assert matched(boxes, moved).found == 30
    [found] = likenesses({"0": boxes}, {"out": shuffled}, 2)
    assert found.agrees(FP32)
    [found] = likenesses({"0": boxes}, {"out": moved}, 2)
    assert not found.agrees(FP32)


def test_boxes_that_rounding_put_into_a_list_are_no_difference_if_most_are_the_same() -> None:
    # Two images of twenty boxes each, all of one score: a network that was hardly trained.
    boxes = np.column_stack([np.zeros(40), np.full(40, 0.07), RANDOM.uniform(0, 600, (40, 4))]).astype(
        "float32"
    )
    boxes[20:, 1] = 0.3
    counts = np.array([20, 20], "int32")
    other = boxes.copy()
    other[16:22, 2:] += 30
    [found, _] = likenesses({"0": boxes, "1": counts}, {"out": other, "num": counts}, 2)
    assert found.boxes == Matches(34, 6, 40)
    assert found.agrees(FP32)
    other[10:28, 2:] += 30
    [found, _] = likenesses({"0": boxes, "1": counts}, {"out": other, "num": counts}, 2)
    assert found.boxes == Matches(22, 18, 40)
    assert not found.agrees(FP32), "too few are the same to show that it is this network"
    assert found.is_undecided, "no box can be told from the last of its list: no lie can, either"
    other[:, 2:] += 30
    [found, _] = likenesses({"0": boxes, "1": counts}, {"out": other, "num": counts}, 2)
    assert found.boxes == Matches(0, 40, 40)
    assert not found.agrees(FP32)
    assert found.is_undecided, "all boxes of an image have one score: any of them may be listed"
    high = boxes.copy()
    high[:6, 1] = 0.9
    moved = high.copy()
    moved[:6, 2:] += 30
    [found, _] = likenesses({"0": high, "1": counts}, {"out": moved, "num": counts}, 2)
    assert not found.agrees(FP32), "those at the top of a list are no ties"
    assert not found.is_undecided


def boxes_of_two_images(top: int) -> tuple[Any, Any]:
    """A hundred boxes an image, the first ones with scores of their own, the others with one and the same;
    and how many each image has."""
    scores = np.full(100, 0.07)
    scores[:top] = np.linspace(0.9, 0.1, top)
    boxes = np.column_stack([np.zeros(200), np.tile(scores, 2), RANDOM.uniform(0, 600, (200, 4))])
    return boxes.astype("float32"), np.array([100, 100], "int32")


def compared_boxes(boxes: Any, other: Any, counts: Any) -> Any:
    return likenesses({"0": boxes, "1": counts}, {"out": other, "num": counts}, 2)[0]


def test_boxes_at_the_top_of_a_list_tell_a_network_where_the_rest_is_tied() -> None:
    boxes, counts = boxes_of_two_images(top=20)
    other = boxes.copy()
    other[60:100, 2:] += 30
    other[150:200, 2:] += 30
    found = compared_boxes(boxes, other, counts)
    assert found.boxes == Matches(110, 90, 200, apart=40)
    assert found.agrees(FP32), "all that can be told from the last are there"
    wrong = other.copy()
    wrong[3, 2:] += 30
    found = compared_boxes(boxes, wrong, counts)
    assert not found.agrees(FP32), "one of those at the top is another"


def test_boxes_that_are_all_tied_show_neither_the_right_network_nor_a_wrong_one() -> None:
    boxes, counts = boxes_of_two_images(top=0)
    other = boxes.copy()
    other[148:, 2:] += 30
    found = compared_boxes(boxes, other, counts)
    assert found.boxes == Matches(148, 52, 200)
    assert not found.agrees(FP32)
    assert found.is_undecided


def test_a_few_boxes_at_the_top_do_not_make_up_for_a_list_of_ties() -> None:
    boxes, counts = boxes_of_two_images(top=4)
    other = boxes.copy()
    other[40:100, 2:] += 30
    found = compared_boxes(boxes, other, counts)
    assert found.boxes == Matches(140, 60, 200, apart=8)
    assert not found.agrees(FP32)
    assert found.is_undecided


def test_an_engine_that_gave_nothing_but_ties_is_told_from_one_that_gave_more() -> None:
    boxes, counts = boxes_of_two_images(top=0)

    def row(source: str, moved: int) -> Compared:
        other = boxes.copy()
        other[:moved, 2:] += 30
        trial = Trial(source, "onednn", {}, Path("model"), Path("params"))
        return Compared(Answered(trial), [compared_boxes(boxes, other, counts)], FP32)

    few, many, right = row("seeded", 52), row("evaluation", 150), row("evaluation", 0)
    tied = only_ties("onednn", [few])
    assert tied is not None
    assert tied.is_mostly_the_same
    tied = only_ties("onednn", [few, many])
    assert tied is not None
    assert not tied.is_mostly_the_same
    assert only_ties("onednn", [few, right]) is None
    assert only_ties("native", [few]) is None


def test_boxes_that_nobody_asked_for_are_a_difference() -> None:
    boxes, counts = boxes_of_two_images(top=20)
    ghosts = boxes.copy()
    ghosts[90:100, 1] = 0.95
    ghosts[90:100, 2:] += 30
    found = compared_boxes(boxes, ghosts, counts)
    assert found.boxes == Matches(190, 10, 200, apart=40, ghosts=10)
    assert not found.agrees(FP32), "boxes of a high score stand in the place of ties"
    assert not found.is_undecided
    [more] = likenesses({"0": boxes}, {"out": np.concatenate([boxes, ghosts[90:100]])}, 2)
    assert not more.agrees(FP32), "every box is there, and ten more"


PICTURES = RANDOM.uniform(-1, 1, (4, 3, 32, 32)).astype("float32")


@pytest.mark.parametrize(
    ("fed", "pairs", "words", "certain"),
    [
        (PICTURES, 4, "", True),
        (PICTURES[::-1].copy(), 4, "", True),
        (PICTURES[:, ::-1].copy(), 4, "RGB and BGR", True),
        (
            PICTURES * np.float32(0.5) + np.float32(0.2),
            4,
            "another mean or scale: deployed = 0.5·x+0.2",
            True,
        ),
        (np.roll(PICTURES, 1, axis=3) * 0.1 + PICTURES * 0.9, 4, "another resize or crop", False),
        (RANDOM.uniform(-1, 1, (4, 3, 32, 32)), 0, "no picture", False),
        (PICTURES[:, :, :16], 0, "[3, 32, 32] against [3, 16, 32]", False),
    ],
)
def test_the_same_pictures_are_found_and_the_difference_named(
    fed: Any, pairs: int, words: str, certain: bool
) -> None:
    found = same_pictures(PICTURES, fed)
    assert (found.pairs, found.certain) == (pairs, certain)
    assert words in found.note.in_english()


def test_shares_that_a_soft_max_has_driven_to_0_and_1_are_compared_as_shares() -> None:
    """A short training can leave logits of millions: then a share of 1e-20 stands against one of 0."""
    rng = np.random.default_rng(3)
    logits = rng.standard_normal((16, 5)) * np.array([1e6, 1e6, 1e6, 40.0, 1e6])
    shares = softmax(logits, -1)
    exported = np.where(shares < 1e-7, 0.0, shares).astype(np.float32)
    (found,) = likenesses({"0": logits}, {"softmax_0": exported}, 16)
    assert found.head == "soft-max over the last axis"
    assert found.agrees(FP32)


def test_other_shares_are_found_all_the_same() -> None:
    rng = np.random.default_rng(4)
    logits = rng.standard_normal((16, 5))
    (found,) = likenesses({"0": logits}, {"softmax_0": softmax(logits * 1.05, -1).astype(np.float32)}, 16)
    assert not found.agrees(FP32)


def test_shares_of_almost_nothing_may_differ_between_engines() -> None:
    """What one engine calls 1.6e-28 is 1.7e-28 in another: both mean that it is not this class."""
    shares = np.full((2, 100), 1.6e-28)
    shares[:, 2] = 1.0
    assert compare(shares, shares * np.where(shares < 1, 1.07, 1.0)).agrees(FP32)
    wrong = shares.copy()
    wrong[1, 2], wrong[1, 3] = 0.9, 0.1
    assert not compare(shares, wrong).agrees(FP32)


def test_decisions_are_no_better_explanation_than_floats_with_a_little_noise() -> None:
    rng = np.random.default_rng(5)
    logits = rng.standard_normal((4, 1, 8, 8))
    (found,) = likenesses({"0": logits}, {"x": (logits + 1e-6).astype(np.float32)}, 4)
    assert found.head == "identity"
    assert found.agrees(FP32)
