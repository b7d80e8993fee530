"""Files of a run: written whole or not at all, with one message for a disk that cannot take them."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tipc.bounded import open_fresh
from tipc.errors import EnvironmentProblem, wording

FULL = (errno.ENOSPC, errno.EDQUOT)
GO_ON = "make room, then `tipc run --resume` goes on where this run stopped"
START_AGAIN = "make room, then start it again: nothing has run yet"


def disk_problem(error: OSError, path: Path, *, begun: bool = True) -> EnvironmentProblem:
    """The message for a disk that cannot be written. A run that has not begun cannot be resumed."""
    if error.errno not in FULL:
        return EnvironmentProblem(
            wording("cannot be written: {strerror}", strerror=error.strerror or error), path=str(path)
        )
    remedy = GO_ON if begun else START_AGAIN
    return EnvironmentProblem("no room left on the disk", path=str(path), remedy=remedy)


def parse_json(raw: bytes, record: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """The JSON of a file that may be damaged: ValueError for whatever tipc itself would not have written.

    Bytes that are no UTF-8 become surrogates, as in file names; other surrogates could not be written again.
    ``record`` may make something smaller of each object as soon as it is read.
    """
    has_escapes = b"\\u" in raw

    def hook(data: dict[str, Any]) -> Any:
        data = _share_texts(data)
        if record is None or has_escapes:
            return data
        return record(data)

    try:
        data = json.loads(
            raw.decode("utf-8", "surrogateescape"),
            parse_constant=_refuse_number,
            parse_float=_finite,
            object_hook=hook,
        )
        if has_escapes:
            json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return data


def _share_texts(data: dict[str, Any]) -> dict[str, Any]:
    """Keep equal texts once: the steps of a run say the same words thousands of times."""
    for name, value in data.items():
        if isinstance(value, str):
            data[name] = sys.intern(value)
        if isinstance(value, list):
            data[name] = [sys.intern(item) if isinstance(item, str) else item for item in value]
    return data


def _refuse_number(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large")
    return value


def write_json(path: Path, data: object) -> str:
    """Write a JSON file, all or nothing; its digest."""
    return write_text(path, json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def write_text(path: Path, text: str) -> str:
    """Write a file, all or nothing: a reader sees the old text or the new one. Returns its SHA-256."""
    return write_parts(path, [text])


def write_parts(path: Path, parts: Iterable[str]) -> str:
    """The same for a text that comes in parts."""
    digest = hashlib.sha256()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open_fresh(part) as file:
            for text in parts:
                raw = text.encode("utf-8", "surrogateescape")
                digest.update(raw)
                file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise disk_problem(error, path.parent) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return digest.hexdigest()
