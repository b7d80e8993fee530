"""Rules that need no table: for the configs of scripts that we do not know, and for every file's name."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tipc.config.lint.finding import LintFinding
from tipc.config.lint.line_alignment import names_of, split_key
from tipc.config.lint.script_layout import NAMED_ROWS
from tipc.config.lint.subject import Context
from tipc.config.source import Line
from tipc.kinds import BENCHMARK_CHAIN


def misplaced(ctx: Context) -> Iterator[LintFinding]:
    """TC013: a name that stands where the script reads another field. Once: what follows is shifted, too."""
    if ctx.config is None or ctx.dialect is not None:
        return
    places = {}
    for row in ctx.config.layout.rows:
        for name in names_of(NAMED_ROWS.get(row.name, row)):
            places[name] = row.index
    for index, line in enumerate(ctx.config.lines):
        key = split_key(line.text)[0]
        place = places.get(key, index)
        if place == index or place >= len(ctx.config.lines):
            continue
        there = ctx.config.lines[place]
        if split_key(there.text)[0] != key:
            yield ctx.find(
                "TC013-elsewhere",
                Line(line.number, key),
                key=key,
                reads=there.number,
                stands=line.number,
                text=there.text[:60],
                index=place,
            )
            return


def benchmark_layout(ctx: Context) -> Iterator[LintFinding]:
    """TC015: a config in the layout of benchmark_train.sh under the name of a training config."""
    if ctx.chain != BENCHMARK_CHAIN or "train_infer" not in os.path.basename(ctx.source.path):
        return
    place = next(line for line in ctx.source.seen() if line.text.startswith("bs_item:"))
    yield ctx.find("TC015", place)


def file_name(ctx: Context) -> Iterator[LintFinding]:
    """TC080: the extension of the file itself."""
    name = os.path.basename(ctx.source.path)
    if name.endswith(".txt.txt"):
        yield ctx.find("TC080-file", 0, name=name.removesuffix(".txt"))
