"""Images of an evaluation that it did not look at, though nothing tells it to leave them out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from tipc.certify.evidence.lite_data import IMAGES
from tipc.command import Command
from tipc.run.record.step_facts import ProcessFacts

MOST = 1000  # images of a process that are known, and files of a folder that are looked at
OF_A_SAMPLE = 3  # files of one sample at most: a picture, its mask, a second view


def images_not_opened(process: ProcessFacts, of_training: Collection[str], argv: Sequence[str]) -> int:
    """How many images lie beside those that an evaluation opened and training did not open, either.

    None are counted where they are fewer than those that were opened, where a list of files was read, which
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
    if left < len(opened):
        return 0
    return left


def images_not_fed(process: ProcessFacts, samples: int) -> bool:
    """An evaluation opened far more images than it fed to the network."""
    return len(process.images) > OF_A_SAMPLE * max(samples, 1)


def images_in(folder: Path) -> list[str]:
    """The images of a folder; none where there are too many."""
    found = []
    try:
        for number, path in enumerate(folder.iterdir()):
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
