"""Rules about the words of commands: file names, options, shell syntax, files of the repository."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from tipc.config.dialect import Config
from tipc.config.lint.context import Context, is_null
from tipc.config.lint.model import Finding
from tipc.config.text import Value

_EXTENSION_TWICE = re.compile(
    r"(\.(?:pd\w+|ya?ml|py|sh|log|txt|list|json|tar|gz|zip|onnx|jpe?g|png|npy|npz|pkl|mp4|wav))\1(?![\w.])"
)
_SHELL = re.compile(r"&&|\|\||;|`|\$\(|[<>]|(?<!\|)\|(?!\|)")


def words(ctx: Context) -> Iterator[Finding]:
    """TC080, TC081, TC082: file names and options inside values."""
    for line in ctx.source.seen():
        twice = _EXTENSION_TWICE.search(line.text)
        if twice:
            at = Value(twice[0], line.number, twice.start() + 1)
            yield ctx.find(
                "TC080",
                at,
                f"the extension `{twice[1]}` is there twice",
                "such a file is never written",
                f"write `{twice[1]}` once",
                ctx.replaced(at, twice[1]),
            )
    for row, config in ctx.rows("vl"):
        if row.kind != "script":
            continue
        for value in config.items(row.name) if "l" in row.reads else [config.value(row.name)]:
            shell = _SHELL.search(value.text)
            if shell:
                yield ctx.find(
                    "TC082",
                    value.part(shell.start(), shell[0]),
                    f"`{shell[0]}` is shell syntax",
                    "the scripts `eval` the command, so it takes effect (most turn `|` into a blank)",
                    "move it into a script of its own",
                )
            yield from _twice(ctx, value, config if row.name.endswith("_train") else None)


def split_words(text: str) -> list[str]:
    """The words of a command as bash splits them; none where a quote is not closed."""
    if not re.search(r"[\\'\"]", text):
        return text.split()
    import shlex

    try:
        return shlex.split(text)
    except ValueError:
        return []


def _options(text: str) -> list[str]:
    """The names of the options in a command's words; ``-o Key=`` counts by its key."""
    split = split_words(text)
    names = []
    for number, word in enumerate(split):
        if word.startswith("--") and len(word) > 2:
            names.append(word.split("=", 1)[0])
        elif "=" in word and number and split[number - 1] == "-o":
            names.append(f"-o {word.split('=', 1)[0]}")
    return names


def _twice(ctx: Context, value: Value, config: Config | None) -> Iterator[Finding]:
    counted = Counter(_options(value.text))
    for name, count in counted.items():
        bare = name.removeprefix("-o ")
        if count > 1:
            start = value.text.rindex(bare)
            yield ctx.find(
                "TC081",
                value.part(start, bare),
                f"the option `{name}` is given twice",
                "the last one wins",
                "remove one of them",
            )
    if config is None:
        return
    for other in ("save_model", "epoch", "train_batch", "pretrain", "train_param1", "train_use_gpu"):
        key = config.key(other).text.strip()
        given = other == "save_model" or not is_null(config.value(other))
        row = config.rows.get(other)
        if key in counted and given and row and not row.unused:
            start = value.text.rindex(key.removeprefix("-o "))
            yield ctx.find(
                "TC081",
                value.part(start, key.removeprefix("-o ")),
                f"the option `{key}` is given here and by line {config.line(other).line}",
                f"it stands twice in the command; line {config.line(other).line} comes last and wins",
                "remove it here",
            )


def scripts(ctx: Context) -> Iterator[Finding]:
    """TC070, TC071: scripts and config files that are not in the repository."""
    if ctx.repo is None or ctx.dialect is None:
        return
    for row, config in ctx.rows("vl"):
        if row.kind != "script":
            continue
        folder = ctx.dialect.rules.infer_cwd if row.name == "inference" else "."
        for value in config.items(row.name) if "l" in row.reads else [config.value(row.name)]:
            if not is_null(value):
                yield from _files(ctx, value, folder)


def _files(ctx: Context, value: Value, folder: str) -> Iterator[Finding]:
    split = split_words(value.text)
    script = next((word for word in split if word.endswith((".py", ".sh"))), "")
    if not split or (script and not _there(ctx, folder, script)):
        place = value.part(value.text.index(script), script)
        yield ctx.find(
            "TC070",
            place,
            f"there is no script `{script}`",
            "the command fails; the bash prints `Run failed` and exits with 0",
            f"the path is relative to {folder}/ of the repository" if folder != "." else "correct the path",
        )
    for before, word in pairwise(split):
        named = word if before in ("-c", "--config", "--cfg") else ""
        if named.endswith((".yml", ".yaml")) and not _there(ctx, folder, named):
            yield ctx.find(
                "TC071",
                value.part(value.text.index(named), named),
                f"there is no file `{named}`",
                "the command fails when it reads it",
                "correct the path",
            )


def _there(ctx: Context, folder: str, name: str) -> bool:
    try:
        return os.path.exists(os.path.join(ctx.repo or "", folder, name))
    except ValueError:  # a NUL byte
        return False
