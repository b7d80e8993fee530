"""Rules about what a config plans: modes, trainers, GPUs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tipc.config.lint.context import Context, closest, is_null
from tipc.config.lint.model import Finding
from tipc.config.parse import items
from tipc.config.text import Value

TRAIN_MODES = ("lite_train_lite_infer", "lite_train_whole_infer", "whole_train_whole_infer")
MODES = (
    *TRAIN_MODES,
    "whole_train_lite_infer",
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
_EXAMPLES = ("192.168.0.1", "192.168.0.2", "0.0.0.0", "1.1.1.1", "127.0.0.1")


def modes(ctx: Context) -> Iterator[Finding]:
    """TC040 to TC044: the items of a per-mode line."""
    for row, config in ctx.rows("p"):
        value = config.value(row.name)
        if is_null(config.key(row.name)) or is_null(value) or ":" not in config.line(row.name).text:
            continue
        found = items(value)
        if not any("=" in item.text for item in found):
            yield ctx.find(
                "TC042",
                value,
                f"`{value.text}` is a plain value where one per mode is read",
                "the script looks for `mode=value`, finds none and passes no option",
                f"write `{'|'.join(f'{mode}={value.text}' for mode in TRAIN_MODES)}`",
            )
            continue
        listed: Counter[str] = Counter()
        for item in found:
            mode, _, rest = item.text.partition("=")
            listed[mode.strip()] += 1
            yield from _item(ctx, item, mode, rest, listed)
        meant = {near(mode, 0.9) for mode in listed}
        lacking = [mode for mode in TRAIN_MODES if mode not in meant]
        if lacking:
            key = config.key(row.name).text
            effect = f"in that mode `{key}` is not passed at all and the training runs its own default"
            if not config.layout.per_mode:
                effect = (
                    "the bash reads this line for no mode at all; `tipc` takes the nearest one that is listed"
                )
            yield ctx.find(
                "TC041",
                value,
                f"{' and '.join(f'`{mode}`' for mode in lacking)} not listed",
                effect,
                f"add {' and '.join(f'`|{mode}=…`' for mode in lacking)}",
            )


def _item(ctx: Context, item: Value, mode: str, rest: str, listed: Counter[str]) -> Iterator[Finding]:
    if "=" not in item.text or not rest.strip() or "=" in rest:
        yield ctx.find(
            "TC043",
            item,
            f"`{item.text}` is not `mode=value`",
            "the script takes the text between the first two `=`",
            "write `mode=value`",
        )
    elif mode not in MODES:
        close = near(mode.strip(), 0.85)
        edits = [ctx.replaced(item.part(0, mode), close)] if close else []
        yield ctx.find(
            "TC040",
            item.part(0, mode),
            f"there is no mode `{mode}`",
            "the item is never chosen",
            f"write `{close}`" if close else f"one of {', '.join(TRAIN_MODES)}",
            *edits,
        )
    elif listed[mode] > 1:
        yield ctx.find(
            "TC044",
            item,
            f"the mode `{mode}` is listed twice",
            "only the first item counts",
            "remove this one",
        )


def trainers(ctx: Context) -> Iterator[Finding]:
    """TC050, TC051, TC052: the list of trainers against the lines that have their names."""
    if ctx.config is None or ctx.dialect is None or not ctx.config.line("trainer_list").line:
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
            yield ctx.find(
                "TC052",
                item,
                f"the trainer `{name}` is listed twice",
                "it is trained twice into one directory",
                "remove one of them",
            )
        elif name not in scripts and not lost:
            runs = "the norm training under its name" if ctx.dialect.rules.otherwise else "nothing"
            close = closest(name, tuple(key for key in scripts if key.endswith("_train")), 0.8)
            yield ctx.find(
                "TC050",
                item,
                f"the trainer `{name}` has no line",
                f"the script runs {runs}",
                f"write `{close}`" if close else f"add a line `{name}:script`",
            )
        elif name in scripts and is_null(scripts[name]):
            yield ctx.find(
                "TC051",
                item,
                f"the trainer `{name}` is listed, and its script is null",
                "it is skipped silently",
                f"give `{name}` a script, or take it out of the list",
            )
        seen.add(name)


def gpus(ctx: Context) -> Iterator[Finding]:
    """TC060, TC061, TC062: GPU entries."""
    if ctx.config is None or not ctx.config.line("gpu_list").line:
        return
    for item in ctx.config.items("gpu_list"):
        entry = item.text.strip()
        if is_null(entry):
            continue
        ips, semicolon, ids = entry.rpartition(";")
        addresses = ips.split(",") if semicolon else []
        fake = [ip for ip in addresses if not _IP.fullmatch(ip.strip()) or ip.strip() in _EXAMPLES]
        if fake:
            yield ctx.find(
                "TC061",
                item.part(item.text.index(fake[0]), fake[0]),
                f"`{fake[0]}` is a placeholder, not a machine",
                "the launcher is started with it and waits for machines that are not there",
                "put in the machines' addresses",
            )
        if not re.fullmatch(r"-1|\d+(?:,\d+)*", ids):
            yield ctx.find(
                "TC060",
                item,
                f"`{entry}` is no GPU entry",
                "it is passed to the launcher as it is",
                "write ids with commas, `-1` for the CPU, or `ip,ip;ids`",
            )
        elif not semicolon and (len(ids) > 15 or (len(ids) == 2 and ids != "-1")):
            kind = "one GPU, with nothing made visible" if len(ids) == 2 else "an address with no GPU"
            yield ctx.find(
                "TC062",
                item,
                f"the script misreads `{entry}`",
                f"it goes by the text's length and sees {kind}",
                "use ids below 10, and at most eight of them; `tipc` itself reads it right",
            )


def near(mode: str, cutoff: float) -> str:
    """The mode that is meant by a name; empty where none is close."""
    return mode if mode in MODES else closest(mode, MODES, cutoff)
