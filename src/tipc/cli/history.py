"""``tipc history``: the earlier runs, newest last."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from shutil import get_terminal_size
from time import localtime, strftime
from typing import TYPE_CHECKING

from tipc.cli.options import Parser, positive_count
from tipc.errors import PASSED
from tipc.language import say

if TYPE_CHECKING:
    from tipc.report.terminal import Line

WIDTH = 40
COLUMNS = ("started", "result", "took", "models", "machine", "run")


def main(argv: list[str]) -> int:
    """List runs with their result, duration, models and machine."""
    args = parser().parse_args(argv)

    from tipc.report.history.history_store import newest
    from tipc.report.machine_facts import spoken_machine
    from tipc.report.plain_text import clean, duration
    from tipc.report.terminal import Span, write_lines
    from tipc.run.record.run_store import home, runs_above

    entries = newest(home(), machine=args.machine, limit=args.limit)
    if not entries:
        sys.stdout.write(say("no runs in {folder}", folder=home()) + "\n")
        sys.stdout.write(f"  {say('try: ')}{runs_above(home())}\n")
        return PASSED
    table: list[dict[str, Line]] = [{name: [Span(say(name), "dim")] for name in COLUMNS}]
    for entry in entries:
        style = {"PASSED": "green", "FAILED": "red", "INTERRUPTED": "red"}.get(entry.word, "yellow")
        table.append(
            {
                "started": [Span(strftime("%Y-%m-%d %H:%M", localtime(entry.started)))],
                "result": [Span(say(entry.word), style)],
                "took": [Span(duration(entry.seconds))],
                "models": [Span(_models(entry.models))],
                "machine": [Span(entry.machine)],
                "run": [Span(clean(entry.id))],
            }
        )
    write_lines(sys.stdout, _fitting(table))
    machines = {entry.machine: spoken_machine(entry.machine_name) for entry in entries}
    write_lines(sys.stdout, [[Span(f"{mark}  {clean(name)}", "dim")] for mark, name in machines.items()])
    return PASSED


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(prog="tipc history", description="List earlier runs, newest last.")
    made.add_argument("-n", "--limit", type=positive_count, default=20, help="how many (default 20)")
    made.add_argument(
        "--machine", default="", metavar="FINGERPRINT", help="only runs on this kind of machine"
    )
    return made


def _fitting(table: Sequence[dict[str, Line]]) -> list[Line]:
    """The lines of the table; on a narrow terminal without what the name of a run tells, too."""
    from rich.cells import cell_len

    from tipc.report.terminal import aligned, text_of

    columns = list(COLUMNS)
    for spare in ("started", "models", ""):
        rows = []
        for row in table:
            rows.append([row[name] for name in columns])
        lines = aligned(rows, gap="  ", indent="")
        widest = max(map(cell_len, map(text_of, lines)))
        if not spare or not sys.stdout.isatty() or widest <= get_terminal_size().columns:
            break
        columns.remove(spare)
    return lines


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
