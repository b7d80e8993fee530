"""How good a segmentation is: everything from one confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddlezoo.seg.data import IGNORED


def confusion(prediction: np.ndarray, label: np.ndarray, num_classes: int) -> np.ndarray:
    """Pixels by true class (row) and predicted class (column); ignored pixels are left out."""
    counted = label != IGNORED
    pairs = label[counted].astype(np.int64) * num_classes + prediction[counted]
    return np.bincount(pairs, minlength=num_classes**2).reshape(num_classes, num_classes)


@dataclass(frozen=True)
class Scores:
    """`miou` and `mdice` are means over the classes that the labels contain: a class that is nowhere has no
    score."""

    miou: float
    mdice: float
    accuracy: float
    kappa: float
    class_iou: tuple[float, ...]
    class_dice: tuple[float, ...]

    def line(self) -> str:
        """One line for the log."""
        classes = " ".join("-" if np.isnan(value) else f"{value:.4f}" for value in self.class_iou)
        return (
            f"mIoU: {self.miou:.4f}, Acc: {self.accuracy:.4f}, Kappa: {self.kappa:.4f}, "
            f"Dice: {self.mdice:.4f}, "
            f"Class IoU: [{classes}]"
        )


def scores(matrix: np.ndarray) -> Scores:
    """The scores of a confusion matrix; a class that no label contains is nan."""
    matrix = matrix.astype(np.float64)
    total = matrix.sum()
    true, predicted, right = matrix.sum(axis=1), matrix.sum(axis=0), np.diag(matrix)
    present = true > 0
    union = np.where(present, true + predicted - right, np.nan)
    iou = right / union
    dice = 2 * right / np.where(present, true + predicted, np.nan)
    accuracy = right.sum() / total if total else 0.0
    chance = (true * predicted).sum() / total**2 if total else 0.0
    return Scores(
        miou=float(np.nanmean(iou)) if present.any() else 0.0,
        mdice=float(np.nanmean(dice)) if present.any() else 0.0,
        accuracy=float(accuracy),
        kappa=float((accuracy - chance) / (1 - chance)) if chance < 1 else 1.0,
        class_iou=tuple(float(value) for value in iou),
        class_dice=tuple(float(value) for value in dice),
    )
