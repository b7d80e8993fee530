"""Pictures of classes that a script drew, against the classes that its predictor gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

COLOURS = 64  # a picture with more is a photograph
EXPLAINED = 0.8  # share of what a picture shows beyond its commonest colour that classes must explain
BETTER = 0.1  # by which turned classes must explain it better to be what was drawn
SIDE = 256
TURNED = {"upside down": (-1, 1), "mirrored": (1, -1), "turned around": (-1, -1)}


def masks_of(output: Array) -> list[Array]:
    """The classes of every pixel, one mask a sample; nothing where the output is no segmentation."""
    if output.ndim == 4 and output.shape[1] > 1 and output.dtype.kind == "f":
        return list(output.argmax(1))
    if output.ndim == 4 and output.shape[1] == 1 and output.dtype.kind in "iu":
        return list(output[:, 0])
    if output.ndim == 3 and output.dtype.kind in "iu":
        return list(output)
    return []


def colours_of(picture: Array) -> Array | None:
    """A picture (height, width, 3) as numbers of its colours, thinned; None: it has too many."""
    stride = max(1, -(-max(picture.shape[:2]) // SIDE))
    small = picture[::stride, ::stride].astype(np.int64)
    codes = (small[..., 0] << 16) | (small[..., 1] << 8) | small[..., 2]
    colours, numbers = np.unique(codes, return_inverse=True)
    if not 2 <= len(colours) <= COLOURS:
        return None
    return np.asarray(numbers.reshape(codes.shape))


def explained(colours: Array, mask: Array) -> float:
    """How much of a picture the classes explain, beyond its commonest colour: 1 is all."""
    rows = (np.arange(colours.shape[0]) + 0.5) * mask.shape[0] / colours.shape[0]
    columns = (np.arange(colours.shape[1]) + 0.5) * mask.shape[1] / colours.shape[1]
    resized = mask[rows.astype(int)][:, columns.astype(int)].ravel()
    flat = colours.ravel()
    right = sum(int(np.bincount(flat[resized == each]).max()) for each in np.unique(resized))
    commonest = int(np.bincount(flat).max())
    return (right - commonest) / max(len(flat) - commonest, 1)


def drawn_otherwise(pictures: Sequence[Array], masks: Sequence[Array]) -> tuple[int, int, str]:
    """How many pictures of classes there are, how many the masks explain as they are, and how the others are
    turned; empty: that does not show."""
    looked = straight = 0
    turned: list[str] = []
    for picture in pictures:
        colours = colours_of(picture)
        if colours is None:
            continue
        looked += 1
        upright = max(explained(colours, mask) for mask in masks)
        other = {
            name: max(explained(colours, mask[::down, ::right]) for mask in masks)
            for name, (down, right) in TURNED.items()
        }
        best = max(other, key=lambda name: other[name])
        if upright >= EXPLAINED and upright >= other[best] - BETTER:
            straight += 1
        elif other[best] >= EXPLAINED and other[best] > upright + BETTER:
            turned.append(best)
    told = turned[0] if turned and len(turned) * 2 > looked else ""
    return looked, straight, told
