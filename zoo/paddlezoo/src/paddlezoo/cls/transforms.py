"""From a picture to the array that the network takes: training, evaluation, prediction and deployment use
this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from PIL import Image

from paddlezoo.errors import ZooError


@dataclass(frozen=True)
class Transform:
    """Resize the short side, crop, normalise, channels first. Written beside an exported model."""

    resize: int = 256
    crop: int = 224
    mean: tuple[float, float, float] = (0.485, 0.456, 0.406)
    std: tuple[float, float, float] = (0.229, 0.224, 0.225)
    smallest_area: float = 0.35  # of the random crop in training

    @staticmethod
    def for_size(crop: int) -> Transform:
        """The usual transform for another input size."""
        return Transform(resize=round(crop * 256 / 224), crop=crop)

    def evaluation(self, image: Image.Image) -> np.ndarray:
        """Everything but training: nothing is random."""
        scale = self.resize / min(image.size)
        width, height = (max(self.crop, round(side * scale)) for side in image.size)
        image = image.resize((width, height), Image.Resampling.BILINEAR)
        left, top = (width - self.crop) // 2, (height - self.crop) // 2
        return self._normalised(image.crop((left, top, left + self.crop, top + self.crop)))

    def training(self, image: Image.Image, random: np.random.Generator) -> np.ndarray:
        """A random crop of random size and shape, and a mirror image half of the time."""
        area = image.width * image.height * random.uniform(self.smallest_area, 1.0)
        ratio = np.exp(random.uniform(np.log(3 / 4), np.log(4 / 3)))
        width = min(image.width, max(1, round(float(np.sqrt(area * ratio)))))
        height = min(image.height, max(1, round(float(np.sqrt(area / ratio)))))
        left = int(random.integers(0, image.width - width + 1))
        top = int(random.integers(0, image.height - height + 1))
        image = image.resize(
            (self.crop, self.crop), Image.Resampling.BILINEAR, box=(left, top, left + width, top + height)
        )
        array = self._normalised(image)
        return np.ascontiguousarray(array[:, :, ::-1]) if random.random() < 0.5 else array

    def _normalised(self, image: Image.Image) -> np.ndarray:
        array = np.asarray(image, dtype="float32") / np.float32(255)
        array = (array - np.asarray(self.mean, "float32")) / np.asarray(self.std, "float32")
        return np.ascontiguousarray(array.transpose(2, 0, 1))

    def to_dict(self) -> dict[str, Any]:
        """For a JSON or YAML file."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Transform:
        """What ``to_dict`` gave; ZooError if it is something else."""
        try:
            given: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in values.items()}
            return Transform(**given)
        except (TypeError, AttributeError) as error:
            raise ZooError(f"these are not the transforms of a classification model: {error}") from None
