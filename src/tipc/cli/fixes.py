"""``tipc fixes``: where the default plan differs from the upstream scripts, and why."""

from __future__ import annotations

import argparse
import sys

from tipc.cli.options import Parser, page_width, wrapped
from tipc.language import described, say
from tipc.language.entry import Described
from tipc.plan.fixes import FIXES

SCHEMA = "tipc.fixes/1"


def main(argv: list[str]) -> int:
    """List the fixes; ``--json`` as one object."""
    options = parser().parse_args(argv)
    chosen = [fix for fix in FIXES.values() if options.dialect in (None, *fix.dialects)]
    if options.json:
        import json

        document = {"schema": SCHEMA, "fixes": [fix._asdict() for fix in chosen]}
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return 0
    from tipc.run.show.fold import write_folded

    for fix in chosen:
        words = described(fix.id, Described(fix.title, fix.reason))
        write_folded(sys.stdout, f"{fix.id}  {words.title}  ({', '.join(fix.dialects)})\n", 7)
        for line in wrapped(words.reason, page_width() - 7):
            sys.stdout.write(f"       {line}\n")
    sys.stdout.write("\n" + say("`tipc plan --as-upstream` makes none of these differences.") + "\n")
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog="tipc fixes",
        description="List where the default plan differs from the upstream scripts, and why.",
    )
    made.add_argument("--dialect", metavar="NAME", help="only those that this dialect needs")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made
