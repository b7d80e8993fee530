"""``tipc report``: look at earlier runs, or turn them into HTML, JUnit, JSON or Markdown."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tipc.errors import PASSED, TipcError

STDOUT = "-"


def main(argv: list[str]) -> int:
    """Without an option: the summary in the terminal."""
    parser = argparse.ArgumentParser(
        prog="tipc report",
        description="Show earlier runs. RUN is an id, the beginning of one, or a directory; else the newest.",
    )
    parser.add_argument("runs", nargs="*", metavar="RUN")
    parser.add_argument("--html", nargs="?", const="", metavar="PATH", help="default: report.html in the run")
    parser.add_argument("--open", action="store_true", help="write the HTML and show it in a browser")
    parser.add_argument("--junit", nargs="?", const=STDOUT, metavar="PATH", help="default: stdout")
    parser.add_argument("--json", nargs="?", const=STDOUT, metavar="PATH", help="default: stdout")
    parser.add_argument("--markdown", nargs="?", const=STDOUT, metavar="PATH", help="default: stdout")
    parser.add_argument("--lang", choices=("zh", "en"), default="en", help="of the Markdown tables")
    args = parser.parse_args(argv)

    from tipc.report.finish import NAME, write_page
    from tipc.report.load import load_views, remember

    views = load_views(args.runs)
    try:
        remember(views)
    except TipcError as error:  # a report can be read where nothing can be written
        print(f"not in the history: {error.message}", file=sys.stderr)
    chosen = False
    if args.html is not None or args.open:
        chosen = True
        target = Path(args.html) if args.html else views[-1].run.directory / NAME
        write_page(views, target)
        print(f"report: {target}", file=sys.stderr)
        if args.open:
            _open(target)
    if args.junit is not None:
        from tipc.report.junit import junit

        chosen = True
        _write(args.junit, junit(views).decode())
    if args.json is not None:
        from tipc.report.as_json import as_json

        chosen = True
        _write(args.json, json.dumps(as_json(views), indent=1, ensure_ascii=False) + "\n")
    if args.markdown is not None:
        from tipc.report.markdown import matrix_markdown
        from tipc.report.words import LANGUAGES

        chosen = True
        _write(args.markdown, matrix_markdown(views, LANGUAGES[args.lang]))
    if not chosen:
        from tipc.report.terminal import write_summary

        for view in views:
            page = view.run.directory / NAME
            write_summary(view, sys.stdout, page if page.is_file() else None, full=True)
    return PASSED


def _write(path: str, text: str) -> None:
    if path == STDOUT:
        sys.stdout.write(text)
        return
    from tipc.run.store import write_text

    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, text)


def _open(target: Path) -> None:
    import webbrowser

    if not webbrowser.open(target.absolute().as_uri()):
        print("no browser could be started; open the file yourself", file=sys.stderr)
