"""``tipc report``: look at earlier runs, or turn them into HTML, JUnit, JSON or Markdown."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tipc.cli.options import Parser
from tipc.errors import PASSED, TipcError
from tipc.language import language, say

if TYPE_CHECKING:
    from tipc.report.reporters import Reporter
    from tipc.report.view import RunView

STDOUT = "-"


def main(argv: list[str]) -> int:
    """Without an option: the summary in the terminal."""
    args = parser().parse_args(argv)

    from tipc.report.finish import NAME, write_page
    from tipc.report.load import load_views, remember
    from tipc.run.show.shown import shown_path

    forms = _forms({"junit": args.junit, "json": args.json, args.format: args.output})
    views = load_views(args.runs)
    try:
        remember(views)
    except TipcError as error:  # a report can be read where nothing can be written
        print(f"{say('not in the history: ')}{error}", file=sys.stderr)
    chosen = False
    if args.html is not None or args.open:
        chosen = True
        page = views[-1].run.directory / NAME
        if args.html:
            page = Path(args.html)
        write_page(views, page)
        print(f"{say('report: ')}{shown_path(page)}", file=sys.stderr)
        if args.open:
            _open(page)
    for form, target in forms:
        chosen = True
        _write(target, form.parts(views))
    if args.markdown is not None:
        from tipc.report.markdown import matrix_markdown
        from tipc.report.wording import LANGUAGES

        chosen = True
        _write(args.markdown, [matrix_markdown(views, LANGUAGES[language()])])
    if not chosen:
        _print_summaries(views)
    return PASSED


def _forms(wanted: Mapping[str | None, str | None]) -> list[tuple[Reporter, str]]:
    """The forms that were asked for, and where each goes; raises for one that there is not."""
    found = []
    for name, target in wanted.items():
        if name and target is not None:
            from tipc.report.reporters import reporter

            found.append((reporter(name), target))
    return found


def _print_summaries(views: Sequence[RunView]) -> None:
    from tipc.report.finish import NAME
    from tipc.report.terminal import write_summary

    for view in views:
        page: Path | None = view.run.directory / NAME
        if page and not page.is_file():
            page = None
        write_summary(view, sys.stdout, page)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog="tipc report",
        description="Show earlier runs. RUN is an id, the beginning of one, or a directory; else the newest.",
    )
    made.add_argument("runs", nargs="*", metavar="RUN")
    made.add_argument("--html", nargs="?", const="", metavar="PATH", help="default: report.html in the run")
    made.add_argument("--open", action="store_true", help="write the HTML and show it in a browser")
    made.add_argument("--junit", nargs="?", const=STDOUT, metavar="PATH", help="default: stdout")
    made.add_argument("--json", nargs="?", const=STDOUT, metavar="PATH", help="default: stdout")
    made.add_argument("--markdown", nargs="?", const=STDOUT, metavar="PATH", help="default: stdout")
    made.add_argument(
        "--format", default="", metavar="NAME", help="html, junit, json, markdown, or of a plug-in"
    )
    made.add_argument(
        "--output", default=STDOUT, metavar="PATH", help="where --format writes (default: stdout)"
    )
    return made


def _write(path: str, parts: Iterable[str]) -> None:
    if path == STDOUT:
        sys.stdout.writelines(parts)
        return
    from tipc.run.record.disk import write_parts

    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_parts(target, parts)
    print(f"{say('written: ')}{path}", file=sys.stderr)


def _open(target: Path) -> None:
    import webbrowser

    if not webbrowser.open(target.absolute().as_uri()):
        print(say("no browser could be started; open the file yourself"), file=sys.stderr)
