"""A question to a probe: what is asked, and the interpreter and environment that can answer it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tipc.run.artefacts import digest as file_digest

if TYPE_CHECKING:
    from tipc.certify.evidence.trials import Trial

Key = tuple[str, str, str]  # (kind, Plan.key, Step.id)
FileState = tuple[int, ...]


@dataclass(frozen=True)
class QuestionGroup:
    """Questions that can be put to one process."""

    interpreter: str
    repo: str
    cwd: str  # of the step that they are about
    env: tuple[tuple[str, str | None], ...]  # what that step changes; None: unset


@dataclass(frozen=True)
class Question:
    """One question."""

    key: Key
    group: QuestionGroup
    body: Mapping[str, Any] = field(hash=False)
    trials: tuple[Trial, ...] = field(default=(), hash=False)
    files: tuple[str, ...] = ()  # what the answer depends on: if one of them changes, it is another question

    @property
    def name(self) -> str:
        """For the line that says what is being checked."""
        return f"{self.key[2]}: {self.key[0]}"

    @cached_property
    def digest(self) -> str:
        """Tells questions apart, and the same question about files that have changed."""
        parts = [self.key, dict(self.body), [digest_of(Path(path)) for path in self.files]]
        text = json.dumps([*parts, [trial.digest for trial in self.trials]], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def digest_of(path: Path) -> str:
    """SHA-256 of a file, read once unless it changes; empty: it is not there."""
    try:
        return _digest_of(path, state_of(path))
    except OSError:
        return ""


@lru_cache(maxsize=256)
def _digest_of(path: Path, _state: FileState) -> str:
    return file_digest(path)


def state_of(path: Path) -> FileState:
    """What the kernel changes whenever a file is written; empty: it is not there."""
    try:
        state = path.stat()
    except OSError:
        return ()
    return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def is_outside(path: Path, repo: Path) -> bool:
    """A place for packages that is not the repository's own: what a probe imports is not the accused's."""
    return path.is_absolute() and not path.resolve().is_relative_to(repo.resolve())
