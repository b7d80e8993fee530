"""What a step leaves behind, and whether it is really from this attempt.

Before an attempt, what lies where its artefacts belong is set aside, so that yesterday's file can neither be
taken for today's nor make a script think that its work is done. It is deleted when the step has passed, and
put back when the step left nothing in its place: nothing is lost.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from tipc.reasons import Reason, because

_BLOCK = 1 << 20
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True)
class StaleOutputs:
    """What was there before an attempt: files that were moved away, and stamps of those that could not be."""

    directory: Path
    moved: Mapping[Path, Path] = field(default_factory=dict)  # where it belongs → where it is kept
    stamps: Mapping[Path, Stamp] = field(default_factory=dict)


def move_stale_outputs(root: Path, produces: Sequence[str], directory: Path) -> StaleOutputs:
    """Move what an earlier attempt left at the places of ``produces`` into ``directory``.

    What cannot be moved (another disk, a directory) or may belong to another step (whatever a ``*`` matches)
    stays; its stamp tells later whether it is new.
    """
    moved: dict[Path, Path] = {}
    stamps: dict[Path, Stamp] = {}
    for choice in _choices(produces):
        for path in matches(root, choice):
            target = _free_name(directory, path.name)
            movable = not _is_pattern(choice) and not path.is_dir()
            if movable and _move(path, target):
                moved[path] = target
            elif path.exists():
                stamps[path] = _stamp(path)
    return StaleOutputs(directory, moved, stamps)


def settle(aside: StaleOutputs, *, passed: bool) -> None:
    """After the attempt: drop what was set aside if it passed, else put back what nothing has replaced."""
    if passed:
        shutil.rmtree(aside.directory, ignore_errors=True)
        return
    for place, kept in aside.moved.items():
        if not os.path.lexists(place) and os.path.lexists(kept):
            place.parent.mkdir(parents=True, exist_ok=True)
            os.rename(kept, place)
    if aside.directory.is_dir() and not any(aside.directory.iterdir()):
        aside.directory.rmdir()


def missing(root: Path, produces: Sequence[str], aside: StaleOutputs | None = None) -> Reason | None:
    """The first artefact that does not count, and why; None if each of them is there and new."""
    before = aside or StaleOutputs(Path())
    for item in produces:
        choices = item.split("|")
        if any(_is_new(path, before) for path in _matching(root, [item])):
            continue
        for choice in choices:
            if root / choice in before.moved or any(path.exists() for path in matches(root, choice)):
                return because("old-artefact", path=choice)
        return because("no-artefact", path=" | ".join(choices))
    return None


def digests(root: Path, produces: Sequence[str], aside: StaleOutputs) -> dict[str, str]:
    """SHA-256 of each artefact that is new, by its path from the root."""
    found = {}
    for path in _matching(root, produces):
        if _is_new(path, aside):
            found[os.path.relpath(path, root)] = digest(path)
    return found


def _matching(root: Path, produces: Sequence[str]) -> Iterator[Path]:
    """The files that any of the choices stands for, there or not."""
    for choice in _choices(produces):
        yield from matches(root, choice)


def matches(root: Path, choice: str) -> list[Path]:
    """The files that one name stands for: itself, there or not, or all that match its ``*``."""
    if not _is_pattern(choice):
        return [root / choice]
    folder, _, name = choice.rpartition("/")
    try:
        found = sorted(os.listdir(root / folder))
    except OSError:
        return []
    return [root / folder / entry for entry in found if fnmatchcase(entry, name)]


def digest(path: Path) -> str:
    """SHA-256 of a file's contents, or of the names and contents of all files below a directory."""
    total = hashlib.sha256()
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file():
                total.update(f"{file.relative_to(path)}\0{digest(file)}\n".encode("utf-8", "surrogateescape"))
        return total.hexdigest()
    with open(path, "rb") as stream:
        while block := stream.read(_BLOCK):
            total.update(block)
    return total.hexdigest()


def _choices(produces: Sequence[str]) -> list[str]:
    choices: list[str] = []
    for item in produces:
        choices += item.split("|")
    return choices


def _is_pattern(choice: str) -> bool:
    return "*" in choice.rpartition("/")[2]


def _is_new(path: Path, aside: StaleOutputs) -> bool:
    return path.exists() and aside.stamps.get(path) != _stamp(path)


def _stamp(path: Path) -> Stamp:
    """Changes whenever the file is written; of a directory, whenever anything below it is."""
    info = path.stat()
    newest, count, size = info.st_mtime_ns, 1, info.st_size
    if path.is_dir():
        for file in path.rglob("*"):
            below = file.lstat()
            newest, count, size = max(newest, below.st_mtime_ns), count + 1, size + below.st_size
    return info.st_ino, newest, count, size


def _move(path: Path, target: Path) -> bool:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.rename(path, target)
    except OSError:
        return False
    return True


def _free_name(directory: Path, name: str) -> Path:
    number = 0
    while os.path.lexists(directory / f"{number}-{name}"):
        number += 1
    return directory / f"{number}-{name}"
