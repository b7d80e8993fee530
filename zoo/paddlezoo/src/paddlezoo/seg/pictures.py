"""What people look at: the colours of the classes, a mask as a picture, a mask over its image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from paddlezoo import pictures


def palette() -> np.ndarray:
    """256 colours, one a class, as VOC has them: the bits of the number spread over red, green and blue."""
    numbers = np.arange(256)
    colours = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        for channel in range(3):
            colours[:, channel] |= ((numbers >> (3 * bit + channel) & 1) << (7 - bit)).astype(np.uint8)
    return colours


def mask_picture(mask: np.ndarray) -> Image.Image:
    """A mask of class numbers as an index PNG: the pixels are the classes, the palette makes them visible."""
    picture = Image.fromarray(mask.astype(np.uint8), "P")
    picture.putpalette(palette().reshape(-1).tolist())
    return picture


def overlay(image: np.ndarray, mask: np.ndarray, weight: float = 0.5) -> Image.Image:
    """The mask's colours over the image (RGB); class 0, mostly the background, stays clear."""
    colours = palette()[mask.astype(np.uint8)].astype(np.float32)
    mixed = np.where((mask > 0)[..., None], (1 - weight) * image + weight * colours, image)
    return Image.fromarray(np.clip(mixed, 0, 255).astype(np.uint8))


def write_result(image: np.ndarray, mask: np.ndarray, source: str | Path, directory: str | Path) -> str:
    """Write `<name>.png` (the mask) and `<name>_overlay.jpg`, both at the image's size; a line on what was
    found."""
    height, width = image.shape[:2]
    mask = np.asarray(
        Image.fromarray(mask.astype(np.uint8)).resize((width, height), Image.Resampling.NEAREST)
    )
    name = Path(source).stem
    pictures.write(mask_picture(mask), Path(directory, f"{name}.png"))
    pictures.write(overlay(image, mask), Path(directory, f"{name}_overlay.jpg"))
    classes, counts = np.unique(mask, return_counts=True)
    shares = ", ".join(
        f"{each}: {count / mask.size:.1%}" for each, count in zip(classes, counts, strict=True)
    )
    return f"classes {{{shares}}}"
