"""``tipc fixes``: where the default plan differs from the upstream scripts, and why."""

from __future__ import annotations

import argparse
import sys
from textwrap import fill

from tipc.plan.fixes import FIXES


def main(argv: list[str]) -> int:
    """List the fixes; ``--json`` as one array."""
    parser = argparse.ArgumentParser(
        prog="tipc fixes",
        description="List where the default plan differs from the upstream scripts, and why.",
    )
    parser.add_argument("--dialect", metavar="NAME", help="only those that this dialect needs")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    options = parser.parse_args(argv)
    chosen = [fix for fix in FIXES.values() if options.dialect in (None, *fix.dialects)]
    if options.json:
        import json

        sys.stdout.write(json.dumps([fix._asdict() for fix in chosen], indent=2) + "\n")
        return 0
    for fix in chosen:
        reason = fill(fix.reason, 96, initial_indent="       ", subsequent_indent="       ")
        sys.stdout.write(f"{fix.id}  {fix.title}  ({', '.join(fix.dialects)})\n{reason}\n")
    sys.stdout.write("\n`tipc plan --as-upstream` makes none of these differences.\n")
    return 0
