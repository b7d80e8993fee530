"""``tipc trend METRIC``: one figure over the runs, machine by machine."""

from __future__ import annotations

import argparse
import sys

from tipc.cli.options import Parser, positive_count
from tipc.errors import PASSED, UsageError, wording
from tipc.suggestions import one_of


def main(argv: list[str]) -> int:
    """Show a figure of each step over the newest runs."""
    args = parser().parse_args(argv)

    from tipc.report.history.history_store import newest
    from tipc.report.history.trends import trends
    from tipc.report.terminal import write_lines
    from tipc.run.record.run_store import home

    entries = newest(home(), machine=args.machine, limit=args.limit, figures=True)
    lines = trends(entries, args.metric, args.words)
    if not lines:
        metrics = set()
        for entry in entries:
            metrics |= {figure.metric for figure in entry.figures.values()}
        known = sorted(metrics)
        if not known:
            raise UsageError(wording("no run has the figure `{metric}`: there is no run", metric=args.metric))
        raise UsageError(
            wording("no run has the figure `{metric}` of what was asked for", metric=args.metric),
            remedy=one_of(args.metric, known),
        )
    write_lines(sys.stdout, lines)
    return PASSED


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog="tipc trend",
        description="Show one figure over the runs: ips, inference_ms, peak_rss_mb, wall_s, loss, acc1, …; "
        "or all of a kind: speed, latency, memory, time, loss, accuracy.",
    )
    made.add_argument("metric", metavar="METRIC")
    made.add_argument(
        "-k", dest="words", default="", metavar="TEXT", help="only configs and steps that contain this"
    )
    made.add_argument("-n", "--limit", type=positive_count, default=30, help="how many runs (default 30)")
    made.add_argument("--machine", default="", metavar="FINGERPRINT", help="only on this kind of machine")
    return made
