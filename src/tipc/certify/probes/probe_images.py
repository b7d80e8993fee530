"""Decodes image files, and hands them back as arrays. It compares nothing."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

MOST_PIXELS = 4 << 20  # of one image; a larger one is thinned


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """``paths`` are files; number n of those that can be read is ``n`` in ``<answers>/images.npz``."""
    found: dict[str, Any] = {}
    read: list[str] = []
    for path in question["paths"]:
        try:
            image = decoded(path)
        except (OSError, ValueError, SyntaxError, RuntimeError):
            continue
        stride = int(np.ceil(np.sqrt(max(1.0, image.shape[0] * image.shape[1] / MOST_PIXELS))))
        found[str(len(read))] = image[::stride, ::stride]
        read.append(path)
    np.savez(os.path.join(question["answers"], "images.npz"), **found)
    return {"read": read}


def decoded(path: str) -> Any:
    """An image in RGB, by whichever library this interpreter has."""
    try:
        from PIL import Image
    except ImportError:
        import cv2

        image = cv2.imread(path)
        if image is None:
            raise ValueError("it cannot be read") from None
        return np.ascontiguousarray(image[:, :, ::-1])
    with Image.open(path) as file:
        return np.array(file.convert("RGB"))
