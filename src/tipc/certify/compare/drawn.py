"""Pictures of classes that a script drew, against the classes that its predictor gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

COLOURS = 64  # a picture with more is a photograph
EXPLAINED = 0.8  # share of what a picture shows beyond its commonest colour that classes must explain
BETTER = 0.1  # by which turned classes must explain it better to be what was drawn
LEAST_SHOWN = 0.02  # of a picture: so much beyond its commonest class must show
SIDE = 256
TURNED = {"upside down": (-1, 1), "mirrored": (1, -1), "turned around": (-1, -1)}


def samples_of(output: Array) -> list[Array]:
    """The part of a segmentation's output that belongs to each sample: the classes of every pixel, or the
    scores of all classes; nothing where the output is no segmentation."""
    if output.ndim == 4 and output.shape[1] > 1 and output.dtype.kind == "f":
        return list(output)
    if output.ndim == 4 and output.shape[1] == 1 and output.dtype.kind in "iu":
        return list(output[:, 0])
    if output.ndim == 3 and output.dtype.kind in "iu":
        return list(output)
    return []


def classes_on(sample: Array, height: int, width: int) -> Array:
    """The classes of a sample at the pixels of a thinned picture of this size, numbered from 0.

    Only these are looked up: to decide the class of every pixel of a large output takes long.
    """
    stride = stride_of(height, width)
    rows = ((np.arange(0, height, stride) + 0.5) * sample.shape[-2] / height).astype(int)
    columns = ((np.arange(0, width, stride) + 0.5) * sample.shape[-1] / width).astype(int)
    classes = sample[..., rows[:, None], columns]
    if classes.ndim == 3:
        classes = classes.argmax(0)
    numbers = np.unique(classes, return_inverse=True)[1]
    return np.asarray(numbers.reshape(len(rows), len(columns)))


def parts_of(sample: Array, height: int, width: int) -> list[Array]:
    """What of a sample a picture of this size may show: all of it, or, where the image was padded to another
    form, its upper left or its middle."""
    tall, wide = sample.shape[-2:]
    scale = min(tall / height, wide / width)
    rows, columns = round(height * scale), round(width * scale)
    parts = [sample]
    if (rows, columns) != (tall, wide) and rows and columns:
        top, left = (tall - rows) // 2, (wide - columns) // 2
        parts.append(sample[..., :rows, :columns])
        parts.append(sample[..., top : top + rows, left : left + columns])
    return parts


def stride_of(height: int, width: int) -> int:
    """By how much a picture of this size is thinned."""
    return max(1, -(-max(height, width) // SIDE))


def colours_of(picture: Array) -> Array | None:
    """A picture (height, width, 3) as numbers of its colours, thinned; None: it has too many."""
    stride = stride_of(*picture.shape[:2])
    small = picture[::stride, ::stride].astype(np.int64)
    codes = (small[..., 0] << 16) | (small[..., 1] << 8) | small[..., 2]
    colours, numbers = np.unique(codes, return_inverse=True)
    if not 2 <= len(colours) <= COLOURS:
        return None
    return np.asarray(numbers.reshape(codes.shape))


def explained(colours: Array, classes: Array) -> float:
    """How much of a picture the classes explain, beyond its commonest colour: 1 is all."""
    count = int(colours.max()) + 1
    pairs = np.bincount((classes * count + colours).ravel(), minlength=(int(classes.max()) + 1) * count)
    table = pairs.reshape(-1, count)  # class → how often it has each colour
    right = int(table.max(1).sum())
    commonest = int(table.sum(0).max())
    return (right - commonest) / max(colours.size - commonest, 1)


def _masks(samples: Sequence[Array], size: tuple[int, ...]) -> list[Array]:
    """The samples' classes in the size of a picture."""
    masks = []
    for sample in samples:
        for part in parts_of(sample, *size):
            masks.append(classes_on(part, *size))
    return masks


def _best_turn(colours: Array, masks: list[Array]) -> tuple[str, float]:
    """The way to turn a picture in which a sample explains most of it, and how much that is."""
    shares = {}
    for name, (down, right) in TURNED.items():
        shares[name] = max(explained(colours[::down, ::right], mask) for mask in masks)
    best = max(shares, key=lambda name: shares[name])
    return best, shares[best]


def drawn_otherwise(pictures: Sequence[Array], samples: Sequence[Array]) -> tuple[int, int, str]:
    """How many pictures of classes there are, how many the samples explain as they are, and how the others
    are turned; empty: that does not show."""
    looked = straight = 0
    turned: list[str] = []
    fitted: dict[tuple[int, ...], list[Array]] = {}  # by the size of a picture
    for picture in pictures:
        size = picture.shape[:2]
        if size not in fitted:
            fitted[size] = _masks(samples, size)
        if is_blank(picture) and all(map(has_several, fitted[size])):
            looked += 1
        colours = colours_of(picture)
        if colours is None:
            continue
        looked += 1
        upright = max(explained(colours, mask) for mask in fitted[size])
        way, share = _best_turn(colours, fitted[size])
        if upright >= EXPLAINED and upright >= share - BETTER:
            straight += 1
        elif share >= EXPLAINED and share > upright + BETTER:
            turned.append(way)
    told = turned[0] if turned and len(turned) * 2 > looked else ""
    return looked, straight, told


def is_blank(picture: Array) -> bool:
    """A picture of one colour."""
    return bool((picture == picture[:1, :1]).all())


def has_several(classes: Array) -> bool:
    """Whether there is more than one class, each where it cannot be overlooked."""
    counts = np.bincount(classes.ravel())
    return int(counts.max()) <= (1 - LEAST_SHOWN) * classes.size


def drawn_of_another(
    pictures: Sequence[tuple[str, Array]], samples: Mapping[str, Sequence[Array]]
) -> tuple[int, list[str]]:
    """How many pictures are named after an image whose samples are known, and the names of those that show
    the classes of another image, and not their own."""
    looked = 0
    others = []
    for name, picture in pictures:
        colours = colours_of(picture)
        if colours is None or name not in samples:
            continue
        looked += 1
        own = shown_by(colours, samples[name], picture)
        best = max((shown_by(colours, given, picture) for given in samples.values()), default=0.0)
        if best >= EXPLAINED and best > own + BETTER:
            others.append(name)
    return looked, others


def shown_by(colours: Array, samples: Sequence[Array], picture: Array) -> float:
    """How much of a picture the best of these samples explains."""
    return max(explained(colours, mask) for mask in _masks(samples, picture.shape[:2]))
