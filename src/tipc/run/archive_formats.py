"""Tar (plain or compressed) and zip, read the same way: members with their kind, and the bytes of a file."""

from __future__ import annotations

import io
import stat
import tarfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

_BLOCK = 512
_PADDING = 1024


@dataclass(frozen=True)
class Member:
    """One entry of an archive."""

    name: str
    kind: str  # "file", "directory", "link", "copy" (a hard link) or "other": a device, a pipe
    size: int = 0
    mtime: float = 0.0
    executable: bool = False
    link: str = ""  # where a link leads, as it is written; for a copy, the member that it repeats
    entry: tarfile.TarInfo | zipfile.ZipInfo | None = field(default=None, repr=False)  # for ``content``


class Reader(Protocol):
    """An open archive."""

    def members(self) -> Iterator[Member]:
        """Every entry, in order."""

    def verify_end(self) -> None:
        """Raise if the archive stops before its end mark. Called after ``members``."""

    def content(self, member: Member) -> IO[bytes]:
        """The bytes of a file."""

    def close(self) -> None:
        """Let go of the file."""


def open_archive(path: Path) -> Reader:
    """An archive of whatever format; TarError if it is none."""
    return ZipReader(path) if zipfile.is_zipfile(path) else TarReader(path)


class TarReader:
    """A tar, plain or compressed."""

    def __init__(self, path: Path) -> None:
        self._tar = tarfile.open(path, "r:*")  # noqa: SIM115 - closed by ``close``

    def members(self) -> Iterator[Member]:
        """Every entry, in order."""
        for info in self._tar:
            yield Member(
                name=info.name,
                kind=_tar_kind(info),
                size=info.size if info.isreg() else 0,
                mtime=info.mtime,
                executable=bool(info.mode & stat.S_IXUSR),
                link=info.linkname,
                entry=info,
            )

    def verify_end(self) -> None:
        """A whole tar ends with a block of zeros; python's reader does not ask for it."""
        stream = self._tar.fileobj
        if stream is None:
            raise tarfile.ReadError("it is closed")
        stream.seek(self._tar.offset)
        if stream.read(_BLOCK) != bytes(_BLOCK):
            raise tarfile.ReadError("there is no end mark")
        for _ in range(_PADDING):  # to the end of a compressed stream, where its own check sum is
            if not stream.read(1 << 16):
                return
        raise tarfile.ReadError("much follows its end mark")

    def content(self, member: Member) -> IO[bytes]:
        """The bytes of a file."""
        source = self._tar.extractfile(member.entry) if isinstance(member.entry, tarfile.TarInfo) else None
        return source or io.BytesIO()

    def close(self) -> None:
        """Let go of the file."""
        self._tar.close()


class ZipReader:
    """A zip. Its directory is at its end, so that one that is cut off cannot be opened at all."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path)

    def members(self) -> Iterator[Member]:
        """Every entry, in order."""
        for info in self._zip.infolist():
            mode = info.external_attr >> 16
            kind = "directory" if info.is_dir() else _zip_kind(mode)
            yield Member(
                name=info.filename,
                kind=kind,
                size=info.file_size if kind == "file" else 0,
                mtime=time.mktime((*info.date_time, 0, 0, -1)),
                executable=bool(mode & stat.S_IXUSR),
                link=self._zip.read(info).decode("utf-8", "replace") if kind == "link" else "",
                entry=info,
            )

    def verify_end(self) -> None:
        """Opening it has done that."""

    def content(self, member: Member) -> IO[bytes]:
        """The bytes of a file."""
        return self._zip.open(member.entry) if isinstance(member.entry, zipfile.ZipInfo) else io.BytesIO()

    def close(self) -> None:
        """Let go of the file."""
        self._zip.close()


def _tar_kind(info: tarfile.TarInfo) -> str:
    if info.isreg():
        return "file"
    if info.isdir():
        return "directory"
    if info.issym():
        return "link"
    return "copy" if info.islnk() else "other"


def _zip_kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "link"
    return "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "other"
