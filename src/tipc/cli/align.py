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
from tipc.language import plural, say
from tipc.visible import styled, visible, visible_name

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

        page = align_page(
            alignment, str(options.reference), str(options.ours), verdict(alignment), details(alignment)
        )
        options.html.parent.mkdir(parents=True, exist_ok=True)
        write_text(options.html, page)
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
        description="Compare two recordings of tipc.align.Recorder, stage by stage, and name the first "
        "tensor that differs. What a stage may differ by on average: data 1e-6, forward 1e-6, loss 1e-5, "
        "optimizer 1e-6, backward 1e-5, weights 1e-4; less where the reference's values are small.",
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
        raise argparse.ArgumentTypeError(
            say("must be NAME=VALUE, such as forward=1e-5, not `{text}`", text=text)
        )
    return name, number


def show(alignment: Alignment) -> None:
    """The table, with a bar for how far each tensor is off, and the first one that is too far."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tipc.kinds import mark_of

    table = Table(box=None, pad_edge=False)
    for column in (
        "",
        say("stage"),
        say("name"),
        say("mean |Δ|"),
        say("max |Δ|"),
        say("allowed"),
        say("difference / allowed, log scale"),
    ):
        table.add_column(column)
    for tensor in alignment.tensors:
        sign = mark_of(tensor.ok)
        if tensor.mean or tensor.ok:
            figures = [f"{tensor.mean:.1e}", f"{tensor.largest:.1e}"]
        else:
            figures = [say(tensor.state), ""]
        row = [sign, tensor.stage, tensor.name, *figures, f"{tensor.threshold:.0e}", bar(tensor)]
        table.add_row(*[Text(visible_name(cell)) for cell in row])
    console = Console(file=styled(sys.stdout), highlight=False)
    console.print(table)
    console.print(Text(visible(conclusion(alignment))))


def bar(tensor: TensorDifference) -> str:
    """A line whose length is the logarithm of the difference; ``|`` is what is allowed."""
    if tensor.mean <= 0 or tensor.threshold <= 0:
        return ""
    share = (math.log10(tensor.mean / tensor.threshold) + math.log10(FULL)) / (2 * math.log10(FULL))
    length = round(min(1.0, max(0.0, share)) * BAR)
    line = "━" * length + " " * (BAR - length)
    return line[: BAR // 2] + "|" + line[BAR // 2 :].rstrip()


def verdict(alignment: Alignment) -> str:
    """The word for it."""
    if alignment.ok:
        return say("ALIGNED")
    return say("NOT ALIGNED")


def conclusion(alignment: Alignment) -> str:
    """One line: all equal, or the first that differs and why."""
    return f"{verdict(alignment)} · {details(alignment)}"


def details(alignment: Alignment) -> str:
    """How many, the first that differs and why, and the stages that nobody has recorded."""
    count = len(alignment.tensors)
    parts = []
    first = alignment.first
    if first is None:
        parts.append(plural(count, "tensor"))
    else:
        wrong = sum(not tensor.ok for tensor in alignment.tensors)
        parts.append(say("{wrong} of {count} tensors", wrong=wrong, count=count))
        where = f"{first.stage}/{first.name}"
        parts.append(say("the first is {where}: {why}", where=where, why=why_not(first)))
    if alignment.not_recorded:
        parts.append(say("not recorded: {stages}", stages=", ".join(alignment.not_recorded)))
    return " · ".join(parts)


def why_not(tensor: TensorDifference) -> str:
    """Why a tensor is not equal."""
    from tipc.align.tensor_comparison import DIFFERENT, EXTRA, MISSING, SHAPE

    if tensor.state == SHAPE:
        reference, ours = map(list, tensor.shapes)
        return say("shape {reference} in the reference, {ours} in ours", reference=reference, ours=ours)
    if tensor.state == DIFFERENT:
        return say(
            "mean |Δ| {mean:.2e} where {allowed:.0e} is allowed, on values up to {scale:.3g}",
            mean=tensor.mean,
            allowed=tensor.threshold,
            scale=tensor.scale,
        )
    if tensor.state == MISSING:
        return say("not in ours")
    if tensor.state == EXTRA:
        return say("not in the reference")
    return say(tensor.state)
