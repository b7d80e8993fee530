"""The data folder: ``train_list.txt`` and ``val_list.txt``, or a folder a class below ``train/`` and
``val/``.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import paddle

from paddlezoo import distributed, pictures, seeding
from paddlezoo.cls.transforms import Transform
from paddlezoo.errors import ZooError, explain_os_error
from paddlezoo.loading import Loader

LABELS = "label_list.txt"


@dataclass(frozen=True)
class Split:
    """The images of one split with their class numbers, and the names of all classes."""

    paths: tuple[Path, ...]
    labels: tuple[int, ...]
    classes: tuple[str, ...]


def find(path: str | Path) -> Path:
    """The data folder. If it is missing and ``<folder>.tar`` is beside it, that is unpacked first."""
    folder = Path(path)
    archive = folder.with_name(folder.name + ".tar")
    if not folder.exists() and archive.is_file():
        _unpack(archive, folder)
    if not folder.is_dir():
        raise ZooError(f"{folder}: no such data folder: give --data-path, or run test_tipc/prepare.sh")
    return folder


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack beside the place and rename, so that processes that start together see all of it or none."""
    scratch = None
    try:
        scratch = tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.")
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        os.rename(os.path.join(scratch, folder.name), folder)
    except (OSError, tarfile.TarError) as error:
        if not folder.is_dir():  # else another process was faster
            reason = explain_os_error(error) if isinstance(error, OSError) else str(error)
            raise ZooError(f"cannot unpack {archive}: {reason}") from None
    finally:
        if scratch:
            shutil.rmtree(scratch, ignore_errors=True)


def read_split(folder: Path, name: str) -> Split:
    """The ``train`` or ``val`` split; ZooError if the folder holds none."""
    listed = folder / f"{name}_list.txt"
    if listed.is_file():
        return _from_list(folder, listed)
    below = folder / name
    classes = sorted(p.name for p in below.iterdir() if p.is_dir()) if below.is_dir() else []
    pairs = [(path, number) for number, each in enumerate(classes) for path in _images(below / each)]
    if not pairs:
        raise ZooError(f"{folder}: no {name} data: neither {listed.name} nor images in {name}/<class>/")
    return Split(tuple(p for p, _ in pairs), tuple(n for _, n in pairs), tuple(classes))


def _images(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix.lower() in pictures.SUFFIXES)


def _from_list(folder: Path, listed: Path) -> Split:
    paths, labels = [], []
    for number, line in enumerate(listed.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        name, _, label = line.strip().rpartition(" ")
        if not name or not label.isdigit():
            raise ZooError(f"{listed}:{number}: expected `path class-number`, found {line!r}")
        paths.append(folder / name)
        labels.append(int(label))
    if not paths:
        raise ZooError(f"{listed}: the list is empty")
    names = folder / LABELS
    classes = (
        names.read_text(encoding="utf-8").split("\n")
        if names.is_file()
        else [str(number) for number in range(max(labels) + 1)]
    )
    classes = [name.strip() for name in classes if name.strip()]
    if max(labels) >= len(classes):
        raise ZooError(f"{listed}: class number {max(labels)}, but {names} names {len(classes)} classes")
    return Split(tuple(paths), tuple(labels), tuple(classes))


class Images(paddle.io.Dataset):
    """(array, class number) of a split. ``epoch`` and ``seed`` make random crops repeatable."""

    def __init__(self, split: Split, transform: Transform, training: bool = False, seed: int = 0) -> None:
        super().__init__()
        self.split, self.transform, self.training, self.seed = split, transform, training, seed
        self.epoch = 0

    def __len__(self) -> int:
        return len(self.split.paths)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.int64]:
        image = pictures.read(self.split.paths[index])
        if self.training:
            array = self.transform.training(image, seeding.generator(self.seed, self.epoch, index))
        else:
            array = self.transform.evaluation(image)
        return array, np.int64(self.split.labels[index])


class Batches(paddle.io.BatchSampler):
    """Index batches of one process. Shuffled anew each epoch in training; every image once in evaluation."""

    def __init__(self, images: Images, batch_size: int) -> None:
        super().__init__(dataset=images, batch_size=batch_size)
        self._images, self._batch_size = images, batch_size

    def _own(self) -> np.ndarray:
        count, world = len(self._images), distributed.world_size()
        if not self._images.training:
            return np.arange(distributed.rank(), count, world)
        order = seeding.generator(self._images.seed, self._images.epoch).permutation(count)
        padded = np.resize(order, -(-count // world) * world)  # every process makes the same number of steps
        return padded[distributed.rank() :: world]

    def __iter__(self) -> Iterator[list[int]]:
        own = self._own()
        for start in range(0, len(own), self._batch_size):
            yield [int(index) for index in own[start : start + self._batch_size]]

    def __len__(self) -> int:
        return -(-len(self._own()) // self._batch_size)


def loader(images: Images, batch_size: int, workers: int = 0) -> Loader:
    """Batches of this process's share of the images."""
    return Loader(images, Batches(images, batch_size), workers)
