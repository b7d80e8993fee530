"""Images of an evaluation that it did not look at, though nothing tells it to leave them out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.evidence.lite_data import IMAGES
from tipc.command import Command
from tipc.run.artefacts import digest
from tipc.run.record.step_facts import ProcessFacts

MOST = 1000  # images of a process that are known, and files of a folder that are looked at
FOR_TRAINING = ("train", "training", "trainset", "train_images")
OF_A_SAMPLE = 3  # files of one sample at most: a picture, its mask, a second view


def images_not_opened(
    process: ProcessFacts, of_training: Collection[str], argv: Sequence[str], whole_batches_of: int = 0
) -> int:
    """How many images lie beside those that an evaluation opened and training did not open, either.

    None are counted where they are fewer than those that were opened (and no last batch that was dropped:
    ``whole_batches_of`` is the size of several that were all whole), where a list of files was read, which
    may have named some of them, where a loader's workers may have opened them unseen, or where the command
    has the number of images in it.
    """
    opened = set(process.images)
    if not opened or len(opened) >= MOST or process.lists or process.forks or process.started:
        return 0
    if str(len(opened)) in numbers_in(argv):
        return 0
    left = 0
    for folder in {Path(path).parent for path in opened}:
        for path in images_in(folder):
            left += path not in opened and path not in of_training
    if left < len(opened) and not 0 < left < whole_batches_of:
        return 0
    return left


def images_never_opened(process: ProcessFacts, argv: Sequence[str]) -> int:
    """How many images lie in the folders for training and beside those that a training opened.

    None are counted where they may have been left out on purpose or been opened unseen, as above.
    """
    opened = set(process.images)
    if not opened or len(opened) >= MOST or process.lists or process.forks or process.started:
        return 0
    left = 0
    for folder in {training_folder(Path(path)) or Path(path).parent for path in opened}:
        fed = 0
        others = 0
        for path in images_in(folder, below=True):
            fed += path in opened
            others += path not in opened
        if not says_how_many(argv, fed):
            left += others
    return left


def training_folder(path: Path) -> Path | None:
    """The folder above a file that is called as the one for training; None: there is none."""
    for parent in path.parents:
        if parent.name.lower() in FOR_TRAINING:
            return parent
    return None


def says_how_many(argv: Sequence[str], count: int) -> bool:
    """An option of a command has this value, other than the size of a batch or how long to train."""
    before = ""
    for word in argv:
        name, _, value = word.rpartition("=")
        about = (name or before).lower()
        if value == str(count) and not any(part in about for part in ("batch", "bs", "epoch", "iter")):
            return True
        before = word
    return False


def images_not_fed(process: ProcessFacts, samples: int) -> bool:
    """An evaluation opened far more images than it fed to the network."""
    return len(process.images) > OF_A_SAMPLE * max(samples, 1)


def images_instead(images: Sequence[str], different: int, samples: int) -> int:
    """How many different images were opened, where far fewer were fed and those again and again; else 0.

    A sample may have several files, a sampler repeats the last one to fill a batch, and an evaluation may go
    through its images twice.
    """
    if not different or different >= min(samples, len(images)):
        return 0
    opened = different_images(images)
    if different * OF_A_SAMPLE < opened or different * 2 < samples <= opened:
        return opened
    return 0


def different_images(paths: Iterable[str]) -> int:
    """How many of these files have different contents: of one folder and one kind, where most are."""
    groups: dict[tuple[Path, str], set[str]] = {}
    for name in paths:
        path = Path(name)
        if path.is_file():
            groups.setdefault((path.parent, path.suffix), set()).add(digest(path))
    return max(map(len, groups.values()), default=0)


def different_pictures(pictures: Iterable[NDArray[Any]]) -> int:
    """How many pictures there are that are no other one moved or turned: their numbers, wherever they
    stand."""
    alike: dict[tuple[str, int, int], list[NDArray[Any]]] = {}
    for picture in pictures:
        # The same numbers in another order have the same sum of bytes: only what shares it need be sorted.
        sum_of_bytes = int(np.ascontiguousarray(picture).view(np.uint8).sum(dtype=np.uint64))
        alike.setdefault((picture.dtype.str, picture.size, sum_of_bytes), []).append(picture)
    different = 0
    for group in alike.values():
        if len(group) == 1:
            different += 1
        else:
            different += len({np.sort(picture, axis=None).tobytes() for picture in group})
    return different


def images_in(folder: Path, *, below: bool = False) -> list[str]:
    """The images of a folder, or of all folders below it, too; none where there are too many files."""
    found = []
    pattern = "*"
    if below:
        pattern = "**/*"
    try:
        for number, path in enumerate(folder.glob(pattern)):
            if number > MOST:
                return []
            if path.suffix.lower() in IMAGES:
                found.append(str(path))
    except OSError:
        return []
    return found


def numbers_in(argv: Sequence[str]) -> set[str]:
    """The values of a command's options."""
    found = set()
    for word in Command(tuple(argv)).argv:
        found.add(word.rpartition("=")[2])
    return found
