"""The paths in a command's words: by them commands of one chain are known to belong together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Tree:
    """A repository, and the folders that its script writes to: what lies in them is of an earlier run."""

    repo: Path
    written: tuple[str, ...] = ()

    def outputs(self, found: Sequence[str]) -> list[str]:
        """Those that the repository does not bring: a command that names them first makes them."""
        made = []
        for path in found:
            is_written = any(path != folder and below(path, folder) for folder in self.written)
            if path != "." and (is_written or not (self.repo / path).exists()):
                made.append(path)
        return made


def folders_of(files: Sequence[str]) -> tuple[str, ...]:
    """The folders that files lie in; not the repository itself and its own folders: too much is there."""
    folders = []
    for file in files:
        folder = os.path.dirname(file)
        if "/" in folder:
            folders.append(folder)
    return tuple(dict.fromkeys(folders))
