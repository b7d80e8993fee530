"""Files of strangers, read whole: regular ones only, and only up to a size; and files beside theirs."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

LARGEST = 4 * 1024 * 1024  # no config, script or settings file of a repository comes near it
OF_A_RUN = 256 * 1024 * 1024  # no record of a run does, nor a line of one

Name = str | os.PathLike[str]


def open_regular(path: Name) -> BinaryIO:
    """A regular file, to be read; OSError for others: a pipe would be waited for, a device read for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))


def open_fresh(path: Name) -> BinaryIO:
    """A new file, to be written, whatever lay there: through a link one would write elsewhere."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    return open(path, "xb")


def read_bounded(path: Name, most: int = LARGEST) -> bytes:
    """All bytes of a regular file, in as much memory; OSError if they are more than ``most``."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(min(size, most) + 1)
        if size < len(data) <= most:  # its size says nothing, as below /proc, or it grows
            data += file.read(most + 1 - len(data))
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {_told(most)}", os.fspath(path))
    return data


def _told(most: int) -> str:
    if most < 1 << 20:
        return f"{most >> 10} KiB"
    return f"{most >> 20} MiB"


def read_bounded_text(path: Name, errors: str = "strict", most: int = LARGEST) -> str:
    """The same as text, in which every line ends with a newline alone."""
    text = read_bounded(path, most).decode("utf-8", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_beginning(path: Name, most: int) -> str:
    """The beginning of a text, however long that is; what is not UTF-8 is replaced."""
    with open_regular(path) as file:
        return file.read(most).decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def bounded_lines(path: Name, most: int = OF_A_RUN, *, altogether: int | None = None) -> Iterator[bytes]:
    """The lines of a regular file, however many; OSError if one of them is longer than ``most``, or if all
    are longer than that together where it is given."""
    total = 0
    with open_regular(path) as file:
        while line := file.readline(most + 1):
            total += len(line)
            if len(line) > most:
                raise OSError(errno.EFBIG, f"a line is longer than {_told(most)}", os.fspath(path))
            if altogether is not None and total > altogether:
                raise OSError(errno.EFBIG, f"it is larger than {_told(altogether)}", os.fspath(path))
            yield line
