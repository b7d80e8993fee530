"""The options and paths in a command's words: by them commands of one chain are known to belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tipc.plan.trace.read.calls import inside

CODE = (".py", ".yml", ".yaml", ".json", ".sh", ".cfg", ".ini", ".txt")


def options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """``--key=value``, ``--key value`` and ``key=value`` as pairs, a word that stands alone as ("", word)."""
    before = ""
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name and " " not in name:
            yield name.lstrip("-"), value
            before = ""
        elif word.startswith("-") and not re.fullmatch(r"-\d.*", word):
            if before:
                yield before.lstrip("-"), ""
            before = word
        else:
            yield before.lstrip("-"), word
            before = ""
    if before:
        yield before.lstrip("-"), ""


def paths(words: Sequence[str], repo: Path, cwd: str) -> list[str]:
    """The values that look like paths of data or models, as seen from the repository's root."""
    found = []
    for _, value in options(words):
        path = inside(value, repo, cwd) if "/" in value and "://" not in value else ""
        if path and not (path.endswith(CODE) and (repo / path).exists()):
            found.append(path)
    return found


def below(path: str, parent: str) -> bool:
    """Whether a path is a directory's own or lies in it."""
    return path == parent or path.startswith(f"{parent}/")


def outputs(found: Sequence[str], repo: Path) -> list[str]:
    """Those that the repository does not have: a command that names them first makes them."""
    return [path for path in found if path != "." and not (repo / path).exists()]
