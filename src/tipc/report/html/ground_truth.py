"""The right answer for an input: from the lists of the data that it lies in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")
LARGEST = 1 << 20  # bytes of a list
FOLDERS = 3  # the picture's own, and those above it
LISTS = 20  # of one folder
LABEL = 40  # characters


@dataclass(frozen=True)
class Truth:
    """What the data say about an input: a picture, a word or a number, or nothing."""

    picture: Path | None = None
    label: str = ""


def truth_of(repo: Path, given: Path) -> Truth:
    """The second word of the line that names the picture, in a list beside it or above it."""
    for folder in _folders(repo, given):
        for path in _lists(folder):
            word = _second_word(path, folder, given)
            if not word:
                continue
            picture = folder / word
            if picture.suffix.lower() not in SUFFIXES:
                return Truth(label=word[:LABEL])
            if picture.resolve().is_relative_to(repo.resolve()) and picture.is_file():
                return Truth(picture)
            return Truth()
    return Truth()


def _folders(repo: Path, given: Path) -> Iterator[Path]:
    """From the picture upwards, inside of the repository."""
    top = repo.resolve()
    for folder in list(given.resolve().parents)[:FOLDERS]:
        if not folder.is_relative_to(top):
            return
        yield folder


def _lists(folder: Path) -> list[Path]:
    found = []
    try:
        for path in sorted(folder.glob("*.txt")):
            if path.is_file() and path.stat().st_size <= LARGEST:
                found.append(path)
    except OSError:
        return []
    return found[:LISTS]


def _second_word(path: Path, folder: Path, given: Path) -> str:
    try:
        rows = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    wanted = given.resolve()
    for row in rows:
        words = row.split()
        # By name first: to ask the disk about each line of a long list takes long.
        if len(words) == 2 and words[0].endswith(given.name) and (folder / words[0]).resolve() == wanted:
            return words[1]
    return ""
