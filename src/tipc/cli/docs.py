"""``tipc docs``: write the result tables of test_tipc/README.md and test_tipc/docs/ from runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tipc.errors import FAILED, PASSED


def main(argv: list[str]) -> int:
    """Write what has changed; with ``--check`` only tell, and exit 1 if something would change."""
    parser = argparse.ArgumentParser(
        prog="tipc docs",
        description="Write the result tables between the markers <!-- tipc:begin train|infer --> and "
        "<!-- tipc:end train|infer --> of test_tipc/README.md and test_tipc/docs/test_train_*.md. What was "
        "not run or not certified is shown as such.",
    )
    parser.add_argument("runs", nargs="*", metavar="RUN", help="default: the newest run of each config")
    parser.add_argument("--repo", type=Path, default=Path(), help="the model repository; default: here")
    parser.add_argument("--lang", choices=("zh", "en"), default="zh")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a document is not up to date"
    )
    args = parser.parse_args(argv)

    from tipc.report.documents import documents
    from tipc.report.load import views_of_repository
    from tipc.report.words import LANGUAGES
    from tipc.run.store import write_text

    found = documents(args.repo, views_of_repository(args.repo, args.runs), LANGUAGES[args.lang])
    changed = [document for document in found if document.changed]
    for document in found:
        state = "up to date"
        if document.changed:
            state = "not up to date" if args.check else "created" if document.old is None else "updated"
        if document.changed and not args.check:
            document.path.parent.mkdir(parents=True, exist_ok=True)
            write_text(document.path, document.new)
        sys.stdout.write(f"{state:<14}  {document.path}\n")
    return FAILED if args.check and changed else PASSED
