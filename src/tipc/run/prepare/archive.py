"""Unpacking an archive that nobody has checked: all of it, inside its target, or nothing.

Refused: a path or a link out of the target, a path through a link, devices and pipes, more bytes or files
than allowed, an archive that is cut off. It is unpacked beside the target and moved into place when whole.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath

from tipc.errors import Message, UsageError, wording
from tipc.run.prepare.archive_formats import Member, Reader, Unreadable, open_archive
from tipc.run.record.disk import disk_problem

MAX_BYTES = 64 << 30
MAX_FILES = 2_000_000
# A file and a directory of the same name, a name that is too long, a link to nothing at all.
IMPOSSIBLE_NAMES = (
    *(errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL),
    *(errno.EILSEQ, errno.ENOENT),
)


def unpack(archive: Path, target: Path, *, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES) -> bool:
    """Unpack into ``target``; False if everything is there already. UsageError: nothing was unpacked."""
    try:
        with closing(open_archive(archive)) as reader:
            members = list(_checked(archive, reader.members(), max_bytes, max_files))
            reader.verify_end()
            if all(_is_there(target, member) for member in members):
                return False
            _unpack_beside(archive, reader, members, target)
    except Unreadable as error:
        raise _refusal(archive, error.why) from error
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not archive.exists():
            raise UsageError("there is no such archive", path=str(archive)) from error
        raise disk_problem(error, target) from error
    return True


def _check_name(archive: Path, member: Member, path: PurePosixPath) -> None:
    if not path.parts and member.kind != "directory":
        raise _refusal(archive, wording("holds a file without a name"))
    if path.is_absolute() or ".." in path.parts or "\\" in member.name or "\0" in member.name:
        raise _refusal(archive, wording("holds a path out of its target: {name!r}", name=member.name))
    if member.kind == "other":
        raise _refusal(archive, wording("holds a device or a pipe: {name!r}", name=member.name))


def _link_out(member: Member) -> Message:
    return wording("holds a link out of its target: {name!r} -> {link!r}", name=member.name, link=member.link)


def _checked(archive: Path, members: Iterator[Member], max_bytes: int, max_files: int) -> Iterator[Member]:
    """The members, each looked at before anything is written."""
    links: set[PurePosixPath] = set()
    total = 0
    for number, member in enumerate(members, 1):
        path = PurePosixPath(member.name)
        _check_name(archive, member, path)
        if any(parent in links for parent in path.parents):
            raise _refusal(archive, wording("holds a path through a link: {name!r}", name=member.name))
        if member.kind == "link":
            leads_to = PurePosixPath(os.path.normpath(path.parent / member.link))
            if leads_to.is_absolute() or ".." in leads_to.parts:
                raise _refusal(archive, _link_out(member))
            links.add(path)
        if member.kind == "copy" and (
            member.link.startswith("/") or ".." in PurePosixPath(member.link).parts
        ):
            raise _refusal(archive, _link_out(member))
        total += member.size
        if total > max_bytes:
            raise _refusal(archive, wording("unpacks to more than {limit:,} bytes", limit=max_bytes))
        if number > max_files:
            raise _refusal(archive, wording("holds more than {limit:,} files", limit=max_files))
        yield member


def _unpack_beside(archive: Path, reader: Reader, members: list[Member], target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(target).free
    needed = sum(member.size for member in members)
    if needed > free:
        why = wording(
            "needs {needed:,} bytes, and {target} has room for {free:,}",
            needed=needed,
            target=str(target),
            free=free,
        )
        raise _refusal(archive, why)
    part = Path(tempfile.mkdtemp(prefix=f".{archive.name}.", suffix=".part", dir=target))
    try:
        for member in members:
            _write_or_refuse(archive, reader, member, part)
        for member in members:
            if member.kind == "link" and not _leads_inside(part, part / member.name):
                raise _refusal(archive, _link_out(member))
        for entry in sorted(part.iterdir()):
            _replace(entry, target / entry.name, part)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _write_or_refuse(archive: Path, reader: Reader, member: Member, root: Path) -> None:
    """Write a member; a name that no file can have there is the archive's fault, not the disk's."""
    try:
        _write(archive, reader, member, root)
    except (UnicodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in IMPOSSIBLE_NAMES:
            raise
        why = wording("holds a name that no file can have: {name!r}", name=member.name)
        raise _refusal(archive, why) from error


def _write(archive: Path, reader: Reader, member: Member, root: Path) -> None:
    place = root / member.name
    if member.kind == "directory":
        place.mkdir(parents=True, exist_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(place) and not place.is_dir():
        place.unlink()
    if member.kind == "link":
        place.symlink_to(member.link)
        return
    if member.kind == "copy":
        if not (root / member.link).is_file() or (root / member.link).is_symlink():
            why = wording("holds a link to nothing: {name!r} -> {link!r}", name=member.name, link=member.link)
            raise _refusal(archive, why)
        shutil.copy2(root / member.link, place)
        return
    written = 0
    with open(place, "xb") as out:
        for piece in reader.content(member):
            written += out.write(piece)
    if written < member.size:
        raise _refusal(archive, wording("is cut off in {name!r}", name=member.name))
    os.chmod(place, 0o755 if member.executable else 0o644)
    os.utime(place, (member.mtime, member.mtime))


def _replace(entry: Path, place: Path, part: Path) -> None:
    """Put one top entry into its place. What was there goes first out of the way, then away."""
    if entry.is_dir() and not entry.is_symlink() and place.is_dir() and not place.is_symlink():
        for below in sorted(entry.iterdir()):
            _replace(below, place / below.name, part)
        return
    if place.is_dir() and not place.is_symlink():
        os.rename(place, Path(tempfile.mkdtemp(dir=part)) / place.name)
    os.replace(entry, place)


def _is_there(target: Path, member: Member) -> bool:
    place = target / member.name
    if member.kind == "directory":
        return place.is_dir()
    if member.kind == "link":
        return place.is_symlink() and os.readlink(place) == member.link
    if member.kind == "copy":
        return place.is_file()
    try:
        info = place.lstat()
    except (OSError, ValueError):
        return False
    return (
        stat.S_ISREG(info.st_mode) and info.st_size == member.size and abs(info.st_mtime - member.mtime) < 2
    )


def _leads_inside(root: Path, link: Path) -> bool:
    return Path(os.path.realpath(link)).is_relative_to(os.path.realpath(root))


def _refusal(archive: Path, why: Message) -> UsageError:
    return UsageError(wording("{why}; nothing was unpacked", why=why), path=str(archive))
