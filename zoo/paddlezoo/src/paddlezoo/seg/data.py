"""Images and masks as PaddleSeg lists them: one pair a line, `images/a.jpg masks/a.png`, relative to the
data's root."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import paddle
from PIL import Image

from paddlezoo import pictures, seeding
from paddlezoo.errors import ZooError, explain_os_error
from paddlezoo.seg.transforms import Sample, Transform, apply

IGNORED = 255


@dataclass(frozen=True)
class Pair:
    """An image, its mask if the list names one, and the line of the list that says so."""

    image: Path
    mask: Path | None
    where: str


def read_list(path: str | Path, root: str | Path, masks: bool = True) -> list[Pair]:
    """The pairs of a list file. A file that is not there is named with the list and the line."""
    path, root = Path(path), Path(root)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ZooError(f"cannot read the list {explain_os_error(error)}") from None
    except UnicodeDecodeError:
        raise ZooError(f"{path}: not a list: it is no UTF-8 text") from None
    pairs = []
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        where = f"{path}:{number}"
        if masks and len(words) < 2:
            raise ZooError(f"{where}: expected an image and a mask, found {line!r}")
        files = [root / word for word in words[: 2 if masks else 1]]
        for file in files:
            if not file.is_file():
                raise ZooError(f"{where}: no such file: {file}")
        pairs.append(Pair(files[0], files[1] if masks else None, where))
    if not pairs:
        raise ZooError(f"{path}: the list is empty")
    return pairs


def find_images(path: str | Path) -> list[Path]:
    """The images that a path means: itself, those in a folder (in the order of their names), or those of a
    list."""
    path = Path(path)
    if path.is_dir() or path.suffix.lower() in pictures.SUFFIXES:
        return pictures.find(path)
    return [pair.image for pair in read_list(path, path.parent, masks=False)]


def read_image(path: str | Path, where: str = "") -> np.ndarray:
    """An image as RGB; ZooError for one that cannot be decoded or is cut short, with its place in the
    list."""
    try:
        return np.asarray(pictures.read(path))
    except ZooError as error:
        raise ZooError(f"{where}: {error}" if where else str(error)) from None


def read_mask(path: str | Path, shape: tuple[int, int], num_classes: int, where: str) -> np.ndarray:
    """A mask of class numbers. It must fit the image, and each number must be a class or 255."""
    try:
        with Image.open(path) as image:
            mask = np.asarray(image)
    except (OSError, SyntaxError) as error:
        raise ZooError(f"{where}: {path}: not a mask that can be read ({error})") from None
    if mask.ndim != 2:
        raise ZooError(
            f"{where}: {path}: a mask has one channel of class numbers, this one has {mask.shape[-1]}"
        )
    if mask.shape != shape:
        own, other = f"{mask.shape[1]}x{mask.shape[0]}", f"{shape[1]}x{shape[0]}"
        raise ZooError(f"{where}: {path}: the mask is {own} and its image {other}")
    highest = int(np.where(mask == IGNORED, 0, mask).max(initial=0))
    if highest >= num_classes:
        raise ZooError(
            f"{where}: {path}: class {highest} is out of range: there are {num_classes} classes "
            f"(0 to {num_classes - 1}; {IGNORED} is ignored)"
        )
    return mask.astype(np.uint8)


class Pairs(paddle.io.Dataset):
    """The samples of a list, transformed. An index is (epoch, number): what is random depends on both and the
    seed."""

    def __init__(
        self, pairs: Sequence[Pair], transforms: Sequence[Transform], num_classes: int, seed: int = 0
    ):
        super().__init__()
        self.pairs = pairs
        self.transforms = transforms
        self.num_classes = num_classes
        self.seed = seed

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int | tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        epoch, number = index if isinstance(index, tuple) else (0, index)
        sample = self.read(number)
        sample = apply(self.transforms, sample, seeding.generator(self.seed, epoch, number))
        assert sample.mask is not None
        return sample.image, sample.mask.astype(np.int64)

    def read(self, number: int) -> Sample:
        """A sample as it lies on the disk."""
        pair = self.pairs[number]
        image = read_image(pair.image, pair.where)
        if pair.mask is None:
            return Sample(image)
        return Sample(image, read_mask(pair.mask, image.shape[:2], self.num_classes, pair.where))


class Iterations(paddle.io.BatchSampler):
    """The batches of iterations `first` … `last`: endless shuffled epochs, cut among the processes.

    What an iteration sees depends on the seed and its number alone, so a resumed training sees what an
    uninterrupted one sees.
    """

    def __init__(
        self, count: int, batch: int, first: int, last: int, seed: int, rank: int = 0, world: int = 1
    ):
        self.count, self.batch, self.first, self.last = count, batch, first, last
        self.seed, self.rank, self.world = seed, rank, world

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        epoch, order = -1, np.zeros(0, int)
        for iteration in range(self.first, self.last + 1):
            start = ((iteration - 1) * self.world + self.rank) * self.batch
            indices = []
            for position in range(start, start + self.batch):
                if position // self.count != epoch:
                    epoch = position // self.count
                    order = seeding.generator(self.seed, epoch).permutation(self.count)
                indices.append((epoch, int(order[position % self.count])))
            yield indices
