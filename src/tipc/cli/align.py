"""``tipc align``: hold a reproduction's recorded tensors against its reference's."""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tipc.cli.options import Parser
from tipc.errors import code_of

if TYPE_CHECKING:
    from tipc.align import Alignment, TensorDifference

BAR = 24  # characters: a full bar is a difference of FULL times what is allowed
FULL = 1e4


def main(argv: list[str]) -> int:
    """Print the table and the first name that differs; 0 if all are equal within their thresholds, else 1."""
    options = parser().parse_args(argv)

    from tipc.align import compare, read_recording

    alignment = compare(
        read_recording(options.reference), read_recording(options.ours), dict(options.threshold)
    )
    if options.html:
        from tipc.report.html.align_page import align_page
        from tipc.run.record.disk import write_text

        told = conclusion(alignment)
        options.html.parent.mkdir(parents=True, exist_ok=True)
        write_text(options.html, align_page(alignment, str(options.reference), str(options.ours), told))
    if options.json:
        content = {"schema": "tipc.align/1", "aligned": alignment.ok, **asdict(alignment)}
        json.dump(content, sys.stdout, indent=1)
        sys.stdout.write("\n")
    else:
        show(alignment)
    return code_of(alignment.ok)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        "tipc align",
        description="Compare two recordings of tipc.align.Recorder, stage by stage: data, forward, loss, "
        "optimizer, backward, weights.",
    )
    made.add_argument("reference", type=Path, metavar="REF.npz", help="recorded with the reference code")
    made.add_argument("ours", type=Path, metavar="OURS.npz", help="recorded with the reproduction")
    made.add_argument(
        "--threshold",
        action="append",
        default=[],
        type=threshold,
        metavar="NAME=VALUE",
        help="the mean absolute difference that a stage, a stage/name or a pattern may have: forward=1e-5",
    )
    made.add_argument("--json", action="store_true", help="print it as JSON")
    made.add_argument("--html", type=Path, metavar="FILE", help="also write a page with a plot")
    return made


def threshold(text: str) -> tuple[str, float]:
    """``forward=1e-5``."""
    name, _, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not name or not number >= 0:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, such as forward=1e-5, not {text!r}")
    return name, number


def show(alignment: Alignment) -> None:
    """The table, with a bar for how far each tensor is off, and the first one that is too far."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tipc.kinds import mark_of

    table = Table(box=None, pad_edge=False)
    for column in ("", "stage", "name", "mean |Δ|", "max |Δ|", "allowed", "difference / allowed, log scale"):
        table.add_column(column)
    for tensor in alignment.tensors:
        sign = mark_of(tensor.ok)
        if tensor.mean or tensor.ok:
            figures = [f"{tensor.mean:.1e}", f"{tensor.largest:.1e}"]
        else:
            figures = [tensor.state, ""]
        row = [sign, tensor.stage, tensor.name, *figures, f"{tensor.threshold:.0e}", bar(tensor)]
        table.add_row(*map(Text, row))
    console = Console(file=sys.stdout, highlight=False)
    console.print(table)
    console.print(Text(conclusion(alignment)))


def bar(tensor: TensorDifference) -> str:
    """A line whose length is the logarithm of the difference; ``|`` is what is allowed."""
    if tensor.mean <= 0 or tensor.threshold <= 0:
        return ""
    share = (math.log10(tensor.mean / tensor.threshold) + math.log10(FULL)) / (2 * math.log10(FULL))
    length = round(min(1.0, max(0.0, share)) * BAR)
    line = "━" * length + " " * (BAR - length)
    return line[: BAR // 2] + "|" + line[BAR // 2 :].rstrip()


def conclusion(alignment: Alignment) -> str:
    """One line: all equal, or the first that differs and why."""
    count = len(alignment.tensors)
    first = alignment.first
    if first is None:
        return f"ALIGNED · {count} tensors"
    wrong = sum(not tensor.ok for tensor in alignment.tensors)
    where = f"{first.stage}/{first.name}"
    if first.state == "shape":
        why = f"shape {list(first.shapes[0])} in the reference, {list(first.shapes[1])} in ours"
    elif first.state == "different":
        why = f"mean |Δ| {first.mean:.2e} where {first.threshold:.0e} is allowed"
        why += f", on values up to {first.scale:.3g}"
    else:
        why = {"missing": "not in ours", "extra": "not in the reference"}.get(first.state, first.state)
    return f"NOT ALIGNED · {wrong} of {count} tensors · the first is {where}: {why}"
