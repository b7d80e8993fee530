"""``tipc compare``: speed, latency, memory, loss and accuracy of two runs; exit code 1 on a regression."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tipc.cli.options import Parser
from tipc.errors import UsageError, code_of, wording
from tipc.language import say

if TYPE_CHECKING:
    from tipc.report.history.past import Past


def main(argv: list[str]) -> int:
    """Compare two runs, or one with those before it."""
    args = parser().parse_args(argv)
    if len(args.runs) > 2:
        raise UsageError("compare takes two runs at most", remedy="tipc compare A B")

    from tipc.report.history.comparison import compare
    from tipc.report.history.history_store import History
    from tipc.report.history.past import RUNS, Past, base_of
    from tipc.report.history.step_differences import differences
    from tipc.report.load import find_entry
    from tipc.report.terminal import write_lines
    from tipc.run.record.run_store import home

    with History(home()) as history:
        new = find_entry(history, (args.runs or [None])[-1])
        earlier = history.before(new)
        if len(args.runs) == 2:
            old = find_entry(history, args.runs[0])
        else:
            base = base_of(new, earlier)
            if base is None:
                raise UsageError(
                    wording("there is no run before {id} to compare it with", id=new.id),
                    remedy="tipc history",
                )
            old = history.filled(base)
        earlier = history.valued(earlier, old, new)
        result = compare(old, new, earlier, worth=args.threshold)
    if args.json:
        import json

        from tipc.report.history.comparison_json import comparison_to_json

        sys.stdout.write(json.dumps(comparison_to_json(result), ensure_ascii=False, indent=1) + "\n")
    else:
        write_lines(sys.stdout, differences(result, everything=args.all))
    if args.html:
        _write_page(args.html, new.id, Past((*earlier[-RUNS:], new), result))
    return code_of(not result.regression)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog="tipc compare",
        description="Compare run B with run A. One run is compared with the newest one before it on the same "
        "machine, of another version if there is one; without any, the newest run is. Repeats of a run "
        "(same commits, same versions) count with it. How much a figure may vary is measured: from the "
        "history, or from the samples inside the two runs.",
    )
    made.add_argument("runs", nargs="*", metavar="RUN", help="A B, or B")
    made.add_argument(
        "--threshold",
        type=percentage,
        metavar="PERCENT",
        help="the smallest change that counts (default: 2 for speed and latency, 5 for memory and time)",
    )
    made.add_argument("--all", action="store_true", help="show also what did not change")
    made.add_argument("--json", action="store_true", help="print the comparison as JSON")
    made.add_argument("--html", metavar="PATH", help="also write the report of B with the comparison in it")
    return made


def _write_page(path: str, run: str, past: Past) -> None:
    from pathlib import Path

    from tipc.report.finish import write_page
    from tipc.report.load import load_views

    target = Path(path).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    write_page(load_views([run]), target, past)


def percentage(text: str) -> float:
    """``5``, ``5%`` and ``5 %`` are 0.05."""
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < 1000:
        raise argparse.ArgumentTypeError(say("`{text}` is not a percentage", text=text))
    return value / 100
