"""Which dialect a config file is written in, told from its text and from the repository around it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tipc.config.dialects import NAMES, load
from tipc.config.rules import Dialect
from tipc.config.text import Source

SCRIPT = "test_tipc/test_train_inference_python.sh"


def find_repo(config: Path) -> Path:
    """The repository's root: the directory that holds ``test_tipc/`` or ``.git``; else the current one."""
    absolute = config.absolute()
    for parent in absolute.parents:
        if parent.name == "test_tipc":
            return parent.parent
    for parent in absolute.parents:
        if (parent / "test_tipc").is_dir() or (parent / ".git").exists():
            return parent
    return Path.cwd()


@lru_cache(maxsize=64)
def script_text(repo: Path) -> str:
    """The repository's own TIPC script; empty where it has none, or one that only calls ``tipc``."""
    try:
        text = (repo / SCRIPT).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return "" if "tipc run" in text else text


def _score(dialect: Dialect, texts: list[str]) -> int:
    """How many of the dialect's marks a file shows: a removed or an added line shifts them by one."""
    found = 0
    for index, beginning in dialect.marks.keys:
        near = texts[max(0, index - 2) : index + 3]
        found += any(text.startswith(beginning) for text in near)
    return found


def by_text(source: Source) -> Dialect | None:
    """The dialect of a file's own lines; None where they fit none of them well."""
    texts = [line.text for line in source.seen()]
    best = max((load(name) for name in NAMES), key=lambda dialect: _score(dialect, texts))
    return best if _score(best, texts) * 2 > len(best.marks.keys) else None


def by_repository(repo: Path) -> Dialect | None:
    """The dialect that a repository's name or its package stands for."""
    for name in NAMES:
        marks = load(name).marks
        if repo.name in marks.repositories or any((repo / package).is_dir() for package in marks.packages):
            return load(name)
    return None


def detect(source: Source, repo: Path) -> Dialect | None:
    """The dialect of a config in its repository, or None: then its own script has to be traced.

    A script that a repository brings has the last word, since it is what reads the file there; next is what
    the file's lines look like; the repository's name or package decides for a file too broken for both.
    """
    script = script_text(repo)
    if script:
        for name in NAMES:
            marks = load(name).marks
            if all(word in script for word in marks.script) and not any(
                w in script for w in marks.script_lacks
            ):
                return load(name)
        return None
    return by_text(source) or by_repository(repo)
