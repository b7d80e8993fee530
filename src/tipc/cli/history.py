"""``tipc history``: the earlier runs, newest last."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from time import localtime, strftime

from tipc.cli.options import Parser
from tipc.errors import PASSED
from tipc.language import say

WIDTH = 40
COLUMNS = ("started", "result", "took", "models", "machine", "run")


def main(argv: list[str]) -> int:
    """List runs with their result, duration, models and machine."""
    args = parser().parse_args(argv)

    from tipc.report.history.history_store import newest
    from tipc.report.plain_text import clean, duration
    from tipc.report.terminal import Line, Span, aligned, write_lines
    from tipc.run.record.run_store import home

    entries = newest(home(), machine=args.machine, limit=args.limit)
    if not entries:
        sys.stdout.write(say("no runs in {folder}", folder=home()) + "\n")
        return PASSED
    rows: list[list[Line]] = [[[Span(say(name), "dim")] for name in COLUMNS]]
    for entry in entries:
        style = {"PASSED": "green", "FAILED": "red", "INTERRUPTED": "red"}.get(entry.word, "yellow")
        rows.append(
            [
                [Span(strftime("%Y-%m-%d %H:%M", localtime(entry.started)))],
                [Span(say(entry.word), style)],
                [Span(duration(entry.seconds))],
                [Span(_models(entry.models))],
                [Span(entry.machine)],
                [Span(clean(entry.id))],
            ]
        )
    write_lines(sys.stdout, aligned(rows, gap="  ", indent=""))
    machines = {entry.machine: entry.machine_name for entry in entries}
    write_lines(sys.stdout, [[Span(f"{mark}  {clean(name)}", "dim")] for mark, name in machines.items()])
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
    more = ""
    if len(shown) < len(models):
        more = " " + say("and {count} more", count=len(models) - len(shown))
    return cut(clean(", ".join(shown)), 2 * WIDTH) + more
