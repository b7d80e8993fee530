"""What a network was fed against the image files that were opened for it: order of channels, scale, side up.

Evaluation and deployment may open other files. What each does to its files can be told apart all the same: a
fed picture is like one of the files, in a straight line by channel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.message import Message, wording

Array = NDArray[Any]

MOST = 4  # pictures that are looked at
FILES = 16  # files that each may be of
SIDE = 96  # pictures are thinned to at most this
ALIKE = 0.9  # correlation of a fed picture with its file
COLOURED = 0.5  # correlation of differences between channels: less is grey, and tells no order
STRAIGHT = 0.8  # share of a channel that a straight line must explain before its slope tells anything
OTHER = 0.25  # by which two slopes, or offsets as shares of the range, must differ to be others
OWNED = 16  # pictures whose files are looked for
NOISE = 0.1  # correlation of neighbouring pixels: less is noise,
PICTURE = 0.5  # and more a picture
FAR = 3.0  # other images: a factor of the spread of a channel, or a distance of its mean in spreads
CLEARLY = 0.1  # by which a file must be more like a picture than every other one
UPRIGHT = "upright"
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
    cuts: list[Array] = []
    for file in list(files.values())[:FILES]:
        cuts += geometries(file, height, width)
    if not cuts:
        return Fed()
    greys = np.array([unit(cut.mean(0)).ravel() for cut in cuts])
    seen = [one for picture in fed for one in best_file(picture, cuts, greys)]
    if not seen:
        return Fed()
    orders = [order_of(picture, file) for picture, file, _flip in seen]
    flips = [flip for _picture, _file, flip in seen]
    order = agreed(orders)
    slopes = [line for picture, file, _flip in seen for line in [straight(picture, file, order)] if line]
    slope = offset = 0.0
    if slopes:
        slope, offset = median(one[0] for one in slopes), median(one[1] for one in slopes)
    return Fed(len(seen), order, agreed(flips), slope, offset)


def owners(pictures: Array, files: Mapping[str, Array]) -> list[str]:
    """For each of the first pictures the file that it was made of; empty: it is like none, or like several
    nearly as much."""
    if pictures.ndim != 4 or pictures.shape[1] != 3 or not len(pictures) or len(files) < 2:
        return []
    height, width = thinned(pictures[0]).shape[1:]
    names: list[str] = []  # of the file of each cut
    cuts: list[Array] = []
    for path, file in list(files.items())[:FILES]:
        for pixels in geometries(file, height, width):
            names.append(path)
            cuts.append(unit(centred(pixels)).ravel())
    table = np.array(cuts)
    found = []
    for picture in pictures[:OWNED]:
        likeness = (table @ turned_all_ways(thinned(picture))).max(1)
        by_file: dict[str, float] = {}
        for path, like in zip(names, likeness, strict=True):
            by_file[path] = max(float(like), by_file.get(path, -1.0))
        (_, second), (path, best) = sorted(by_file.items(), key=lambda one: (one[1], one[0]))[-2:]
        found.append(path if best >= ALIKE and best - second >= CLEARLY else "")
    return found


def turned_all_ways(picture: Array) -> Array:
    """A picture in every flip and order of channels, each as a column that is a unit."""
    fed = unit(centred(picture))
    ways = []
    for down, right in FLIPS.values():
        for channels in (1, -1):
            ways.append(fed[::channels, ::down, ::right].ravel())
    return np.array(ways).T


def centred(picture: Array) -> Array:
    """Without the mean of each channel: normalising may have changed it."""
    return np.asarray(picture - picture.mean((1, 2), keepdims=True))


def thinned(picture: Array) -> Array:
    """A picture (3, height, width) as floats of at most SIDE."""
    stride = max(1, -(-max(picture.shape[1:]) // SIDE))
    return picture[:, ::stride, ::stride].astype(np.float64)


def best_file(fed: Array, cuts: Sequence[Array], greys: Array) -> Iterator[tuple[Array, Array, str]]:
    """The file that a fed picture is of, as it was cut, and how it was turned; nothing: it is like none.

    ``greys`` has a row for each cut: its mean over the channels, as a unit."""
    grey = unit(fed.mean(0))
    # Turning a picture changes neither its mean nor its length: what was fed is turned just as well.
    ways = np.array([grey[::down, ::right].ravel() for down, right in FLIPS.values()])
    likeness = np.einsum("ij,kj->ik", greys, ways)  # as ``product``, of each row with each way
    best = float(likeness.max())
    if best < ALIKE:
        return
    cut, way = np.argwhere(likeness >= best - 1e-6)[0]
    flip = list(FLIPS)[way]
    down, right = FLIPS[flip]
    yield fed, cuts[cut][:, ::down, ::right], flip


def geometries(file: Array, height: int, width: int) -> Iterator[Array]:
    """A file (height, width, 3) as (3, height, width) in 0 to 1: as a whole, or the middle of it."""
    rows, columns = file.shape[:2]
    yield sampled(file, 0, rows, 0, columns, height, width)
    short = min(rows / height, columns / width)
    for share in (1.0, 224 / 256):  # the largest middle part of this form, and seven eighths of it
        tall, wide = height * short * share, width * short * share
        top, left = (rows - tall) / 2, (columns - wide) / 2
        yield sampled(file, top, top + tall, left, left + wide, height, width)


def sampled(
    file: Array, top: float, bottom: float, left: float, right: float, height: int, width: int
) -> Array:
    """A part of a file at another size, as ``geometries`` wants it: means over blocks where it becomes
    smaller."""
    factor = max(1, int(min((bottom - top) / height, (right - left) / width)))
    down = top + (np.arange(height * factor) + 0.5) * (bottom - top) / (height * factor)
    across = left + (np.arange(width * factor) + 0.5) * (right - left) / (width * factor)
    rows = np.clip(down.astype(int), 0, file.shape[0] - 1)
    columns = np.clip(across.astype(int), 0, file.shape[1] - 1)
    total = np.zeros((height, width, 3))
    for row in range(factor):  # sums of slices: much faster than a mean over two axes
        lines = file.take(rows[row::factor], 0)
        for column in range(factor):
            total += lines.take(columns[column::factor], 1)
    return np.ascontiguousarray((total / (255 * factor**2)).transpose(2, 0, 1))


def unit(picture: Array) -> Array:
    """Without its mean and of length 1, so that a product of two is their correlation; 0 for a constant."""
    moved = picture - picture.mean()
    length = product(moved.ravel(), moved.ravel()) ** 0.5
    return np.asarray(moved / length) if length > 1e-12 else np.zeros_like(moved)


def correlation(one: Array, other: Array) -> float:
    """Of two arrays of one shape; 0 where one of them is constant."""
    first, second = one.ravel() - one.mean(), other.ravel() - other.mean()
    size = (product(first, first) * product(second, second)) ** 0.5
    return product(first, second) / size if size > 1e-12 else 0.0


def product(one: Array, other: Array) -> float:
    """Of two vectors. Not by the threads of BLAS, which wait for each other longer than this takes."""
    return float(np.einsum("i,i->", one, other))


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


def neighbours_alike(pictures: Array) -> float:
    """The mean correlation of neighbouring pixels in pictures (batch, channels, height, width); not a
    number, which is below and above nothing, where all of them are constant."""
    values = []
    for picture in pictures[:MOST]:
        for channel in lively_part(picture)[:3].astype(np.float64):
            if np.ptp(channel) > 0:
                values.append(correlation(channel[:, 1:], channel[:, :-1]))
                values.append(correlation(channel[1:], channel[:-1]))
    return float(np.mean(values)) if values else math.nan


def lively_part(picture: Array) -> Array:
    """The middle of a picture, which is enough of a large one; all of it where only padding is there."""
    top, left = (max(0, (side - SIDE) // 2) for side in picture.shape[1:])
    middle = picture[:, top : top + SIDE, left : left + SIDE]
    if np.ptp(middle) > 0:
        return middle
    return picture


def not_of_images(
    pictures: Array, fed: Array, evaluated: Fed, deployed: Fed, *, shared: bool
) -> Message | None:
    """Why what an evaluation was fed cannot be of images, as what the deployment was fed is; None: it can.

    ``shared``: both opened the same files. Images that are noise themselves are fed as such, and a deployment
    that enlarges them makes them smoother."""
    of_its_files = len(pictures) > 0 and evaluated.pictures == min(len(pictures), MOST)
    one, other = neighbours_alike(pictures), neighbours_alike(fed)
    if abs(one) < NOISE and other > PICTURE and not of_its_files:
        return wording(
            "the evaluation was fed noise: neighbouring pixels correlate by {one:.2f}, in the deployment by "
            "{other:.2f}",
            one=one,
            other=other,
        )
    alike = deployed.pictures == min(len(fed), MOST)
    if shared and alike and not evaluated.pictures and pictures.shape[1:] == fed.shape[1:]:
        return wording(
            "nothing that the evaluation was fed is like a file that it opened; all that the deployment was "
            "fed is"
        )
    return None


def not_of_its_files(pictures: Array, fed: Array, evaluated: Fed, deployed: Fed) -> Message | None:
    """Why what a deployment was fed cannot be of the files that it and the evaluation opened; None: it can,
    or they are fed in another form."""
    alike = evaluated.pictures == min(len(pictures), MOST)
    if alike and not deployed.pictures and pictures.shape[1:] == fed.shape[1:]:
        return wording(
            "nothing that the deployment was fed is like a file that it opened; all that the evaluation was "
            "fed is"
        )
    return None


def by_channel(pictures: Array, fed: Array) -> Message:
    """Mean and spread of each channel of what an evaluation and a deployment were fed, in words.

    They are of other images, so that only figures that are far apart tell something: pixels up to 255 where
    the evaluation was fed what was normalised.
    """
    figures = [channel_figures(fed), channel_figures(pictures)]
    told = {"deployed": figures_text(*figures[0]), "evaluated": figures_text(*figures[1])}
    if are_far_apart(*figures):
        return wording(
            "other images, and by channel they are far apart: {deployed} deployed, {evaluated} evaluated",
            **told,
        )
    return wording(
        "other images, and by channel much the same: {deployed} deployed, {evaluated} evaluated", **told
    )


def channel_figures(batch: Array) -> tuple[Array, Array]:
    """Mean and spread of each channel."""
    values = batch.astype(np.float64)
    return values.mean((0, 2, 3)), values.std((0, 2, 3))


def figures_text(means: Array, spreads: Array) -> str:
    """`0.485±0.23, 0.456±0.22, 0.406±0.23`."""
    told = []
    for mean, spread in zip(means, spreads, strict=True):
        told.append(f"{mean:.3g}±{spread:.2g}")
    return ", ".join(told)


def are_far_apart(one: tuple[Array, Array], other: tuple[Array, Array]) -> bool:
    """Whether two batches can hardly be of pictures that were prepared in one way."""
    if one[0].shape != other[0].shape:
        return True
    smaller = np.maximum(np.minimum(one[1], other[1]), 1e-12)
    larger = np.maximum(one[1], other[1])
    apart = np.abs(one[0] - other[0])
    return bool((larger > FAR * smaller).any() or (apart > FAR * np.maximum(larger, 1e-12)).any())


def difference(evaluated: Fed, deployed: Fed) -> Message | None:
    """What the deployment does otherwise than the evaluation, in words; None: nothing that shows."""
    if evaluated.order and deployed.order and evaluated.order != deployed.order:
        return wording(
            "its channels are in the order {deployed}, the evaluation's in {evaluated}",
            deployed=deployed.order,
            evaluated=evaluated.order,
        )
    if evaluated.pictures and deployed.pictures and evaluated.flip != deployed.flip:
        return wording(
            "it feeds its images {deployed}, the evaluation {evaluated}",
            deployed=Message(deployed.flip or UPRIGHT),
            evaluated=Message(evaluated.flip or UPRIGHT),
        )
    if not evaluated.slope or not deployed.slope:
        return None
    ratio = deployed.slope / evaluated.slope
    offset = (deployed.offset - evaluated.offset) / abs(evaluated.slope)
    if not 1 - OTHER <= ratio <= 1 + OTHER or abs(offset) > OTHER:
        return wording(
            "another mean or scale: it feeds {deployed}, the evaluation {evaluated}",
            deployed=deployed.line,
            evaluated=evaluated.line,
        )
    return None
