"""``tipc lint``: what is wrong in config files, and the mending of what is mechanical."""

from __future__ import annotations

import argparse
import os
import sys

from tipc.config.dialects import NAMES
from tipc.config.lint import render
from tipc.config.lint.discover import config_files
from tipc.config.lint.engine import lint_bytes
from tipc.config.lint.model import Finding
from tipc.config.text import source_of
from tipc.errors import FAILED, PASSED, UsageError


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = argparse.ArgumentParser(
        prog="tipc lint",
        description="Find what is wrong in TIPC config files: each finding with its line, what the bash "
        "would do with it, and what to write instead. `tipc explain CODE` tells more.",
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=100),
        epilog="exit codes: 0 nothing found · 1 errors or warnings · 2 the call is wrong",
    )
    made.add_argument(
        "paths", nargs="*", default=["."], metavar="FILE|DIR", help="default: the current directory"
    )
    made.add_argument("--format", choices=("text", "json", "github"), default="text")
    made.add_argument("--fix", action="store_true", help="mend what is mechanical, in place")
    made.add_argument("--notes", action="store_true", help="show cosmetic notes, too")
    made.add_argument("--dialect", choices=NAMES, help="instead of detecting it")
    made.add_argument("--repo", metavar="DIR", help="the repository's root, instead of detecting it")
    return made


def main(argv: list[str]) -> int:
    """Lint, print, and return the exit code."""
    options = parser().parse_args(argv)
    if options.repo and not os.path.isdir(options.repo):
        raise UsageError("--repo: there is no such directory", path=str(options.repo))
    files = config_files(options.paths)
    found: list[Finding] = []
    mended: list[Finding] = []
    for path in files:
        data = _read(path)
        if options.fix:
            from tipc.config.lint.fix import fixed

            after, done, findings = fixed(data, path, path, dialect=options.dialect, repo=options.repo)
            if after != data:
                _write(path, after)
            mended += done
            data = after
        else:
            findings = lint_bytes(data, path, path, dialect=options.dialect, repo=options.repo)
        shown = [finding for finding in findings if options.notes or finding.severity != "note"]
        if options.format == "text":
            _print(shown, data, path)
        found += findings
    _end(options, found, mended, len(files))
    return FAILED if any(finding.severity != "note" for finding in found) else PASSED


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"the config file cannot be read: {error.strerror}", path=path) from None


def _write(path: str, data: bytes) -> None:
    from tipc.config.lint.fix import write_atomically

    try:
        write_atomically(path, data)
    except OSError as error:
        raise UsageError(f"the config file cannot be written: {error.strerror}", path=path) from None


def _print(findings: list[Finding], data: bytes, path: str) -> None:
    source = source_of(data, path)
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for finding in findings:
        sys.stdout.write(render.text(finding, source, colour=colour) + "\n")


def _end(options: argparse.Namespace, found: list[Finding], mended: list[Finding], files: int) -> None:
    if options.format == "json":
        sys.stdout.write(render.as_json(found, files, mended))
        return
    shown = [finding for finding in found if options.notes or finding.severity != "note"]
    if options.format == "github":
        for finding in shown:
            sys.stdout.write(render.github(finding))
        return
    for finding in mended:
        sys.stdout.write(f"fixed {finding.path}:{finding.line} {finding.code}: {finding.fix}\n")
    sys.stdout.write(render.summary(shown, files, len(found) - len(shown)) + "\n")
