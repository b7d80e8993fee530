"""Rules about what a config plans: modes, trainers, GPUs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from tipc.config.bash import items
from tipc.config.layout import Config, Row
from tipc.config.lint.finding import LintFinding
from tipc.config.lint.subject import Context, closest, is_null
from tipc.config.rules import Dialect
from tipc.config.scripts import without_comments
from tipc.config.source import Value
from tipc.reasons import because

TRAIN_MODES = ("lite_train_lite_infer", "lite_train_whole_infer", "whole_train_whole_infer")
MODES = (
    *TRAIN_MODES,
    "whole_infer",
    "klquant_whole_infer",
    "benchmark_train",
    "klquant_infer",
    "cpp_infer",
    "serving_infer",
    "paddle2onnx_infer",
    "lite_infer",
    "python_infer",
)
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_COMPOSED = re.compile(r"(?:lite|whole)_train_(?:lite|whole)_infer")
_NOWHERE = "0.0.0.0"
LONGEST_IDS = 15  # the scripts take a longer entry for addresses


def modes(ctx: Context) -> Iterator[LintFinding]:
    """TC040 to TC044: the items of a per-mode line."""
    for row, config in ctx.rows("p"):
        value = config.value(row.name)
        if ctx.dialect is None and "=" not in value.text:
            continue  # what a script of its own makes of a plain value is not known
        if is_null(config.key(row.name)) or is_null(value) or ":" not in config.line(row.name).text:
            continue
        if "=" not in value.text:
            right = "|".join([f"{mode}={value.text}" for mode in TRAIN_MODES])
            yield ctx.find("TC042", value, value=value.text, right=right)
            continue
        listed: Counter[str] = Counter()
        for item in items(value):
            mode, _, rest = item.text.partition("=")
            listed[mode.strip()] += 1
            yield from _item(ctx, item, mode, rest, listed)
        yield from _lacking(ctx, row, config, value, listed)


def _lacking(
    ctx: Context, row: Row, config: Config, value: Value, listed: Collection[str]
) -> Iterator[LintFinding]:
    """TC041: a mode that trains has no value in a line that lists modes."""
    meant = {near(mode, 0.9) for mode in listed}
    lacking = [mode for mode in _modes_that_train(ctx) if mode not in meant]
    if not lacking:
        return
    added = tuple(f"|{mode}=…" for mode in lacking)
    if config.layout.per_mode:
        key = config.key(row.name).text
        yield ctx.find("TC041", value, modes=tuple(lacking), items=added, key=key)
    else:
        yield ctx.find("TC041-unread", value, modes=tuple(lacking), items=added)


def _modes_that_train(ctx: Context) -> tuple[str, ...]:
    """Of a script of its own those that it tests; where it tests none, those that its comments name."""
    if ctx.dialect is not None:
        return TRAIN_MODES
    for text in (without_comments(ctx.script), ctx.script):
        named = tuple(mode for mode in TRAIN_MODES if mode in text)
        if named:
            return named
    return ()


def _item(ctx: Context, item: Value, mode: str, rest: str, listed: Counter[str]) -> Iterator[LintFinding]:
    if "=" not in item.text or not rest.strip() or "=" in rest:
        yield ctx.find("TC043", item, item=item.text)
    elif mode not in MODES and not (mode and mode in ctx.script):
        yield _unknown_mode(ctx, item.part(0, mode))
    elif listed[mode] > 1:
        yield ctx.find("TC044", item, mode=mode)


def _unknown_mode(ctx: Context, mode: Value) -> LintFinding:
    close = ""
    if not _COMPOSED.fullmatch(mode.text.strip()):  # whole_train_lite_infer is no slip of the pen
        close = near(mode.text.strip(), 0.85)
    if not close:
        fix = because("lint-one-of", words=", ".join(TRAIN_MODES))
        return ctx.find("TC040", mode, mode=mode.text, fix=fix)
    fix = because("lint-write", text=close)
    return ctx.find("TC040", mode, ctx.replaced(mode, close), mode=mode.text, fix=fix)


def trainers(ctx: Context) -> Iterator[LintFinding]:
    """TC050, TC051, TC052: the list of trainers against the lines that have their names."""
    if ctx.config is None or not ctx.config.line("trainer_list").line:
        return
    scripts: dict[str, str] = {}
    for line in ctx.source.seen():
        key, _, value = line.text.partition(":")
        scripts.setdefault(key.strip(), value)
    seen: set[str] = set()
    lost = any(name.endswith("_train") for name in ctx.lost_names())  # told already, and once is enough
    for item in ctx.config.items("trainer_list"):
        name = item.text.strip()
        if is_null(name):
            continue
        if name in seen:
            yield ctx.find("TC052", item, trainer=name)
        elif name in scripts:
            if is_null(scripts[name]):
                yield ctx.find("TC051", item, trainer=name)
        elif ctx.dialect is not None and not lost:
            yield _unknown_trainer(ctx, ctx.dialect, item, scripts)
        seen.add(name)


def _unknown_trainer(ctx: Context, dialect: Dialect, item: Value, keys: Iterable[str]) -> LintFinding:
    name = item.text.strip()
    case = "TC050-nothing"
    if dialect.rules.otherwise:
        case = "TC050-norm"
    trainers = tuple(key for key in keys if key.endswith("_train"))
    close = closest(name, trainers, 0.8)
    fix = because("lint-add-line", text=f"{name}:script")
    if close:
        fix = because("lint-write", text=close)
    return ctx.find(case, item, trainer=name, fix=fix)


def gpus(ctx: Context) -> Iterator[LintFinding]:
    """TC060, TC061, TC062: GPU entries."""
    if ctx.config is None or not ctx.config.line("gpu_list").line:
        return
    for item in ctx.config.items("gpu_list"):
        entry = item.text.strip()
        if is_null(entry):
            continue
        ips, semicolon, ids = entry.rpartition(";")
        if semicolon:
            yield from _fake_address(ctx, item, ips)
        if not re.fullmatch(r"-1|\d+(?:,\d+)*", ids):
            yield ctx.find("TC060", item, entry=entry)
        elif semicolon or ctx.dialect is None:
            continue
        elif len(ids) > LONGEST_IDS:
            yield ctx.find("TC062-address", item, entry=entry)
        elif len(ids) == 2 and ids != "-1":
            yield ctx.find("TC062-one", item, entry=entry)


def _fake_address(ctx: Context, item: Value, ips: str) -> Iterator[LintFinding]:
    """TC061: the first address that no machine can have."""
    for ip in ips.split(","):
        if not _is_address(ip.strip()):
            yield ctx.find("TC061", item.part(item.text.index(ip), ip), address=ip)
            return


def _is_address(text: str) -> bool:
    """Whether a text can be the address of a machine: a number of four parts, or a host's name."""
    if _IP.fullmatch(text):
        return text != _NOWHERE and all(int(part) < 256 for part in text.split("."))
    placeholder = re.fullmatch(r"[xX?*.]+|<.*>|ip\d*", text)
    return not placeholder and bool(re.fullmatch(r"[A-Za-z][\w-]*(?:\.[\w-]+)*", text))


def visible(ctx: Context) -> Iterator[LintFinding]:
    """TC063: one GPU stays visible for the next entry, where no inference undoes it."""
    if ctx.config is None or ctx.dialect is None:
        return
    if ctx.dialect.rules.unset_at_end or _exports(ctx.config, ctx.dialect):
        return
    single = False
    for item in ctx.config.items("gpu_list"):
        entry = item.text.strip()
        if single and "," in entry:
            yield ctx.find("TC063", item, entry=entry)
            return
        single = single or entry.isdigit()


def _exports(config: Config, dialect: Dialect) -> bool:
    """Whether a listed trainer has an export, and so an inference; also where the file ends before it."""
    by_key = {}
    for trainer in dialect.rules.trainers:
        by_key[config.key(trainer.row).text] = trainer
    for item in config.items("trainer_list"):
        chosen = by_key.get(item.text.strip(), dialect.rules.otherwise)
        export = chosen.export.strip("{}") if chosen else ""
        if not config.line(export).line or not is_null(config.value(export)):
            return True
    return False


def near(mode: str, cutoff: float) -> str:
    """The mode that is meant by a name; empty where none is close."""
    if mode in MODES:
        return mode
    return closest(mode, MODES, cutoff)
