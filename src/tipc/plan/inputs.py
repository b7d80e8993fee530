"""``CONFIG… [MODE]``: files, directories and globs to config files, and the mode."""

from __future__ import annotations

import os

from tipc.config.detect import by_text, repository_of, script_text
from tipc.config.text import read_source
from tipc.errors import UsageError
from tipc.plan.modes import DEFAULT_MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def expand_configs(args: list[str], mode: str | None) -> tuple[list[Path], str]:
    """The config files that the arguments name, in order and once each, and the mode.

    The last word is the mode if it names no file and looks like one; ``mode`` (``--mode``) outdoes it.
    """
    from pathlib import Path

    names, chosen = expand(args, mode)
    return [Path(name) for name in names], chosen


def expand(args: list[str], mode: str | None) -> tuple[list[str], str]:
    """``expand_configs`` in plain text."""
    words = list(args)
    if len(words) > 1 and words[-1].isidentifier() and not os.path.exists(words[-1]):
        named = words.pop()
        mode = mode or named
    if not words:
        raise UsageError(
            "no config file is named", remedy="tipc plan test_tipc/configs/…/train_infer_python.txt"
        )
    found: dict[str, None] = {}
    for word in words:
        found.update(dict.fromkeys(_expanded(word)))
    return list(found), mode or DEFAULT_MODE


def _expanded(word: str) -> list[str]:
    if os.path.isdir(word):
        configs = _below(word)
        if not configs:
            raise UsageError("there is no TIPC config in this directory", path=word)
        return configs
    if os.path.exists(word):
        return [word]
    if any(char in word for char in "*?["):
        import glob

        matches = sorted(glob.glob(word, recursive=True))
        configs = [name for name in matches if os.path.isfile(name)]
        for directory in matches:
            configs += _below(directory) if os.path.isdir(directory) else []
        if not configs:
            raise UsageError("no config file matches", path=word)
        return configs
    raise UsageError("there is no such config file", path=word)


def _below(directory: str) -> list[str]:
    """The configs below a directory, by name."""
    found = []
    for here, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.join(here, name) for name in names if name.endswith(".txt")]
    return [name for name in sorted(found) if is_config(name)]


def is_config(path: str) -> bool:
    """Whether a file is a config of a known kind, or of one that its repository can trace."""
    name = os.path.basename(path)
    named = "_python" in name and ("train" in name or "infer" in name)
    try:
        source = read_source(path)
    except UsageError:
        return named
    return by_text(source) is not None or (named and bool(script_text(repository_of(path))))
