"""What a command is for: told from the config's own lines first, then from its words."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from tipc.command import Command
from tipc.config.source import Source
from tipc.kinds import EVAL, EXPORT, INFER, PREPARE, TRAIN

_LINE_KINDS = (
    (re.compile(r".*train(?:er)?\d*|trainer\d+"), TRAIN),
    (re.compile(r"(?:.*_)?(?:eval|evaluate|evaluation)"), EVAL),
    (re.compile(r"(?:.*_)?export\d*"), EXPORT),
    (re.compile(r"(?:.*_)?(?:inference|infer|predict)(?:_py)?"), INFER),
)
_WORD_KINDS = (
    (EXPORT, r"export|static|onnx|quant|convert|freeze|prune_model|save_inference"),
    (INFER, r"infer|inference|predict|predictor|deploy|serving|demo"),
    (EVAL, r"eval|evaluate|evaluation|validate|val|test|metrics?|score"),
    (TRAIN, r"train|trainer|training|finetune|pretrain|distill|fit|sft"),
)
_ONLY_EVAL = re.compile(r"--?(?:test|eval|evaluate|val)[-_]?only|--?only[-_](?:test|eval)|--evaluate|--test")
_MODE_OPTION = re.compile(r"(?:mode|task|phase|stage|action|cmd|command|run_mode)")


@dataclass(frozen=True)
class Purpose:
    """Why a config names a command: from its line."""

    key: str
    kind: str
    words: tuple[str, ...]
    line: int


def purposes(source: Source) -> list[Purpose]:
    """The lines of a config that name a script, in whatever layout."""
    found = []
    for line in source.lines:
        key, _, value = line.text.rstrip("\r").partition(":")
        kind = _kind_of_key(key.strip())
        words = _split(value) if kind else ()
        if words and (words[0].endswith((".py", ".sh")) or words[0] == "-m"):
            found.append(Purpose(key.strip(), kind, words, line.number))
    return found


def _kind_of_key(key: str) -> str:
    for pattern, kind in _LINE_KINDS:
        if pattern.fullmatch(key):
            return kind
    return ""


def _split(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


def purpose_of(command: Command, known: Sequence[Purpose], cwd: str = ".") -> Purpose | None:
    """The config line that a command comes from: all of its words stand at the command's beginning."""
    best: Purpose | None = None
    written = (*command.entry.split(" "), *command.arguments)  # as a config line writes it
    full = (os.path.normpath(os.path.join(cwd, command.entry)), *command.arguments)
    for purpose in known:
        size = len(purpose.words)
        named = (os.path.normpath(purpose.words[0]), *purpose.words[1:])
        fits = written[:size] == purpose.words or full[:size] == named
        if fits and (best is None or _rank(purpose, command) > _rank(best, command)):
            best = purpose
    return best


def _rank(purpose: Purpose, command: Command) -> tuple[int, bool]:
    # Two trainers may have the same script; their names then stand in the path of what they save.
    return len(purpose.words), any(purpose.key in word for word in command.arguments)


def kind_of(command: Command, purpose: Purpose | None, cwd: str = "") -> str:
    """train, eval, export, infer, or prepare for a command that is none of them."""
    if purpose:
        return purpose.kind
    kind = _kind_of_path(command.entry, cwd)
    if kind in ("", TRAIN):
        if any(_ONLY_EVAL.fullmatch(word) for word in command.arguments):
            return EVAL
        kind = _kind_of_mode(command) or kind
    if not kind and command.entry.endswith(".py"):
        kind = _kind_of_flags(command.arguments)
    if not kind and is_built(command.entry):
        return INFER  # C++: what python scripts do elsewhere
    return kind or PREPARE


def _kind_of_path(entry: str, cwd: str) -> str:
    """From the script's name, else from its folders; ``test_tipc`` and the like tell nothing."""
    stem = entry.rpartition("/")[2].removesuffix(".py")
    folders = os.path.join(cwd, entry).split("/")[:-1]
    telling = [folder for folder in folders if not folder.startswith("test")]
    return _kind_of_words(stem) or _kind_of_words("/".join(telling))


def _kind_of_flags(arguments: Sequence[str]) -> str:
    """From the first word without a value or a path that tells one: ``--do_eval``."""
    for word in arguments:
        if "=" in word or "/" in word:
            continue
        kind = _kind_of_words(word.lstrip("-"))
        if kind:
            return kind
    return ""


def is_built(program: str) -> bool:
    """Whether a program is one of the repository that has to be built: no script, named by its path."""
    return "/" in program and not program.startswith("/") and not program.endswith((".py", ".sh"))


def _kind_of_mode(command: Command) -> str:
    """From ``--mode=eval``, ``--mode eval`` or a bare sub-command that comes first."""
    for name, value in command.values():
        if _MODE_OPTION.fullmatch(name):
            return _kind_of_words(value)
    if command.arguments and command.arguments[0].isidentifier():
        return _kind_of_words(command.arguments[0])
    return ""


def _kind_of_words(text: str) -> str:
    words = re.split(r"[^a-z]+|(?<=2)", text.lower())
    for kind, pattern in _WORD_KINDS:
        if any(re.fullmatch(pattern, word) for word in words):
            return kind
    for kind, pattern in _WORD_KINDS:
        if re.search(pattern.replace("val|test|", "").replace("|fit|sft", ""), text.lower()):
            return kind
    return ""
