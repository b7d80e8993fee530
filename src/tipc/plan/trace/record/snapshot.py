"""A repository as it is now: every name and every small file, read once, and laid out in a sandbox as often
as its script is run there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

# Not needed to read a config: histories, environments, caches, what tipc keeps, and what holds secrets.
_SKIPPED = """
    .git .hg .svn .tipc __pycache__ node_modules .venv venv .mypy_cache .tox
    .ssh .gnupg .aws .azure .kube .docker .netrc .pypirc .git-credentials
"""
SKIPPED = frozenset(_SKIPPED.split())
WHOLE = 256 * 1024  # larger files keep their name and size, and hold only zeros
MOST_ENTRIES = 60_000
MOST_BYTES = 512 * 1024 * 1024
FILE, DIRECTORY, LINK = "file", "directory", "link"


class TreeEntry(NamedTuple):
    """One name of the repository."""

    path: str  # relative to its root
    kind: str
    mode: int
    size: int
    changed: int  # nanoseconds
    link: str = ""  # where a link leads, as it is written
    offset: int = -1  # of a file's bytes in the snapshot; -1: they are zeros


class Listing(NamedTuple):
    """The names of a repository, and how many were left out because there are too many."""

    entries: tuple[TreeEntry, ...]
    left_out: int

    def digest(self) -> str:
        """Changes with any name, size, mode, link or time of change."""
        import hashlib

        lines = (repr(entry) for entry in self.entries)
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()

    def names(self) -> frozenset[str]:
        """The relative paths."""
        return frozenset(entry.path for entry in self.entries)


def list_repository(root: str) -> Listing:
    """Every name below ``root`` in a fixed order, directories before what they hold. No link is followed."""
    entries: list[TreeEntry] = []
    left_out = 0
    pending = [""]
    while pending:
        directory = pending.pop()
        for entry in _scanned(f"{root}/{directory}", directory):
            if len(entries) >= MOST_ENTRIES:
                left_out += 1
                continue
            entries.append(entry)
            if entry.kind == DIRECTORY:
                pending.append(entry.path)
    return Listing(tuple(entries), left_out)


def _scanned(place: str, directory: str) -> Iterator[TreeEntry]:
    """The entries of one directory; what cannot be read, and pipes and devices, are left out."""
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return
    for name in names:
        if name in SKIPPED:
            continue
        path = f"{directory}/{name}" if directory else name
        with suppress(OSError):
            status = os.lstat(f"{place}/{name}")
            mode = stat.S_IMODE(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                yield TreeEntry(path, LINK, mode, 0, status.st_mtime_ns, os.readlink(f"{place}/{name}"))
            elif stat.S_ISDIR(status.st_mode):
                yield TreeEntry(path, DIRECTORY, mode, 0, 0)
            elif stat.S_ISREG(status.st_mode):
                yield TreeEntry(path, FILE, mode, status.st_size, status.st_mtime_ns)


def read_contents(root: str, listing: Listing) -> tuple[int, list[TreeEntry]]:
    """A file in memory with the bytes of the small files one after another, and the entries with their
    places in it. A file that cannot be read is left out, as the script could not read it either."""
    memory = os.memfd_create("repository")
    entries = []
    end = 0
    for entry in listing.entries:
        if entry.kind != FILE or entry.size > WHOLE or end + entry.size > MOST_BYTES:
            entries.append(entry)
            continue
        try:
            content = _content(f"{root}/{entry.path}")
        except OSError:
            continue
        entries.append(entry._replace(offset=end, size=len(content)))
        end += os.write(memory, content)
    return memory, entries


def _content(path: str) -> bytes:
    # Neither a link nor a pipe that has come since it was listed.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(descriptor, WHOLE)
    finally:
        os.close(descriptor)


def lay_out(memory: int, entries: list[TreeEntry], root: str) -> None:
    """Make the entries below ``root``, which is empty; nothing but these entries is there yet."""
    os.makedirs(root, exist_ok=True)
    for entry in entries:
        place = f"{root}/{entry.path}"
        if entry.kind == DIRECTORY:
            os.mkdir(place)
        elif entry.kind == LINK:
            os.symlink(entry.link, place)
        else:
            _lay_out_file(memory, entry, place)


def _lay_out_file(memory: int, entry: TreeEntry, place: str) -> None:
    mode = (entry.mode & 0o777) | stat.S_IRUSR | stat.S_IWUSR
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        if entry.offset < 0:
            os.truncate(descriptor, entry.size)
        elif entry.size:
            os.write(descriptor, os.pread(memory, entry.size, entry.offset))
    finally:
        os.close(descriptor)
