"""Losses and scores against plain arithmetic."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

from paddlezoo.errors import ZooError
from paddlezoo.seg import losses, metrics

pytestmark = pytest.mark.paddle
CLASSES = 4


@pytest.fixture
def sample() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(0)
    label = random.randint(0, CLASSES, (2, 8, 9))
    label[:, :2] = 255
    return (3 * random.randn(2, CLASSES, 8, 9)).astype("float32"), label


def true_probability(logits: np.ndarray, label: np.ndarray) -> np.ndarray:
    """The softmax of each counted pixel's own class."""
    exp = np.exp(logits - logits.max(1, keepdims=True))
    chance = exp / exp.sum(1, keepdims=True)
    own = np.take_along_axis(chance, np.where(label == 255, 0, label)[:, None], 1)[:, 0]
    return own[label != 255]


def value(entry: dict[str, object], sample: tuple[np.ndarray, np.ndarray]) -> float:
    logits, label = sample
    return float(losses.build(entry)(paddle.to_tensor(logits), paddle.to_tensor(label)))


def test_cross_entropy_is_the_mean_over_the_pixels_that_count(sample: tuple[np.ndarray, np.ndarray]) -> None:
    expected = -np.log(true_probability(*sample)).mean()
    assert value({"type": "CrossEntropyLoss", "ignore_index": 255}, sample) == pytest.approx(
        expected, rel=1e-5
    )


def test_class_weights_weigh_the_pixels_of_a_class(sample: tuple[np.ndarray, np.ndarray]) -> None:
    weights = np.array([1.0, 2.0, 0.5, 4.0])
    each = weights[sample[1][sample[1] != 255]]
    expected = (each * -np.log(true_probability(*sample))).sum() / each.sum()
    entry = {"type": "CrossEntropyLoss", "weight": weights.tolist()}
    assert value(entry, sample) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("thresh", "min_kept"), [(0.7, 5), (0.2, 60), (0.7, 10**6), (0.7, 0)])
def test_ohem_keeps_the_pixels_below_the_threshold_and_the_hardest(
    sample: tuple[np.ndarray, np.ndarray], thresh: float, min_kept: int
) -> None:
    own = true_probability(*sample)
    kept = np.ones(len(own), bool)
    if 0 < min_kept < len(own):
        kept = own < max(thresh, np.sort(own)[min_kept - 1])
    size = sample[1].size
    expected = -np.log(own[kept]).sum() / size / (kept.sum() / size + 1e-5)
    entry = {"type": "OhemCrossEntropyLoss", "thresh": thresh, "min_kept": min_kept}
    assert value(entry, sample) == pytest.approx(expected, rel=1e-4)


def test_dice_is_nothing_for_a_perfect_answer_and_one_for_a_wrong_one() -> None:
    label = np.random.RandomState(0).randint(0, CLASSES, (1, 20, 20))
    right = 50.0 * np.eye(CLASSES, dtype="float32")[label].transpose(0, 3, 1, 2)
    assert value({"type": "DiceLoss"}, (right, label)) < 1e-3
    assert value({"type": "DiceLoss"}, (np.roll(right, 1, axis=1), label)) > 0.95


def test_a_mixed_loss_is_the_weighted_sum(sample: tuple[np.ndarray, np.ndarray]) -> None:
    parts = [{"type": "CrossEntropyLoss"}, {"type": "DiceLoss"}]
    expected = 0.8 * value(parts[0], sample) + 0.2 * value(parts[1], sample)
    entry = {"type": "MixedLoss", "losses": parts, "coef": [0.8, 0.2]}
    assert value(entry, sample) == pytest.approx(expected, rel=1e-5)


def test_an_auxiliary_head_counts_by_its_weight(sample: tuple[np.ndarray, np.ndarray]) -> None:
    logits, label = paddle.to_tensor(sample[0]), paddle.to_tensor(sample[1])
    heads = [(1.0, losses.cross_entropy), (0.4, losses.cross_entropy)]
    total = losses.total_loss([logits, -logits], label, heads)
    expected = losses.cross_entropy(logits, label) + 0.4 * losses.cross_entropy(-logits, label)
    assert float(total) == pytest.approx(float(expected))
    with pytest.raises(ZooError, match="1 outputs in training and the config 2 losses"):
        losses.total_loss([logits], label, heads)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"type": "FocalLoss"}, "'FocalLoss' is not a loss; known are CrossEntropyLoss"),
        ({"type": "DiceLoss", "gamma": 2}, "DiceLoss has no parameter gamma; it has smooth"),
        ({"type": "CrossEntropyLoss", "ignore_index": 0}, "ignore_index is always 255"),
        ({"type": "MixedLoss", "losses": [{"type": "DiceLoss"}], "coef": []}, "as many losses as coef"),
    ],
)
def test_a_loss_that_is_not_known_is_named(entry: dict[str, object], told: str) -> None:
    with pytest.raises(ZooError, match=told):
        losses.build(entry)


def test_scores_come_from_the_confusion_of_counted_pixels() -> None:
    label = np.array([[0, 0, 0, 1, 1, 255]])
    prediction = np.array([[0, 0, 1, 1, 1, 1]])
    scores = metrics.scores(metrics.confusion(prediction, label, 2))
    assert scores.class_iou == pytest.approx((2 / 3, 2 / 3))
    assert scores.class_dice == pytest.approx((4 / 5, 4 / 5))
    assert (scores.miou, scores.mdice, scores.accuracy) == pytest.approx((2 / 3, 0.8, 0.8))
    assert scores.kappa == pytest.approx((0.8 - 0.48) / (1 - 0.48))


def test_a_class_that_no_label_has_does_not_count_in_the_mean() -> None:
    label, prediction = np.array([0, 0, 2, 2]), np.array([0, 1, 2, 2])
    scores = metrics.scores(metrics.confusion(prediction, label, 4))
    assert scores.miou == pytest.approx((0.5 + 1) / 2)
    assert np.isnan(scores.class_iou[1])
    assert "Class IoU: [0.5000 - 1.0000 -]" in scores.line()
