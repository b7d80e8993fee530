"""The small data set that a repository brings as an archive: read, never unpacked."""

from __future__ import annotations

import lzma
import struct
import tarfile
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from tipc.message import Message, wording

NAMES = ("lite_data.tar", "lite_data.tar.gz", "lite_data.tgz", "lite_data.zip")
PLACES = ("", "test_tipc", "test_images", "data", "deploy")
SIZE_LIMIT = 20 * 10**6  # the spec's 20 MB
IMAGE_LIMITS = (8, 16)  # the spec's images a split
UNPACKED_LIMIT = 2**30
MEMBERS_LIMIT = 100_000
LIST_LIMIT = 2**20
PIECE = 2**20
# What the standard library raises for an archive that is damaged, or packed in a way that it does not know.
UNREADABLE = (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, zlib.error, lzma.LZMAError, ValueError,
              RuntimeError, LookupError, OverflowError, struct.error)  # fmt: skip
IMAGES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff")
SPLITS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "test": "test",
}


@dataclass(frozen=True)
class Archive:
    """What lies in an archive, or why it cannot be read."""

    path: Path
    size: int
    error: str | Message = ""
    files: dict[str, int] = field(default_factory=dict)  # name as unpacked → bytes
    lists: dict[str, list[str]] = field(default_factory=dict)  # a *.txt list → its lines

    def folders(self) -> set[str]:
        """Every folder that unpacking makes."""
        found: set[str] = set()
        for name in self.files:
            found.update(map(PurePosixPath.as_posix, PurePosixPath(name).parents))
        return found

    def has(self, path: str) -> bool:
        """Unpacking makes this file or folder."""
        name = PurePosixPath(path.strip()).as_posix().removeprefix("./").rstrip("/")
        return name in self.files or name in self.folders()


def find_archive(repo: Path) -> Path | None:
    """The repository's archive, where the spec and the families put it."""
    for place in PLACES:
        for name in NAMES:
            if (repo / place / name).is_file():
                return repo / place / name
    return None


def read_archive(path: Path) -> Archive:
    """Read every byte, so that half a file shows; nothing is written anywhere."""
    size = path.stat().st_size
    if size > UNPACKED_LIMIT:
        large = wording("it is larger than {limit} MB, and was not read", limit=UNPACKED_LIMIT // 2**20)
        return Archive(path, size, error=large)
    try:
        if path.suffix == ".zip":
            entries = zip_entries(path)
        else:
            entries = tar_entries(path)
    except UNREADABLE as error:
        why = str(error) or type(error).__name__
        return Archive(path, size, error=wording("it cannot be unpacked: {error}", error=why))
    if not entries:
        return Archive(path, size, error=wording("it is empty"))
    files, lists = {}, {}
    for written, (length, text) in entries.items():
        name = PurePosixPath(written)
        if name.is_absolute() or ".." in name.parts:
            outside = wording("{file} would be unpacked outside the repository", file=written)
            return Archive(path, size, error=outside)
        files[name.as_posix()] = length
        if text:
            lists[name.as_posix()] = [line for line in text.splitlines() if line.strip()]
    return Archive(path, size, "", files, lists)


def tar_entries(path: Path) -> dict[str, tuple[int, str]]:
    entries: dict[str, tuple[int, str]] = {}
    total = 0
    with tarfile.open(path) as archive:
        for member in archive:
            if not member.isfile():
                continue
            total += member.size
            if total > UNPACKED_LIMIT or len(entries) >= MEMBERS_LIMIT:
                raise ValueError(
                    f"it unpacks to more than {UNPACKED_LIMIT // 2**20} MB or {MEMBERS_LIMIT} files"
                )
            stream = archive.extractfile(member)
            length, text = read_through(stream, member.name) if stream else (0, "")
            if length < member.size:
                raise EOFError(f"{member.name} is cut off after {length} of {member.size} bytes")
            entries[member.name] = (member.size, text)
        end = archive.offset
    if path.suffix == ".tar":
        with path.open("rb") as raw:
            head = raw.read(3)
            raw.seek(end)
            # A whole tar ends with blocks of zeros; python reads one that was cut between two files as
            # complete.
            if head[:2] != b"\x1f\x8b" and head != b"BZh" and len(raw.read(512)) < 512:
                raise EOFError("it is cut off: the end-of-archive block is missing")
    return entries


def zip_entries(path: Path) -> dict[str, tuple[int, str]]:
    entries: dict[str, tuple[int, str]] = {}
    with zipfile.ZipFile(path) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        if sum(info.file_size for info in infos) > UNPACKED_LIMIT or len(infos) > MEMBERS_LIMIT:
            raise ValueError(f"it unpacks to more than {UNPACKED_LIMIT // 2**20} MB or {MEMBERS_LIMIT} files")
        for info in infos:
            with archive.open(info) as stream:
                entries[info.filename] = (info.file_size, read_through(stream, info.filename)[1])
    return entries


def read_through(stream: IO[bytes], name: str) -> tuple[int, str]:
    """How many bytes a member has, and the text of a list file ("" of any other): never all at once."""
    length = 0
    kept = b""
    while piece := stream.read(PIECE):
        length += len(piece)
        if name.endswith(".txt") and length <= LIST_LIMIT:
            kept += piece
    if length > LIST_LIMIT:
        return length, ""
    return length, kept.decode("utf-8", "replace")


def split_of(name: str) -> str:
    """The split that a list or a folder is of, by its name: "train", "val", "test" or ""."""
    for word in PurePosixPath(name).stem.lower().replace("-", "_").split("_"):
        if word in SPLITS:
            return SPLITS[word]
    return ""


def splits(archive: Archive) -> dict[str, int]:
    """Images in each split: entries of its list or, without lists, images below its folder. By list or
    folder."""
    found: dict[str, int] = {}
    for name, entries in archive.lists.items():
        if split_of(name) and names_images(entries):
            found[name] = len(entries)
    if found:
        return found
    for name in archive.files:
        if not _is_image(name):
            continue
        for parent in PurePosixPath(name).parents:
            if split_of(parent.name) and parent.name:
                found[parent.as_posix()] = found.get(parent.as_posix(), 0) + 1
                break
    return found


def _is_image(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in IMAGES


def names_images(entries: list[str]) -> bool:
    """Whether the first lines of a list name images."""
    words = " ".join(entries[:3]).split()
    return any(map(_is_image, words))


def dangling(archive: Archive) -> list[str]:
    """Entries of lists whose image is not in the archive, beside the list or below its root: "list:line
    image"."""
    missing = []
    for name, entries in archive.lists.items():
        if not split_of(name):
            continue
        for number, entry in enumerate(entries, 1):
            for word in entry.split():
                if _is_image(word) and not _is_there(archive, name, word):
                    missing.append(f"{name}:{number} {word}")
    return missing


def _is_there(archive: Archive, name: str, word: str) -> bool:
    """Whether an image that a list names is in the archive, seen from the list's folder or one above it."""
    for root in (*PurePosixPath(name).parents, PurePosixPath(".")):
        # Lists of ImageNet's kind name images relative to the split's own folder.
        for folder in ("", "train", "val", "test"):
            if (root / folder / word).as_posix() in archive.files:
                return True
    return False
