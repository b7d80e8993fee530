"""``tipc history``: the earlier runs, newest last."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from time import localtime, strftime

from tipc.cli.options import Parser
from tipc.errors import PASSED

WIDTH = 40


def main(argv: list[str]) -> int:
    """List runs with their result, duration, models and machine."""
    args = parser().parse_args(argv)

    from tipc.report.history.history_store import newest
    from tipc.report.plain_text import clean, duration
    from tipc.report.terminal import Line, Span, aligned, write_lines
    from tipc.run.record.run_store import home

    entries = newest(home(), machine=args.machine, limit=args.limit)
    if not entries:
        sys.stdout.write(f"no runs in {home()}\n")
        return PASSED
    rows: list[list[Line]] = [
        [[Span(name, "dim")] for name in ("started", "result", "took", "models", "machine", "run")]
    ]
    for entry in entries:
        style = {"PASSED": "green", "FAILED": "red", "INTERRUPTED": "red"}.get(entry.word, "yellow")
        rows.append(
            [
                [Span(strftime("%Y-%m-%d %H:%M", localtime(entry.started)))],
                [Span(entry.word, style)],
                [Span(duration(entry.seconds))],
                [Span(_models(entry.models))],
                [Span(entry.machine)],
                [Span(clean(entry.id))],
            ]
        )
    write_lines(sys.stdout, aligned(rows, gap="  ", indent=""))
    names = dict.fromkeys((entry.machine, entry.machine_name) for entry in entries)
    write_lines(sys.stdout, ([Span(f"{mark}  {clean(name)}", "dim")] for mark, name in names))
    return PASSED


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(prog="tipc history", description="List earlier runs, newest last.")
    made.add_argument("-n", "--limit", type=int, default=20, help="how many (default 20)")
    made.add_argument(
        "--machine", default="", metavar="FINGERPRINT", help="only runs on this kind of machine"
    )
    return made


def _models(models: Sequence[str]) -> str:
    """As many names as fit, and how many more there are."""
    from tipc.report.plain_text import clean, cut

    shown = list(models[:1])
    for name in models[1:]:
        if len(", ".join([*shown, name])) > WIDTH:
            break
        shown.append(name)
    more = f" and {len(models) - len(shown)} more" if len(shown) < len(models) else ""
    return cut(clean(", ".join(shown)), 2 * WIDTH) + more
