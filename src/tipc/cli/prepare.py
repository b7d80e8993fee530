"""``tipc prepare``: fetch or unpack the data that a config needs."""

from __future__ import annotations

import argparse
import os
import sys

from tipc.cli.options import Parser
from tipc.errors import wording


def main(argv: list[str]) -> int:
    """Prepare the data of each config; stop at the first that fails."""
    options = parser().parse_args(argv)
    from tipc.plan.build import build_plan
    from tipc.plan.request import PlanOptions, expand
    from tipc.run.prepare.prepare_data import prepare
    from tipc.run.show.prepare_notes import notes_before

    expansion = expand(options.config, options.mode, trace=options.trace)
    repo = options.repo and os.path.abspath(options.repo)
    wanted = PlanOptions(
        repo=repo, python=options.python, dialect=options.dialect, trace=options.trace, prepare=False
    )
    for config in expansion.configs:
        plan = build_plan(config, expansion.mode, wanted)
        for note in notes_before(plan):
            sys.stdout.write(f"{note}\n")
        sys.stdout.flush()  # the script writes to the same place
        code = prepare(plan, sys.stdout)
        if code:
            told = wording("{config}: preparing failed with exit code {code}", config=plan.config, code=code)
            sys.stderr.write(f"{told}\n")
            return 1
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog="tipc prepare",
        description="Unpack what test_tipc/prepare.py names, or run test_tipc/prepare.sh.",
    )
    made.add_argument("config", nargs="+", help="config files, directories or globs, and last the mode")
    made.add_argument("--mode", help="lite_train_lite_infer (the default), whole_infer, …")
    made.add_argument("--repo", metavar="DIR", default="", help="the root of the model repository")
    made.add_argument("--dialect", default="", help="the layout of the config, if it is not recognised")
    made.add_argument(
        "--python", metavar="PROGRAM", default="", help="the interpreter for `python` in the config"
    )
    made.add_argument("--trace", action="store_true", help="the config is of the repository's own script")
    return made
