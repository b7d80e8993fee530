"""What a network was fed against the image files that were opened for it: order of channels, scale, side up.

Evaluation and deployment may open other files. What each does to its files can be told apart all the same: a
fed picture is like one of the files, in a straight line by channel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MOST = 4  # pictures that are looked at
FILES = 16  # files that each may be of
SIDE = 96  # pictures are thinned to at most this
ALIKE = 0.9  # correlation of a fed picture with its file
COLOURED = 0.5  # correlation of differences between channels: less is grey, and tells no order
STRAIGHT = 0.8  # share of a channel that a straight line must explain before its slope tells anything
OTHER = 0.25  # by which two slopes, or offsets as shares of the range, must differ to be others
OWNED = 16  # pictures whose files are looked for
CLEARLY = 0.1  # by which a file must be more like a picture than every other one
FLIPS = {"": (1, 1), "upside down": (-1, 1), "mirrored": (1, -1), "turned around": (-1, -1)}


@dataclass(frozen=True)
class Fed:
    """What was done to the files."""

    pictures: int = 0  # that are like a file
    order: str = ""  # "RGB", "BGR"; empty: it does not show
    flip: str = ""  # of FLIPS
    slope: float = 0.0  # fed = slope · file + offset, file in 0 to 1; 0: it does not show
    offset: float = 0.0

    @property
    def line(self) -> str:
        """The straight line in words."""
        return f"{self.slope:.3g}·x{self.offset:+.3g}"


def what_was_fed(pictures: Array, files: Mapping[str, Array]) -> Fed:
    """Pictures (batch, 3, height, width) against files (height, width, 3)."""
    if pictures.ndim != 4 or pictures.shape[1] != 3:
        return Fed()
    fed = [thinned(picture) for picture in pictures[:MOST]]
    if not fed:
        return Fed()
    # All pictures of a batch have one size: the files are cut for it once.
    height, width = fed[0].shape[1:]
    cuts = [cut for file in list(files.values())[:FILES] for cut in geometries(file, height, width)]
    seen = [one for picture in fed for one in best_file(picture, cuts)]
    if not seen:
        return Fed()
    orders = [order_of(picture, file) for picture, file, _flip in seen]
    flips = [flip for _picture, _file, flip in seen]
    order = agreed(orders)
    slopes = [line for picture, file, _flip in seen for line in [straight(picture, file, order)] if line]
    slope, offset = np.median(np.array(slopes), 0) if slopes else (0.0, 0.0)
    return Fed(len(seen), order, agreed(flips), float(slope), float(offset))


def owners(pictures: Array, files: Mapping[str, Array]) -> list[str]:
    """For each of the first pictures the file that it was made of; empty: it is like none, or like several
    nearly as much."""
    if pictures.ndim != 4 or pictures.shape[1] != 3 or not len(pictures) or len(files) < 2:
        return []
    height, width = thinned(pictures[0]).shape[1:]
    cuts = {path: list(geometries(file, height, width)) for path, file in list(files.items())[:FILES]}
    found = []
    for picture in pictures[:OWNED]:
        fed = thinned(picture)
        likeness = sorted((best_likeness(fed, own), path) for path, own in cuts.items())
        (second, _), (best, path) = likeness[-2:]
        found.append(path if best >= ALIKE and best - second >= CLEARLY else "")
    return found


def best_likeness(fed: Array, cuts: Sequence[Array]) -> float:
    """How like a fed picture is to a file, cut and turned in the way that suits it best."""
    best = -1.0
    for cut in cuts:
        for down, right in FLIPS.values():
            for channels in (1, -1):
                turned = cut[::channels, ::down, ::right]
                best = max(best, correlation(centred(turned), centred(fed)))
    return best


def centred(picture: Array) -> Array:
    """Without the mean of each channel: normalising may have changed it."""
    return np.asarray(picture - picture.mean((1, 2), keepdims=True))


def thinned(picture: Array) -> Array:
    """A picture (3, height, width) as floats of at most SIDE."""
    stride = max(1, -(-max(picture.shape[1:]) // SIDE))
    return picture[:, ::stride, ::stride].astype(np.float64)


def best_file(fed: Array, cuts: Sequence[Array]) -> Iterator[tuple[Array, Array, str]]:
    """The file that a fed picture is of, as it was cut, and how it was turned; nothing: it is like none."""
    grey = fed.mean(0)
    best: tuple[float, Array, str] | None = None
    for cut in cuts:
        for flip, (down, right) in FLIPS.items():
            turned = cut[:, ::down, ::right]
            likeness = correlation(turned.mean(0), grey)
            if best is None or likeness > best[0] + 1e-6:
                best = (likeness, turned, flip)
    if best is not None and best[0] >= ALIKE:
        yield fed, best[1], best[2]


def geometries(file: Array, height: int, width: int) -> Iterator[Array]:
    """A file (height, width, 3) as (3, height, width) in 0 to 1: as a whole, or the middle of it."""
    image = file.astype(np.float64).transpose(2, 0, 1) / 255
    rows, columns = image.shape[1:]
    yield sampled(image, 0, rows, 0, columns, height, width)
    short = min(rows / height, columns / width)
    for share in (1.0, 224 / 256):  # the largest middle part of this form, and seven eighths of it
        tall, wide = height * short * share, width * short * share
        top, left = (rows - tall) / 2, (columns - wide) / 2
        yield sampled(image, top, top + tall, left, left + wide, height, width)


def sampled(
    image: Array, top: float, bottom: float, left: float, right: float, height: int, width: int
) -> Array:
    """A part of an image at other sizes: means over blocks where it becomes smaller."""
    factor = max(1, int(min((bottom - top) / height, (right - left) / width)))
    down = top + (np.arange(height * factor) + 0.5) * (bottom - top) / (height * factor)
    across = left + (np.arange(width * factor) + 0.5) * (right - left) / (width * factor)
    rows = np.clip(down.astype(int), 0, image.shape[1] - 1)
    columns = np.clip(across.astype(int), 0, image.shape[2] - 1)
    part = image[:, rows][:, :, columns]
    return np.asarray(part.reshape(3, height, factor, width, factor).mean((2, 4)))


def correlation(one: Array, other: Array) -> float:
    """Of two arrays of one shape; 0 where one of them is constant."""
    first, second = one.ravel() - one.mean(), other.ravel() - other.mean()
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / size if size > 1e-12 else 0.0


def order_of(fed: Array, file: Array) -> str:
    """In which order the channels were fed; empty: it does not show."""
    like = correlation(fed[0] - fed[2], file[0] - file[2])
    if like >= COLOURED:
        return "RGB"
    return "BGR" if like <= -COLOURED else ""


def straight(fed: Array, file: Array, order: str) -> tuple[float, float] | None:
    """The straight line from file to fed, a mean over the channels; None: none explains it."""
    against = file[::-1] if order == "BGR" else file
    lines = []
    for channel in range(3):
        x, y = against[channel].ravel(), fed[channel].ravel()
        if correlation(x, y) ** 2 < STRAIGHT:
            return None
        # By the spreads: resizing in another way makes noise, and a fit would be flatter for it.
        slope = float(y.std() / x.std())
        lines.append((slope, float(y.mean() - slope * x.mean())))
    together = np.mean(np.array(lines), 0)
    return float(together[0]), float(together[1])


def agreed(words: list[str]) -> str:
    """The word that all but the empty ones say; empty where they differ."""
    told = {word for word in words if word}
    return told.pop() if len(told) == 1 else ""


def difference(evaluated: Fed, deployed: Fed) -> str:
    """What the deployment does otherwise than the evaluation, in words; empty: nothing that shows."""
    if evaluated.order and deployed.order and evaluated.order != deployed.order:
        return f"its channels are in the order {deployed.order}, the evaluation's in {evaluated.order}"
    if evaluated.pictures and deployed.pictures and evaluated.flip != deployed.flip:
        turned = deployed.flip or "upright"
        return f"it feeds its images {turned}, the evaluation {evaluated.flip or 'upright'}"
    if not evaluated.slope or not deployed.slope:
        return ""
    ratio = deployed.slope / evaluated.slope
    offset = (deployed.offset - evaluated.offset) / abs(evaluated.slope)
    if not 1 - OTHER <= ratio <= 1 + OTHER or abs(offset) > OTHER:
        return f"another mean or scale: it feeds {deployed.line}, the evaluation {evaluated.line}"
    return ""
