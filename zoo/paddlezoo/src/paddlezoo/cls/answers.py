"""What predict.py and infer.py tell about an image: a line, JSON, a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paddlezoo import pictures
from paddlezoo.cls.metrics import softmax

SHOWN = 5


@dataclass(frozen=True)
class Answer:
    """The likeliest classes of one image, the likeliest first."""

    image: Path
    classes: tuple[tuple[int, str, float], ...]  # number, name, probability

    def probability_of(self, number: int) -> float:
        """Of one class; 0 if it is not among those that are kept."""
        return next((probability for n, _, probability in self.classes if n == number), 0.0)

    def line(self) -> str:
        """``images/demo.jpg: class_id: 2, name: disc, prob: 0.98312``."""
        number, name, probability = self.classes[0]
        return f"{self.image}: class_id: {number}, name: {name}, prob: {probability:.5f}"

    def json(self) -> str:
        """All classes that are kept, in one line."""
        top = [{"class_id": n, "name": name, "prob": round(p, 6)} for n, name, p in self.classes]
        return json.dumps({"image": str(self.image), "top": top}, ensure_ascii=False)

    def draw(self, folder: Path) -> Path:
        """Write the image with the classes and their probabilities drawn in; returns the file."""
        rows = [(name, probability) for _, name, probability in self.classes]
        target = folder / f"{self.image.stem}.jpg"
        pictures.write(pictures.with_bars(pictures.read(self.image), rows), target)
        return target


def answers(images: Sequence[Path], logits: np.ndarray, classes: Sequence[str]) -> list[Answer]:
    """An answer for each image from the network's outputs."""
    result = []
    for image, probabilities in zip(images, softmax(logits), strict=True):
        order = np.argsort(-probabilities, kind="stable")[:SHOWN]
        result.append(Answer(image, tuple((int(i), classes[i], float(probabilities[i])) for i in order)))
    return result
