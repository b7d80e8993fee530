"""``CONFIG… [MODE]``: files, directories and globs to config files, and the mode."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path

from tipc.config.detect import by_text, find_repo, script_text
from tipc.config.text import read_source
from tipc.errors import UsageError
from tipc.plan.modes import DEFAULT_MODE

_MODE = re.compile(r"[A-Za-z]\w*\Z")
_CONFIG_NAME = re.compile(r"(train|infer)\w*_python\w*\.txt\Z")


def expand_configs(args: list[str], mode: str | None) -> tuple[list[Path], str]:
    """The config files that the arguments name, in order and once each, and the mode.

    The last word is the mode if it names no file and looks like one; ``mode`` (``--mode``) outdoes it.
    """
    words = list(args)
    if len(words) > 1 and _MODE.match(words[-1]) and not os.path.exists(words[-1]):
        named = words.pop()
        mode = mode or named
    if not words:
        raise UsageError(
            "no config file is named", remedy="tipc plan test_tipc/configs/…/train_infer_python.txt"
        )
    found: dict[Path, None] = {}
    for word in words:
        for path in _expanded(word):
            found.setdefault(path)
    return list(found), mode or DEFAULT_MODE


def _expanded(word: str) -> list[Path]:
    if os.path.isdir(word):
        configs = [path for path in sorted(Path(word).rglob("*.txt")) if is_config(path)]
        if not configs:
            raise UsageError("there is no TIPC config in this directory", path=word)
        return configs
    if os.path.exists(word):
        return [Path(word)]
    if any(char in word for char in "*?["):
        matches = [Path(name) for name in sorted(glob.glob(word, recursive=True))]
        configs = [path for path in matches if path.is_file()]
        for directory in (path for path in matches if path.is_dir()):
            configs += [path for path in sorted(directory.rglob("*.txt")) if is_config(path)]
        if not configs:
            raise UsageError("no config file matches", path=word)
        return configs
    raise UsageError("there is no such config file", path=word)


def is_config(path: Path) -> bool:
    """Whether a file is a config of a known kind, or of one that its repository can trace."""
    if not path.is_file():
        return False
    try:
        source = read_source(path)
    except UsageError:
        return bool(_CONFIG_NAME.search(path.name))
    if by_text(source) is not None:
        return True
    return bool(_CONFIG_NAME.search(path.name)) and bool(script_text(find_repo(path)))
