"""What a ``prepare.sh`` would remove: told from its text alone, nothing of it is run.

Only what can be read off is told: words of ``rm -r`` without variables, in the blocks that belong to the mode
or to none and are not of other models, from the directory that the ``cd`` before them lead to.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path

from tipc.bounded import read_bounded_text

_SEPARATOR = re.compile(r"&&|\|\||[;|]")
_MODEL = re.compile(r"\$\{?model_name\}?[\"']?\s*==?\s*[\"']?([\w.+-]+)")
_MODES = re.compile(r"\b(?:lite|whole|klquant|benchmark|serving|infer|cpp|js|ptq|paddle2onnx)\w*_\w+\b")


@dataclass
class Branch:
    """What the condition of an open branch names; nothing: it may be entered by any."""

    modes: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    earlier: frozenset[str] = frozenset()  # models that went into a branch before it
    only_models: bool = True  # it tests nothing else

    def add(self, condition: str) -> None:
        """A test of its condition."""
        self.modes.update(_MODES.findall(condition))
        models = _MODEL.findall(condition)
        self.models.update(models)
        self.only_models &= bool(models)

    def may_be_entered(self, mode: str, model: str) -> bool:
        if model in self.earlier:
            return False
        return (not self.modes or mode in self.modes) and (not self.models or model in self.models)


def removals(script: Path, repo: Path, mode: str, model: str) -> list[str]:
    """The files and directories of the repository that are there and would be removed, in order."""
    try:
        text = read_bounded_text(script, "replace")
    except OSError:
        return []
    found: dict[str, None] = {}
    here: Path | None = repo  # None: it cannot be told where the script is by then
    before: Path | None = repo
    for command in commands(text, mode, model):
        if command == ["cd", "-"]:
            here, before = before, here
        elif command[0] == "cd":
            here, before = _entered(here, command[1:]), here
        elif command[0] == "rm" and here is not None:
            for word in _targets(command[1:]):
                for path in sorted(glob(os.path.normpath(here / word))):
                    if Path(path).is_relative_to(repo):
                        found[os.path.relpath(path, repo)] = None
    return list(found)


def commands(text: str, mode: str, model: str) -> Iterator[list[str]]:
    """The simple commands of the blocks that this mode and model go through, as far as can be told."""
    blocks: list[Branch] = []  # of each open ``if``
    for line in text.replace("\\\n", " ").splitlines():
        for part in _SEPARATOR.split(line):
            words = _words(part)
            if not words:
                continue
            if words[0] in ("if", "elif", "else", "fi"):
                _enter(blocks, words[0], part)
                if words[0] != "else":
                    continue
                words = words[1:]
            elif words[0].startswith("[") and blocks:
                blocks[-1].add(part)  # the condition goes on after `||`
                words = []
            elif words[0] in ("then", "do"):
                words = words[1:]
            if words and all(branch.may_be_entered(mode, model) for branch in blocks):
                yield words


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part, comments=True)
    except ValueError:  # a quote that goes on in the next line
        return []


def _enter(blocks: list[Branch], word: str, condition: str) -> None:
    """A branch begins or an ``if`` ends."""
    gone: frozenset[str] = frozenset()
    if word != "if" and blocks:
        closed = blocks.pop()
        gone = closed.earlier
        if closed.only_models:
            gone |= closed.models
    if word != "fi":
        blocks.append(Branch(earlier=gone))
        blocks[-1].add(condition)


def _entered(here: Path | None, words: list[str]) -> Path | None:
    if here is None or len(words) != 1 or "$" in words[0] or words[0].startswith(("-", "~")):
        return None
    return Path(os.path.normpath(here / words[0]))


def _targets(words: list[str]) -> list[str]:
    """What a recursive ``rm`` names without variables."""
    recursive = False
    targets = []
    for word in words:
        if word.startswith("-"):
            recursive = recursive or "r" in word.lower()
        elif "$" not in word and "`" not in word:
            targets.append(word)
    if not recursive:
        return []
    return targets
