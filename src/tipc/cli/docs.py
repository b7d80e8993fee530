"""``tipc docs``: write the result tables of test_tipc/README.md and test_tipc/docs/ from runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tipc.cli.options import Parser
from tipc.errors import code_of
from tipc.language import say


def main(argv: list[str]) -> int:
    """Write what has changed; with ``--check`` only tell, and exit 1 if something would change."""
    args = parser().parse_args(argv)

    from tipc.report.documents import documents
    from tipc.report.load import views_of_repository
    from tipc.report.wording import LANGUAGES
    from tipc.run.record.disk import write_text

    found = documents(
        args.repo, views_of_repository(args.repo, args.runs, finished=True), LANGUAGES[args.lang]
    )
    from tipc.report.terminal import padded

    changed = False
    for document in found:
        changed = changed or document.changed
        if not document.changed:
            state = "up to date"
        elif args.check:
            state = "not up to date"
        elif document.old is None:
            state = "created"
        else:
            state = "updated"
        if document.changed and not args.check:
            document.path.parent.mkdir(parents=True, exist_ok=True)
            write_text(document.path, document.new)
        sys.stdout.write(f"{padded(say(state), 14)}  {document.path}\n")
    return code_of(not (args.check and changed))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog="tipc docs",
        description="Write the result tables between the markers <!-- tipc:begin train|infer --> and "
        "<!-- tipc:end train|infer --> of test_tipc/README.md and test_tipc/docs/test_train_*.md. What was "
        "not run or not certified is shown as such.",
    )
    made.add_argument(
        "runs", nargs="*", metavar="RUN", help="default: the newest finished run of each config"
    )
    made.add_argument("--repo", type=Path, default=Path(), help="the model repository; default: here")
    made.add_argument("--lang", choices=("zh", "en"), default="zh", help="of the tables (default zh)")
    made.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a document is not up to date"
    )
    return made
