"""``tipc checks``: list the checks."""

from __future__ import annotations

import argparse
import json
import sys

from tipc.cli.options import Parser


def main(argv: list[str]) -> int:
    """Print every check: id, what it is made for, title."""
    options = parser().parse_args(argv)

    from tipc.certify.check_text import check_words
    from tipc.certify.registry import all_checks
    from tipc.run.show.fold import write_folded

    checks = all_checks().values()
    if options.json:
        names = ("id", "title", "scope", "reads", "reason", "remedy")
        listed = []
        for check in checks:
            listed.append({name: getattr(check, name) for name in names})
        json.dump({"schema": "tipc.checks/1", "checks": listed}, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        for check in checks:
            write_folded(sys.stdout, f"{check.id:<6}  {check.scope:<6}  {check_words(check).title}\n", 16)
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser("tipc checks", description="List the checks; `tipc explain ID` says more.")
    made.add_argument("--json", action="store_true", help="with what they read, the reason and the remedy")
    return made
