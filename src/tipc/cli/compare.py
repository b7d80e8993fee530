"""``tipc compare``: speed, latency, memory, loss and accuracy of two runs; exit code 1 on a regression."""

from __future__ import annotations

import argparse
import sys

from tipc.errors import FAILED, PASSED, UsageError


def main(argv: list[str]) -> int:
    """Compare two runs, or one with those before it."""
    parser = argparse.ArgumentParser(
        prog="tipc compare",
        description="Compare run B with run A. One run is compared with the newest one before it on the same "
        "machine, of another version if there is one; without any, the newest run is. Repeats of a run "
        "(same commits, same versions) count with it. How much a figure may vary is measured: from the "
        "history, or from the samples inside the two runs.",
    )
    parser.add_argument("runs", nargs="*", metavar="RUN", help="A B, or B")
    parser.add_argument(
        "--threshold",
        type=percentage,
        metavar="PERCENT",
        help="the smallest change that counts (default: 2 for speed and latency, 5 for memory and time)",
    )
    parser.add_argument("--all", action="store_true", help="show also what did not change")
    args = parser.parse_args(argv)
    if len(args.runs) > 2:
        raise UsageError("compare takes two runs at most", remedy="tipc compare A B")

    from tipc.report.comparison import compare
    from tipc.report.differences import differences
    from tipc.report.history import History
    from tipc.report.load import find_entry
    from tipc.report.terminal import write_lines
    from tipc.run.store import home

    with History(home()) as history:
        new = find_entry(history, args.runs[-1] if args.runs else None)
        earlier = history.before(new)
        if len(args.runs) == 2:
            old = find_entry(history, args.runs[0])
        elif earlier:
            old = next((one for one in reversed(earlier) if one.build != new.build), earlier[-1])
        else:
            raise UsageError(f"there is no run before {new.id} to compare it with", remedy="tipc history")
        result = compare(old, new, earlier, worth=args.threshold)
    write_lines(sys.stdout, differences(result, everything=args.all))
    return FAILED if result.regression else PASSED


def percentage(text: str) -> float:
    """``5``, ``5%`` and ``5 %`` are 0.05."""
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage")
    return value / 100
