"""``tipc certify``: run the checks again on an earlier run."""

from __future__ import annotations

import argparse
import sys

from tipc.cli.options import Parser
from tipc.errors import code_of


def main(argv: list[str]) -> int:
    """Make the checks on a run, write its verdict, print the findings; 0 if it passed, else 1."""
    options = parser().parse_args(argv)

    from tipc.certify.certifier import certify
    from tipc.certify.evidence.log_text import verdict_text
    from tipc.certify.verdict_store import verdict_parts
    from tipc.language import sentence
    from tipc.report.load import remember
    from tipc.report.view import view_of
    from tipc.run.record.run_store import load_run
    from tipc.run.show.fold import write_folded

    run = load_run(options.run)
    verdict = certify(run, strict=options.strict)
    remember([view_of(run, verdict)])
    if options.json:
        sys.stdout.writelines(verdict_parts(verdict))
        sys.stdout.write("\n")
    else:
        write_folded(sys.stdout, verdict_text(verdict, sentence(run.left_out)))
    return code_of(verdict.passed)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser("tipc certify", description="Run the checks again on an earlier run.")
    made.add_argument("run", nargs="?", help="id, prefix of an id, or directory; the newest if not given")
    made.add_argument("--strict", action="store_true", help="what this machine cannot certify fails, too")
    made.add_argument("--json", action="store_true", help="print the verdict as JSON")
    return made
