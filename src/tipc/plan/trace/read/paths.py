"""The paths in a command's words: by them commands of one chain are known to belong together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tipc.command import Command
from tipc.plan.trace.read.calls import inside

CODE = (".py", ".yml", ".yaml", ".json", ".sh", ".cfg", ".ini", ".txt")


def paths(command: Command, repo: Path, cwd: str) -> list[str]:
    """The values that look like paths of data or models, as seen from the repository's root."""
    found = []
    for _, value in command.values():
        if "/" not in value or "://" in value:
            continue
        path = inside(value, repo, cwd)
        if path.endswith(CODE) and (repo / path).exists():
            continue
        found.append(path)
    return found


def below(path: str, parent: str) -> bool:
    """Whether a path is a directory's own or lies in it."""
    return path == parent or path.startswith(f"{parent}/")


def those_below(found: Sequence[str], parents: Sequence[str]) -> list[str]:
    """The paths that lie in one of the directories, or are one."""
    kept = []
    for path in found:
        if any(below(path, parent) for parent in parents):
            kept.append(path)
    return kept


def any_below(found: Sequence[str], parents: Sequence[str]) -> bool:
    """Whether one of the paths lies in one of the directories, or is one."""
    return bool(those_below(found, parents))


def outputs(found: Sequence[str], repo: Path) -> list[str]:
    """Those that the repository does not have: a command that names them first makes them."""
    return [path for path in found if path != "." and not (repo / path).exists()]
