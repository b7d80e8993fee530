"""``tipc explain ID``: the reason and the remedy for a lint code, a check or a fix."""

from __future__ import annotations

import argparse
import sys
from difflib import get_close_matches

from rich.cells import cell_len

from tipc.cli.options import Parser, page_width, wrapped
from tipc.errors import PASSED, Message, UsageError, wording
from tipc.language import described, say
from tipc.language.entry import Described


def main(argv: list[str]) -> int:
    """Print each id that was asked for; an unknown one is a usage error."""
    options = parser().parse_args(argv)
    entries = known()
    for name in options.ids:
        identity = name.upper()
        if identity not in entries:
            close = get_close_matches(identity, entries, n=3)
            remedy: str | Message = "tipc checks, tipc fixes, docs/lint.md"
            if close:
                remedy = wording("did you mean `{close}`?", close=", ".join(close))
            raise UsageError(wording("there is no code, check or fix `{name}`", name=name), remedy=remedy)
        sys.stdout.write(entries[identity])
    return PASSED


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog="tipc explain", description="Tell the reason and the remedy for a lint code, a check or a fix."
    )
    made.add_argument("ids", nargs="+", metavar="ID", help="TC012 (lint), TF001 (a fix), TL101 (a check), …")
    return made


def known() -> dict[str, str]:
    """Everything that can be explained, with its text."""
    from tipc.certify.check_text import check_words
    from tipc.certify.registry import all_checks
    from tipc.config.lint.codes import CODES
    from tipc.plan.fixes import FIXES

    found = {}
    for code in CODES.values():
        words = described(code.code, Described(code.title, code.reason, code.remedy))
        kind = say("(lint {severity})", severity=say(code.severity))
        found[code.code] = page(code.code, kind, words)
    for fix in FIXES.values():
        words = described(fix.id, Described(fix.title, fix.reason))
        where = say("the scripts of {families}", families=", ".join(fix.dialects))
        found[fix.id] = page(fix.id, say("(a fix of the default plan)"), words, where)
    for check in all_checks().values():
        found[check.id] = page(
            check.id, say("(a check, for each {scope})", scope=check.scope), check_words(check)
        )
    return found


def page(identity: str, kind: str, words: Described, where: str = "") -> str:
    """A title and its parts, wrapped."""
    from tipc.run.show.fold import folded

    lines = folded(f"{identity}  {words.title}  {kind}", page_width(), 7)
    parts = {
        say("reads"): words.reads,
        say("reason"): words.reason,
        say("in"): where,
        say("remedy"): words.remedy,
    }
    for name, text in parts.items():
        if text:
            indent = name + " " * (8 - cell_len(name))
            for line in wrapped(text, page_width() - 10):
                lines.append(f"  {indent}{line}")
                indent = " " * 8
    return "\n".join(lines) + "\n"
