"""``tipc run … --paddle 3.1,3.2``: the same configs on several releases of paddle, and one table."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tipc.errors import FAILED, INTERRUPTED, PASSED, UsageError, wording

if TYPE_CHECKING:
    from tipc.run.paddle_releases import Release

OWN = ("--paddle", "--envs")  # options of this call alone, each with a value


def main(options: argparse.Namespace, argv: list[str], run: Callable[[list[str]], int]) -> int:
    """Make the environments, run everything in each until one is interrupted, report; the worst exit code."""
    _refuse(options, argv)
    codes, runs = [], []
    for release in _environments(options):
        sys.stdout.write(f"\n=== paddle {release.version} ===\n")
        sys.stdout.flush()
        before = _newest()
        code = run([*without(argv), *_of_release(options, release)])
        codes.append(code)
        if _newest() != before:
            runs.append((release.version, _newest()))
        if code == INTERRUPTED:  # who stops one release means the whole call
            break
    _report(runs)
    for code in codes:
        if code not in (PASSED, FAILED):
            return code
    return max(codes, default=PASSED)


def _refuse(options: argparse.Namespace, argv: list[str]) -> None:
    """What a call on several releases cannot be told."""
    from tipc.cli.run import given

    if options.resume is not None or options.rerun_failed is not None:
        raise UsageError("--paddle starts new runs", remedy="tipc run --resume RUN, for one of them")
    if "python" in given(argv):  # the one of the settings gives way
        raise UsageError("--paddle brings its own interpreters", remedy="leave --python out")
    if options.output:
        raise UsageError("--paddle names its own output folders", remedy="leave --output out")


def _environments(options: argparse.Namespace) -> list[Release]:
    """One for each release that was asked for. A dry run makes none."""
    from tipc.run import paddle_releases as releases
    from tipc.run.record.run_store import home

    repos = _repositories(options)
    envs = Path(options.envs or home() / "envs").absolute()
    asked = releases.parse(options.paddle)
    ready = releases.kept(asked, repos, envs)
    if ready is not None:
        return ready
    versions = releases.resolve(asked, releases.available_beside_kept(asked, repos, envs))
    if options.dry_run:
        return [releases.planned(version, repos, envs) for version in versions]
    made = []
    for version in versions:
        told = wording("paddle {version}: environment below {envs}", version=version, envs=str(envs))
        sys.stdout.write(f"{told}\n")
        sys.stdout.flush()
        made.append(releases.make(version, repos, envs))
    return made


def _of_release(options: argparse.Namespace, release: Release) -> list[str]:
    """The options that are of one release: its interpreter, and where it writes."""
    from tipc.cli.run import REPORTS

    words = ["--python", release.python, "--output", release.label]
    for name in REPORTS:
        file = getattr(options, name)
        if file:
            words += [f"--{name}", labelled(file, release.label)]
    return words


def without(argv: list[str]) -> list[str]:
    """The call without the options that only this level reads."""
    kept, skip = [], False
    for word in argv:
        if skip:
            skip = False
            continue
        if _is_own(word):
            skip = "=" not in word
            continue
        kept.append(word)
    return kept


def labelled(file: str, label: str) -> str:
    """A report's file for one release: ``report-paddle-3.1.1.xml``."""
    path = Path(file)
    return str(path.with_name(f"{path.stem}-{label}{path.suffix}"))


def _is_own(word: str) -> bool:
    """Also where it is shortened: argparse has taken it, so it can mean nothing else."""
    name = word.partition("=")[0]
    return len(name) > len("--") and any(option.startswith(name) for option in OWN)


def _repositories(options: argparse.Namespace) -> list[Path]:
    """The repositories of the configs: an environment has the requirements of all of them."""
    from tipc.config.identify import repository_of
    from tipc.plan.request import expand

    if not options.config:
        raise UsageError("which config?", remedy="tipc run CONFIG… [MODE] --paddle 3.1,3.2")
    configs = expand(options.config, options.mode).configs
    repos = {Path(options.repo or repository_of(config)).resolve() for config in configs}
    return sorted(repos)


def _newest() -> str:
    from tipc.run.record.run_store import runs

    known = runs()
    if not known:
        return ""
    return Path(known[-1]).name


def _report(runs: list[tuple[str, str]]) -> None:
    """The table, and what changed from each release to the next."""
    from tipc.report.history.comparison import compare
    from tipc.report.history.history_store import History
    from tipc.report.history.step_differences import differences
    from tipc.report.load import find_entry, load_views
    from tipc.report.release_table import release_table
    from tipc.report.terminal import write_lines
    from tipc.run.record.run_store import home

    if not runs:
        return
    sys.stdout.write("\n")
    write_lines(sys.stdout, release_table([(version, load_views([run])[0]) for version, run in runs]))
    with History(home()) as history:
        for (older, old), (newer, new) in itertools.pairwise(runs):
            sys.stdout.write(f"\npaddle {older} → {newer}\n")
            entry = find_entry(history, new)
            base = find_entry(history, old)
            earlier = history.valued(history.before(entry), base, entry)
            result = compare(base, entry, earlier)
            write_lines(sys.stdout, differences(result))
