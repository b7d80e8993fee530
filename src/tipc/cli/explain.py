"""``tipc explain ID``: the reason and the remedy for a lint code, a check or a fix."""

from __future__ import annotations

import argparse
import sys
import textwrap
from difflib import get_close_matches

from tipc.errors import PASSED, UsageError

WIDTH = 96


def main(argv: list[str]) -> int:
    """Print each id that was asked for; an unknown one is a usage error."""
    parser = argparse.ArgumentParser(
        prog="tipc explain", description="Tell the reason and the remedy for a lint code, a check or a fix."
    )
    parser.add_argument(
        "ids", nargs="+", metavar="ID", help="TC012 (lint), TF001 (a fix), TL101 (a check), …"
    )
    entries = known()
    for name in parser.parse_args(argv).ids:
        identity = name.upper()
        if identity not in entries:
            close = get_close_matches(identity, entries, n=3)
            remedy = f"did you mean {', '.join(close)}?" if close else "tipc checks, tipc fixes, docs/lint.md"
            raise UsageError(f"there is no code, check or fix `{name}`", remedy=remedy)
        sys.stdout.write(entries[identity])
    return PASSED


def known() -> dict[str, str]:
    """Everything that can be explained, with its text."""
    from tipc.certify.registry import all_checks
    from tipc.config.lint.codes import CODES
    from tipc.plan.fixes import FIXES

    found = {}
    for code in CODES.values():
        parts = {"reason": code.reason, "remedy": code.remedy}
        found[code.code] = page(f"{code.code}  {code.title}  (lint {code.severity})", parts)
    for fix in FIXES.values():
        where = f"the scripts of {', '.join(fix.dialects)}"
        found[fix.id] = page(
            f"{fix.id}  {fix.title}  (a fix of the default plan)", {"reason": fix.reason, "in": where}
        )
    for check in all_checks().values():
        parts = {"reads": check.reads, "reason": check.reason, "remedy": check.remedy}
        found[check.id] = page(f"{check.id}  {check.title}  (a check, for each {check.scope})", parts)
    return found


def page(title: str, parts: dict[str, str]) -> str:
    """A title and its parts, wrapped."""
    lines = [title]
    for name, text in parts.items():
        if text:
            lines.append(
                textwrap.fill(text, WIDTH, initial_indent=f"  {name:<8}", subsequent_indent=" " * 10)
            )
    return "\n".join(lines) + "\n"
