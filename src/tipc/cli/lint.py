"""``tipc lint``: what is wrong in config files, and the mending of what is mechanical."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass, field

from tipc.bounded import read_bounded
from tipc.cli.options import Parser, parse
from tipc.config.dialects import NAMES
from tipc.config.discover import config_files
from tipc.config.lint import lint_text as render
from tipc.config.lint.codes import CODES
from tipc.config.lint.finding import LintFinding
from tipc.config.lint.linter import lint_bytes
from tipc.config.source import Source, source_of
from tipc.errors import UsageError, code_of, wording
from tipc.language import say, sentence
from tipc.suggestions import one_of
from tipc.visible import styled, write_command


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = Parser(
        prog="tipc lint",
        description="Find what is wrong in TIPC config files: each finding with its line, what the bash "
        "would do with it, and what to write instead. `tipc explain CODE` says more.",
        epilog="exit codes: 0 nothing found · 1 errors or warnings · 2 the call is wrong",
    )
    made.add_argument(
        "paths", nargs="*", default=["."], metavar="FILE|DIR", help="default: the current directory"
    )
    made.add_argument(
        "--format", choices=("text", "json", "github"), default="text", help="how findings are printed"
    )
    made.add_argument(
        "--fix", action="store_true", help="fix what is mechanical, where the plan loses no command"
    )
    made.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="fix also where the plan loses commands; what it loses is printed",
    )
    made.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    made.add_argument("--each", action="store_true", help="show every finding, not one for many alike")
    made.add_argument("--ignore", type=_codes, default=[], metavar="CODES", help="do not report TC052,TC061")
    made.add_argument("--notes", action="store_true", help="show cosmetic notes, too")
    made.add_argument("--dialect", choices=NAMES, help="instead of detecting it")
    made.add_argument("--repo", metavar="DIR", help="the repository's root, instead of detecting it")
    return made


def main(argv: list[str]) -> int:
    """Lint, print, and return the exit code."""
    options = parse(parser(), argv, "lint")
    if options.repo and not os.path.isdir(options.repo):
        raise UsageError("--repo: there is no such directory", path=str(options.repo))
    for code in options.ignore:
        if code not in CODES:
            raise UsageError(
                wording("--ignore: there is no lint code `{code}`", code=code), remedy=one_of(code, CODES)
            )
    mending = options.fix or options.unsafe_fixes or options.diff
    files = config_files(options.paths)
    found: list[LintFinding] = []
    sources: dict[str, Source] = {}
    changes = FileChanges()
    for path in files:
        data = _read(path)
        if mending:
            data, findings = _mend(path, data, options, changes)
        else:
            findings = _offered(path, data, options)
        findings = [finding for finding in findings if finding.code not in options.ignore]
        if findings:
            sources[path] = source_of(data, path)
        found += findings
    if options.diff:
        sys.stdout.write("".join(changes.diffs))
    else:
        _report(options, found, sources, changes, len(files))
    return code_of({finding.severity for finding in found} <= {"note"})


@dataclass
class FileChanges:
    """What ``--fix`` did to the files of a call."""

    mended: list[LintFinding] = field(default_factory=list)
    told: list[str] = field(default_factory=list)  # what was not changed, or at what risk
    diffs: list[str] = field(default_factory=list)


def _offered(path: str, data: bytes, options: argparse.Namespace) -> list[LintFinding]:
    """The findings of a file; ``--fix`` is offered only where it is done: for a script that is known."""
    findings = lint_bytes(data, path, path, dialect=options.dialect, repo=options.repo)
    if not any(finding.fixable for finding in findings):
        return findings
    from tipc.cli.lint_risk import unknown_script

    if unknown_script(path, data, options):
        return _without_edits(findings)
    return findings


def _without_edits(findings: list[LintFinding]) -> list[LintFinding]:
    return [finding._replace(edits=()) for finding in findings]


def _mend(
    path: str, data: bytes, options: argparse.Namespace, changes: FileChanges
) -> tuple[bytes, list[LintFinding]]:
    """Mend a file whose script is known; what it is afterwards, and what remains."""
    from tipc.cli.lint_risk import plan_risk, unknown_script
    from tipc.config.lint.fix import fixed, no_risk

    script = unknown_script(path, data, options)
    if script:
        findings = lint_bytes(data, path, path, dialect=options.dialect, repo=options.repo)
        if any(finding.fixable for finding in findings):
            changes.told.append(
                say(
                    "not fixed {path}: {script} is not known, so what reads this file is not",
                    path=path,
                    script=script,
                )
            )
        return data, _without_edits(findings)
    lost = plan_risk(path, options)
    allowed = lost
    if options.unsafe_fixes:
        allowed = no_risk
    done = fixed(data, path, path, dialect=options.dialect, repo=options.repo, risk=allowed)
    if options.unsafe_fixes and (cost := lost(data, done.data)):
        changes.told.append(say("risk {path}: {cost}", path=path, cost=sentence(cost)))
    for finding, risk in done.refused:
        changes.told.append(
            say(
                "not fixed {place}: {cost} (--unsafe-fixes does it all the same)",
                place=f"{path}:{finding.line} {finding.code}",
                cost=sentence(risk),
            )
        )
    changes.mended += done.mended
    if done.data != data:
        changes.diffs.append(_diff(path, data, done.data))
        if not options.diff:
            _write(path, done.data)
    return done.data, done.findings


def _diff(path: str, before: bytes, after: bytes) -> str:
    from difflib import unified_diff

    old = before.decode("utf-8", "backslashreplace").splitlines(keepends=True)
    new = after.decode("utf-8", "backslashreplace").splitlines(keepends=True)
    text = ""
    for line in unified_diff(old, new, f"a/{path}", f"b/{path}"):
        text += line
        if not line.endswith("\n"):
            text += "\n\\ No newline at end of file\n"
    return text


def _codes(text: str) -> list[str]:
    found = []
    for code in text.split(","):
        if code.strip():
            found.append(code.strip().upper())
    return found


def _read(path: str) -> bytes:
    try:
        return read_bounded(path)
    except OSError as error:
        raise UsageError(
            wording("the config file cannot be read: {strerror}", strerror=error.strerror), path=path
        ) from None


def _write(path: str, data: bytes) -> None:
    from tipc.config.lint.fix import write_atomically

    try:
        write_atomically(path, data)
    except OSError as error:
        raise UsageError(
            wording("the config file cannot be written: {strerror}", strerror=error.strerror), path=path
        ) from None


def _report(
    options: argparse.Namespace,
    found: list[LintFinding],
    sources: dict[str, Source],
    changes: FileChanges,
    files: int,
) -> None:
    if options.format == "json":
        from tipc.config.lint.lint_json import as_json

        sys.stdout.write(as_json(found, files, changes.mended))
        return
    shown = [finding for finding in found if options.notes or finding.severity != "note"]
    if options.format == "github":
        for finding in shown:
            write_command(sys.stdout, render.github(finding))
        return
    from tipc.run.show.colour import coloured

    colour = coloured(sys.stdout)
    out = styled(sys.stdout)
    for group in render.grouped(shown, each=options.each):
        first = group[0]
        out.write(render.text(first, sources[first.path], colour=colour))
        sys.stdout.write(render.others(group) + "\n")
    for finding in changes.mended:
        place = f"{finding.path}:{finding.line} {finding.code}"
        sys.stdout.write(say("fixed {place}: {fix}", place=place, fix=finding.fix) + "\n")
    for line in changes.told:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(render.summary(shown, files, len(found) - len(shown)) + "\n")
