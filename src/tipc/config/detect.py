"""Which dialect a config file is written in, told from its text and from the repository around it."""

from __future__ import annotations

import os

from tipc.config.dialects import MARKS, Marks, load
from tipc.config.text import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from tipc.config.rules import Dialect

SCRIPT = "test_tipc/test_train_inference_python.sh"


def find_repo(config: Path) -> Path:
    """The repository's root: the directory that holds ``test_tipc/`` or ``.git``; else the current one."""
    return type(config)(repository_of(os.fspath(config)))


def repository_of(config: str) -> str:
    """``find_repo`` on plain text."""
    directory = os.path.dirname(os.path.abspath(config))
    parents = [directory]
    while (parent := os.path.dirname(parents[-1])) != parents[-1]:
        parents.append(parent)
    for parent in parents:
        if os.path.basename(parent) == "test_tipc":
            return os.path.dirname(parent)
    for parent in parents:
        if os.path.isdir(f"{parent}/test_tipc") or os.path.exists(f"{parent}/.git"):
            return parent
    return os.getcwd()


def script_text(repo: str | Path) -> str:
    """The repository's own TIPC script; empty where it has none, or one that only calls ``tipc``."""
    try:
        with open(os.path.join(repo, SCRIPT), encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return ""
    return "" if "tipc run" in text else text


def _score(marks: Marks, texts: list[str]) -> int:
    """How many of a dialect's marks a file shows: a removed or an added line shifts them by one."""
    found = 0
    for index, beginning in marks.keys:
        near = texts[max(0, index - 2) : index + 3]
        found += any(text.startswith(beginning) for text in near)
    return found


def by_text(source: Source) -> Dialect | None:
    """The dialect of a file's own lines; None where they fit none of them well."""
    texts = [line.text for line in source.seen()]
    scores = {name: _score(marks, texts) for name, marks in MARKS.items()}
    best = max(scores, key=lambda name: scores[name])
    return load(best) if scores[best] * 2 > len(MARKS[best].keys) else None


def by_repository(repo: str | Path) -> Dialect | None:
    """The dialect that a repository's name or its package stands for."""
    for name, marks in MARKS.items():
        here = os.path.basename(os.fspath(repo)) in marks.repositories
        if here or any(os.path.isdir(os.path.join(repo, package)) for package in marks.packages):
            return load(name)
    return None


def by_script(script: str) -> Dialect | None:
    """The dialect whose script this is, as far as a few words can tell."""
    for name, marks in MARKS.items():
        if all(word in script for word in marks.script) and not any(w in script for w in marks.script_lacks):
            return load(name)
    return None


def detect(source: Source, repo: str | Path) -> Dialect | None:
    """The dialect of a config in its repository, or None: then its own script has to be traced.

    A script that a repository brings is what reads the file there: it must be one that we know, and of the
    family that the file or the repository belongs to, since the families have copied from each other. Without
    one, the file's lines decide; and for a file too broken, the repository's name or package.
    """
    script = script_text(repo)
    told = by_text(source)
    if not script:
        return told or by_repository(repo)
    found = by_script(script)
    return found if found in (told, by_repository(repo)) else None
