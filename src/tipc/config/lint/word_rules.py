"""Rules about the words of commands: file names, options, shell syntax, files of the repository."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from tipc.config.dialects.layouts import SLIM
from tipc.config.layout import Config, Row
from tipc.config.lint.finding import LintFinding
from tipc.config.lint.subject import Context, closest, is_null
from tipc.config.scripts import text_of
from tipc.config.source import Value
from tipc.reasons import Reason, because

_EXTENSION_TWICE = re.compile(
    r"(\.(?:pd\w+|ya?ml|py|sh|log|txt|list|json|tar|gz|zip|onnx|jpe?g|png|npy|npz|pkl|mp4|wav))\1(?![\w.])"
)
_SHELL = re.compile(r"&&|\|\||;|`|\$\(|[<>]|(?<!\|)\|(?!\|)")
# ``[ ${inference_py} != "null" ]``, which a script of its own may have.
_TESTS_INFERENCE = re.compile(r"""inference_py\}?["']?\s*!?=+\s*["']?null""")
_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")


def words(ctx: Context) -> Iterator[LintFinding]:
    """TC080, TC081, TC082: file names and options inside values."""
    for line in ctx.source.seen():
        twice = _EXTENSION_TWICE.search(line.text)
        if twice:
            at = Value(twice[0], line.number, twice.start() + 1)
            yield ctx.find("TC080", at, ctx.replaced(at, twice[1]), extension=twice[1])
    for row, config in ctx.rows("vl"):
        if row.kind != "script":
            continue
        for value in _values(row, config):
            shell = _SHELL.search(_QUOTED.sub(_hidden, value.text))
            if shell:
                yield ctx.find("TC082", value.part(shell.start(), shell[0]), text=shell[0])
            counted = Counter(_options(value.text))
            yield from _twice(ctx, value, counted)
            if row.name.endswith("_train"):
                yield from _twice_by_line(ctx, value, counted, config)


def _hidden(quoted: re.Match[str]) -> str:
    """Blanks for what quotes take its meaning from; between double quotes a command is still run."""
    text = quoted[0]
    if text.startswith('"') and re.search(r"`|\$\(", text):
        return text
    return " " * len(text)


def _values(row: Row, config: Config) -> list[Value]:
    """The value of a line, or the items of the list that it is."""
    if "l" in row.reads:
        return config.items(row.name)
    return [config.value(row.name)]


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


def _twice(ctx: Context, value: Value, counted: Counter[str]) -> Iterator[LintFinding]:
    """TC081: an option that stands twice in one command."""
    for name, count in counted.items():
        if count > 1:
            yield ctx.find("TC081", _place(value, name.removeprefix("-o ")), option=name)


def _twice_by_line(
    ctx: Context, value: Value, counted: Counter[str], config: Config
) -> Iterator[LintFinding]:
    """TC081: an option of the script's line that another line gives, too."""
    for other in ("save_model", "epoch", "train_batch", "pretrain", "train_param1", "train_use_gpu"):
        key = config.key(other).text.strip()
        given = other == "save_model" or not is_null(config.value(other))
        row = config.rows.get(other)
        if key in counted and given and row and not row.unused:
            place = _place(value, key.removeprefix("-o "))
            yield ctx.find("TC081-line", place, option=key, line=config.line(other).line)


def scripts(ctx: Context) -> Iterator[LintFinding]:
    """TC070, TC071: scripts and config files that are not in the repository."""
    if ctx.repo is None:
        return
    idle = _idle_rows(ctx)
    for row, config in ctx.rows("vl"):
        if row.kind != "script":
            continue
        folder = "."
        if row.name == "inference" and ctx.dialect is not None:
            folder = ctx.dialect.rules.infer_cwd
        elif ctx.dialect is None and re.search(r"^\s*cd\s", ctx.script, re.MULTILINE):
            continue  # where a script of its own is when it runs this is not known
        for value in _values(row, config):
            if not is_null(value):
                yield from _files(ctx, value, folder, idle=row.name in idle)


def _idle_rows(ctx: Context) -> set[str]:
    """The rows of trainings and exports that no listed trainer runs."""
    if ctx.config is None or not ctx.config.line("trainer_list").line:
        return set()
    listed = {item.text.strip() for item in ctx.config.items("trainer_list")}
    idle = set()
    for name in ctx.config.rows:
        if name.endswith("_train") and name != "norm_train" and ctx.config.key(name).text not in listed:
            idle |= {name, name.replace("_train", "_export")}
    return idle


def _files(ctx: Context, value: Value, folder: str, *, idle: bool) -> Iterator[LintFinding]:
    split = split_words(value.text)
    for word in split:
        if word.endswith((".py", ".sh")):
            yield from _script(ctx, value, folder, word, idle=idle)
            break
    for before, word in pairwise(split):
        if before not in ("-c", "--config", "--cfg"):
            continue
        if word.endswith((".yml", ".yaml")) and not _there(ctx, folder, word):
            yield ctx.find("TC071", _place(value, word), file=word)


def _script(ctx: Context, value: Value, folder: str, script: str, *, idle: bool) -> Iterator[LintFinding]:
    if _there(ctx, folder, script):
        return
    if idle or _fetched(ctx, folder, script):
        yield ctx.find("TC071", _place(value, script), file=script)
    else:
        yield ctx.find("TC070", _place(value, script), script=script, fix=_meant(ctx, folder, script))


def _fetched(ctx: Context, folder: str, script: str) -> bool:
    """Whether the repository's prepare.sh fetches the first folder of a path that is not there."""
    parts = os.path.normpath(os.path.join(folder, script)).split(os.sep)
    for number in range(1, len(parts)):
        if not _there(ctx, ".", os.path.join(*parts[:number])):
            missing = re.escape(parts[number - 1])
            text = text_of(os.path.join(ctx.repo or "", "test_tipc", "prepare.sh"))
            fetches = rf"^[^#\n]*\b(?:git clone|wget|curl|tar|unzip)\b.*\b{missing}\b"
            return re.search(fetches, text, re.MULTILINE) is not None
    return False


def _place(value: Value, word: str) -> Value:
    """Where a word stands in a value; the whole value where quotes or backslashes hide it."""
    start = value.text.find(word)
    if start < 0:
        return value
    return value.part(start, word)


def _meant(ctx: Context, folder: str, script: str) -> Reason:
    """What to write for a script that is not there: one of the same name, if the repository has one."""
    root = os.path.join(ctx.repo or "", folder)
    name = os.path.basename(script)
    for place in ("", "tools", "deploy", "deploy/python", "scripts", "src"):
        near = os.path.join(place, name)
        if os.path.isfile(os.path.join(root, near)):
            return because("lint-did-you-mean", text=near)
    close = _close_name(root, script)
    if close:
        return because("lint-did-you-mean", text=close)
    if folder != ".":
        return because("lint-relative-to", folder=folder)
    return because("lint-correct-path")


def _close_name(root: str, script: str) -> str:
    """A script of the same folder whose name is nearly the one that is written; empty where there is none."""
    folder, name = os.path.split(script)
    try:
        names = sorted(os.listdir(os.path.join(root, folder)))
    except OSError:
        return ""
    ending = os.path.splitext(name)[1]
    close = closest(name, tuple(other for other in names if other.endswith(ending)), 0.75)
    if not close:
        return ""
    return os.path.join(folder, close)


def null_inference(ctx: Context) -> Iterator[LintFinding]:
    """TC072: an export, and no script that infers with it."""
    if ctx.config is None or not {"norm_export", "inference"} <= set(ctx.config.rows):
        return
    if ctx.dialect is None and _TESTS_INFERENCE.search(ctx.script):
        return
    value = ctx.config.value("inference")
    exported = not is_null(ctx.config.value("norm_export"))
    if exported and ctx.config.line("inference").line and is_null(value):
        yield ctx.find("TC072", ctx.config.line("inference"))


def outside(ctx: Context) -> Iterator[LintFinding]:
    """TC073: a model to quantise that is not in the repository."""
    if ctx.config is None or "kl_quant" not in ctx.config.rows:
        return
    model = ctx.config.value("infer_model")
    if not is_null(ctx.config.value("kl_quant")) and model.text.startswith(("../", "/")):
        yield ctx.find("TC073", model, model=model.text)


def two_exports(ctx: Context) -> Iterator[LintFinding]:
    """TC074: in the specification's 32 lines, two exports that are not the same."""
    if ctx.config is None or ctx.dialect is None or ctx.dialect.layout.length != SLIM.length:
        return
    first, second = ctx.config.value("norm_export"), ctx.config.value("infer_export")
    if is_null(first) or is_null(second) or "infer_export" in ctx.lost_names():
        return
    if split_words(first.text) != split_words(second.text):
        yield ctx.find("TC074", second, line=first.line, export=first.text)


def _there(ctx: Context, folder: str, name: str) -> bool:
    try:
        return os.path.exists(os.path.join(ctx.repo or "", folder, name))
    except ValueError:  # a NUL byte
        return False
