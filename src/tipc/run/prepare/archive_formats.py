"""Tar (plain or compressed) and zip, read the same way: members with their kind, and the bytes of a file.

Whatever is wrong with an archive, and with whichever of six formats, is one exception: ``Unreadable``.
"""

from __future__ import annotations

import errno
import lzma
import stat
import struct
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from tipc.message import Message, wording

_BLOCK = 512
_PADDING = 1024
_PIECE = 1 << 20
_LONGEST_LINK = 4096
_LATEST = 2.0**33  # seconds; what is later is no time of a file
# What the libraries raise for bytes that make no sense.
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, struct.error),
    *(ValueError, IndexError, OverflowError, MemoryError),
)


class Unreadable(Exception):
    """An archive that is broken, or that uses what cannot be read here; the message lacks its name."""

    def __init__(self, why: Message) -> None:
        super().__init__(why)
        self.why = why


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except (NotImplementedError, RuntimeError) as error:  # a method or an encryption that is not supported
        raise Unreadable(wording("cannot be read here ({error})", error=_first_line(error))) from error
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise
        # Some of the libraries know no better name for bytes that make no sense, or a place before the start.
        if error.errno in (None, errno.EINVAL):
            raise Unreadable(wording("is broken or cut off ({error})", error=_first_line(error))) from error
        raise Unreadable(wording("cannot be read ({error})", error=error.strerror)) from error
    except _BROKEN as error:
        raise Unreadable(wording("is broken or cut off ({error})", error=_first_line(error))) from error


def _first_line(error: Exception) -> str:
    """What an error says; some go on with a list of all that was tried."""
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0].rstrip(":")


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
    """An open archive; every method may raise ``Unreadable``."""

    def members(self) -> Iterator[Member]:
        """Every entry, in order."""

    def verify_end(self) -> None:
        """Raise if the archive stops before its end mark. Called after ``members``."""

    def content(self, member: Member) -> Iterator[bytes]:
        """The bytes of a file, at most as many as it should have, in pieces."""

    def close(self) -> None:
        """Let go of the file."""


def open_archive(path: Path) -> Reader:
    """An archive of whatever format; Unreadable if it is none."""
    with _reading():
        if zipfile.is_zipfile(path):
            return ZipReader(path)
        return TarReader(path)


class TarReader:
    """A tar, plain or compressed."""

    def __init__(self, path: Path) -> None:
        self._tar = tarfile.open(path, "r:*")  # noqa: SIM115 - closed by ``close``

    def members(self) -> Iterator[Member]:
        """Every entry, in order."""
        with _reading():
            for info in self._tar:
                size = 0
                if info.isreg():
                    size = info.size
                yield Member(
                    name=info.name,
                    kind=_tar_kind(info),
                    size=size,
                    mtime=_time(info.mtime),
                    executable=bool(info.mode & stat.S_IXUSR),
                    link=info.linkname,
                    entry=info,
                )

    def verify_end(self) -> None:
        """A whole tar ends with a block of zeros; python's reader does not ask for it."""
        with _reading():
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

    def content(self, member: Member) -> Iterator[bytes]:
        """The bytes of a file, at most as many as it should have, in pieces."""
        with _reading():
            if not isinstance(member.entry, tarfile.TarInfo):
                return
            source = self._tar.extractfile(member.entry)
            if source is not None:
                yield from _pieces(source, member.size)

    def close(self) -> None:
        """Let go of the file."""
        self._tar.close()


class ZipReader:
    """A zip. Its directory is at its end, so that one that is cut off cannot be opened at all."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path)

    def members(self) -> Iterator[Member]:
        """Every entry, in order."""
        with _reading():
            for info in self._zip.infolist():
                mode = info.external_attr >> 16
                kind = _zip_kind(info, mode)
                size, link = 0, ""
                if kind == "file":
                    size = info.file_size
                elif kind == "link":
                    link = self._zip.read(info).decode("utf-8", "replace")
                yield Member(
                    name=info.filename,
                    kind=kind,
                    size=size,
                    mtime=_time(time.mktime((*info.date_time, 0, 0, -1))),
                    executable=bool(mode & stat.S_IXUSR),
                    link=link,
                    entry=info,
                )

    def verify_end(self) -> None:
        """Opening it has done that."""

    def content(self, member: Member) -> Iterator[bytes]:
        """The bytes of a file, at most as many as it should have, in pieces."""
        with _reading():
            if isinstance(member.entry, zipfile.ZipInfo):
                with self._zip.open(member.entry) as source:
                    yield from _pieces(source, member.size)

    def close(self) -> None:
        """Let go of the file."""
        self._zip.close()


def _pieces(source: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left and (piece := source.read(min(left, _PIECE))):
        left -= len(piece)
        yield piece


def _time(seconds: float) -> float:
    """A time that a file can have; the beginning of time for any other, and for what is no number."""
    if 0 <= seconds < _LATEST:
        return float(seconds)
    return 0.0


def _tar_kind(info: tarfile.TarInfo) -> str:
    if info.isreg():
        return "file"
    if info.isdir():
        return "directory"
    if info.issym():
        return "link"
    if info.islnk():
        return "copy"
    return "other"


def _zip_kind(info: zipfile.ZipInfo, mode: int) -> str:
    if info.filename.endswith("/"):
        return "directory"
    if stat.S_ISLNK(mode) and info.file_size <= _LONGEST_LINK:
        return "link"
    if stat.S_IFMT(mode) in (0, stat.S_IFREG):
        return "file"
    return "other"
