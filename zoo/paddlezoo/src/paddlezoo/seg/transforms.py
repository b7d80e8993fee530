"""Transforms of images and masks, for training, evaluation, prediction and deployment: there is no second
place.

Names and parameters are PaddleSeg's, so its YAML files and `deploy.yaml` can be read. Sizes are (width,
height).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

from paddlezoo.errors import ZooError

cv2.setNumThreads(0)  # its threads do not survive the fork into a worker that reads images

INTERPOLATIONS = {
    "LINEAR": cv2.INTER_LINEAR,
    "NEAREST": cv2.INTER_NEAREST,
    "AREA": cv2.INTER_AREA,
    "CUBIC": cv2.INTER_CUBIC,
}


@dataclass(frozen=True)
class Sample:
    """An image (RGB, height x width x 3) and, where there is one, its mask of class numbers."""

    image: np.ndarray
    mask: np.ndarray | None = None


Transform = Callable[[Sample, np.random.Generator], Sample]


def _size(value: Any, name: str) -> tuple[int, int]:
    numbers = [value, value] if isinstance(value, int) else value
    if (
        not isinstance(numbers, list | tuple)
        or len(numbers) != 2
        or not all(isinstance(n, int) and n > 0 for n in numbers)
    ):
        raise ZooError(f"{name} must be [width, height], two whole numbers, not {value!r}")
    return numbers[0], numbers[1]


def resize(sample: Sample, size: tuple[int, int], interpolation: int = cv2.INTER_LINEAR) -> Sample:
    """The sample at (width, height); a mask keeps its class numbers, so it is never interpolated."""
    mask = None if sample.mask is None else cv2.resize(sample.mask, size, interpolation=cv2.INTER_NEAREST)
    return Sample(cv2.resize(sample.image, size, interpolation=interpolation), mask)


@dataclass(frozen=True)
class Resize:
    """To one size, the proportions given up, as PaddleSeg does it."""

    target_size: Any = (512, 512)
    interp: str = "LINEAR"

    def __post_init__(self) -> None:
        object.__setattr__(self, "target_size", _size(self.target_size, "Resize.target_size"))
        if self.interp not in INTERPOLATIONS:
            raise ZooError(f"Resize.interp must be one of {', '.join(INTERPOLATIONS)}, not {self.interp!r}")

    def __call__(self, sample: Sample, random: np.random.Generator) -> Sample:
        return resize(sample, self.target_size, INTERPOLATIONS[self.interp])


@dataclass(frozen=True)
class ResizeStepScaling:
    """By a random factor between two bounds, in steps."""

    min_scale_factor: float = 0.75
    max_scale_factor: float = 1.25
    scale_step_size: float = 0.25

    def __post_init__(self) -> None:
        if not 0 < self.min_scale_factor <= self.max_scale_factor:
            raise ZooError("ResizeStepScaling: 0 < min_scale_factor <= max_scale_factor does not hold")

    def __call__(self, sample: Sample, random: np.random.Generator) -> Sample:
        spread = self.max_scale_factor - self.min_scale_factor
        if self.scale_step_size > 0:
            steps = int(spread / self.scale_step_size + 1e-9)
            factor = self.min_scale_factor + int(random.integers(steps + 1)) * self.scale_step_size
        else:
            factor = self.min_scale_factor + random.random() * spread
        height, width = sample.image.shape[:2]
        return resize(sample, (max(1, round(width * factor)), max(1, round(height * factor))))


@dataclass(frozen=True)
class RandomPaddingCrop:
    """A random window; what is smaller is padded on the right and below, the mask with a class that is
    ignored."""

    crop_size: Any = (512, 512)
    im_padding_value: float = 127.5
    label_padding_value: int = 255

    def __post_init__(self) -> None:
        object.__setattr__(self, "crop_size", _size(self.crop_size, "RandomPaddingCrop.crop_size"))

    def __call__(self, sample: Sample, random: np.random.Generator) -> Sample:
        width, height = self.crop_size
        image, mask = sample.image, sample.mask
        below, right = max(0, height - image.shape[0]), max(0, width - image.shape[1])
        if below or right:
            grey = (self.im_padding_value,) * 3
            image = cv2.copyMakeBorder(image, 0, below, 0, right, cv2.BORDER_CONSTANT, value=grey)
            if mask is not None:
                ignored = self.label_padding_value
                mask = cv2.copyMakeBorder(mask, 0, below, 0, right, cv2.BORDER_CONSTANT, value=ignored)
        top = int(random.integers(image.shape[0] - height + 1))
        left = int(random.integers(image.shape[1] - width + 1))
        window = np.s_[top : top + height, left : left + width]
        return Sample(image[window], None if mask is None else mask[window])


@dataclass(frozen=True)
class RandomHorizontalFlip:
    """Left for right, sometimes."""

    prob: float = 0.5

    def __call__(self, sample: Sample, random: np.random.Generator) -> Sample:
        if random.random() >= self.prob:
            return sample
        return Sample(sample.image[:, ::-1], None if sample.mask is None else sample.mask[:, ::-1])


@dataclass(frozen=True)
class RandomDistort:
    """Brightness, contrast, saturation and hue (in degrees of 180), each with its own probability."""

    brightness_range: float = 0.5
    brightness_prob: float = 0.5
    contrast_range: float = 0.5
    contrast_prob: float = 0.5
    saturation_range: float = 0.5
    saturation_prob: float = 0.5
    hue_range: float = 18
    hue_prob: float = 0.5

    def __call__(self, sample: Sample, random: np.random.Generator) -> Sample:
        image = sample.image.astype(np.float32)
        chance, amount = random.random(4), random.uniform(-1, 1, 4)
        if chance[0] < self.brightness_prob:
            image = image * (1 + amount[0] * self.brightness_range)
        if chance[1] < self.contrast_prob:
            image = image.mean() + (image - image.mean()) * (1 + amount[1] * self.contrast_range)
        if chance[2] < self.saturation_prob:
            grey = (image @ np.array([0.299, 0.587, 0.114], np.float32))[..., None]
            image = grey + (image - grey) * (1 + amount[2] * self.saturation_range)
        image = np.clip(image, 0, 255)
        if chance[3] < self.hue_prob and self.hue_range:
            hsv = cv2.cvtColor(image.astype(np.uint8), cv2.COLOR_RGB2HSV)
            hue = (hsv[..., 0].astype(np.int32) + round(amount[3] * self.hue_range)) % 180
            hsv[..., 0] = hue.astype(np.uint8)
            image = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)
        return Sample(image, sample.mask)


@dataclass(frozen=True)
class Normalize:
    """To 0…1, then mean and standard deviation."""

    mean: Sequence[float] = field(default_factory=lambda: (0.5, 0.5, 0.5))
    std: Sequence[float] = field(default_factory=lambda: (0.5, 0.5, 0.5))

    def __post_init__(self) -> None:
        if len(self.mean) != 3 or len(self.std) != 3 or not all(s > 0 for s in self.std):
            raise ZooError("Normalize needs three means and three standard deviations above 0")

    def __call__(self, sample: Sample, random: np.random.Generator) -> Sample:
        mean, std = np.array(self.mean, np.float32), np.array(self.std, np.float32)
        return Sample((sample.image.astype(np.float32) / 255 - mean) / std, sample.mask)


TRANSFORMS: dict[str, Any] = {
    each.__name__: each
    for each in (Resize, ResizeStepScaling, RandomPaddingCrop, RandomHorizontalFlip, RandomDistort, Normalize)
}


def build(entries: Sequence[Mapping[str, Any]]) -> list[Transform]:
    """Transforms from the entries of a YAML file (`type` and parameters); ZooError names what is not
    known."""
    built = []
    for entry in entries:
        options = dict(entry)
        kind = options.pop("type", None)
        if kind not in TRANSFORMS:
            raise ZooError(f"{kind!r} is not a transform; known are {', '.join(TRANSFORMS)}")
        known = {f.name for f in dataclasses.fields(TRANSFORMS[kind])}
        if not set(options) <= known:
            unknown = ", ".join(sorted(set(options) - known))
            raise ZooError(f"{kind} has no parameter {unknown}; it has {', '.join(sorted(known))}")
        built.append(TRANSFORMS[kind](**options))
    return built


def apply(transforms: Sequence[Transform], sample: Sample, random: np.random.Generator) -> Sample:
    """One after the other; the image becomes channels first, as the network takes it."""
    for transform in transforms:
        sample = transform(sample, random)
    image = np.ascontiguousarray(sample.image.transpose(2, 0, 1), dtype=np.float32)
    return Sample(image, None if sample.mask is None else np.ascontiguousarray(sample.mask))
