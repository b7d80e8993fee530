"""``tipc checks``: list the checks."""

from __future__ import annotations

import argparse
import json
import sys


def main(argv: list[str]) -> int:
    """Print every check: id, what it is made for, title."""
    parser = argparse.ArgumentParser(
        "tipc checks", description="List the checks; `tipc explain ID` tells more."
    )
    parser.add_argument("--json", action="store_true", help="with what they read, the reason and the remedy")
    options = parser.parse_args(argv)

    from tipc.certify.registry import all_checks

    checks = all_checks().values()
    if options.json:
        names = ("id", "title", "scope", "reads", "reason", "remedy")
        listed = [{name: getattr(check, name) for name in names} for check in checks]
        json.dump({"schema": "tipc.checks/1", "checks": listed}, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        sys.stdout.writelines(f"{check.id:<6}  {check.scope:<6}  {check.title}\n" for check in checks)
    return 0
