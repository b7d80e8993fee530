"""Traces that need not be taken again: kept for the user, outside of every repository.

A key is made of all that a trace depends on: the scripts and the config by their content, every other name of
the repository by size, mode and time of change, the mode, the tracer itself. A repository can therefore not
bring a trace along, and a trace is never older than what it was taken from.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tipc.bounded import read_bounded
from tipc.message import EnglishText, message_from_json, message_to_json
from tipc.plan.trace.read.calls import Call
from tipc.plan.trace.record import stubs
from tipc.plan.trace.record.snapshot import FILE, Listing

if TYPE_CHECKING:
    from tipc.plan.trace.record.passes import Traced

MOST_TRACES = 400
LARGEST = 8 * 1024 * 1024


def folder() -> Path:
    """Where traces are kept: below ``XDG_CACHE_HOME``, or ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "tipc", "traces")


def key_of(listing: Listing, repo: Path, script: Path, config: Path, mode: str) -> str:
    """Names the trace of a script for a config and a mode, in the repository as it is now."""
    digest = hashlib.sha256()
    parts = [_tracer(), str(repo), str(script), str(config), mode, listing.digest(), str(listing.left_out)]
    read = {str(script), str(config)}
    for entry in listing.entries:
        if entry.kind == FILE and entry.path.endswith(".sh"):
            read.add(entry.path)
    for path in sorted(read):
        parts.append(path)
        parts.append(_content_digest(repo / path))
    for part in parts:
        digest.update(part.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()


def _content_digest(path: Path) -> str:
    try:
        return hashlib.sha256(read_bounded(path)).hexdigest()
    except OSError as error:
        return error.__class__.__name__


@lru_cache(maxsize=1)
def _tracer() -> str:
    """Changes with the code that traces and with the programs that a script finds."""
    digest = hashlib.sha256(json.dumps(stubs.core_tools()).encode())
    for source in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def load(key: str) -> Traced | None:
    """The trace of that name; None where there is none, or where the file is damaged."""
    from tipc.plan.trace.record.passes import Traced

    try:
        with open(folder() / f"{key}.json", encoding="utf-8") as file:
            data = json.loads(file.read(LARGEST))
        if data["key"] != key:
            return None
        return Traced(
            calls=tuple(map(_call, data["calls"])),
            tees=tuple(map(_texts, data["tees"])),
            stdout=_text(data["stdout"]),
            notes=tuple(map(_note, data["notes"])),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _note(data: Any) -> str:
    if isinstance(data, str):
        return data
    return EnglishText(message_from_json(data))


def _note_to_json(note: str) -> object:
    """With its template, so that whoever finds the trace here has it in his language."""
    if isinstance(note, EnglishText):
        return message_to_json(note.message)
    return note


def store(key: str, traced: Traced) -> None:
    """Keep a trace, whole or not at all; where nothing can be written there is just no cache."""
    calls = []
    for call in traced.calls:
        calls.append([call.time, call.argv, call.cwd, call.env, call.log, call.key])
    data = {
        "key": key,
        "calls": calls,
        "tees": traced.tees,
        "stdout": traced.stdout,
        "notes": [_note_to_json(note) for note in traced.notes],
    }
    text = json.dumps(data)
    if len(text) > LARGEST:
        return
    with suppress(OSError):
        place = folder()
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=place)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(name, place / f"{key}.json")
        except OSError:
            os.unlink(name)
            raise
        _forget_oldest(place)


def _forget_oldest(place: Path) -> None:
    kept = sorted(place.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for path in kept[:-MOST_TRACES]:
        path.unlink(missing_ok=True)


def _call(item: list[object]) -> Call:
    time, argv, cwd, env, log, key = item
    if not isinstance(env, dict) or not isinstance(time, float):
        raise TypeError("a call is damaged")
    variables = {_text(name): _text(value) for name, value in env.items()}
    return Call(time, _texts(argv), _text(cwd), variables, _text(log), _texts(key))


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError("a list is damaged")
    return tuple(map(_text, values))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is damaged")
    return value
