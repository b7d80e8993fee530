"""``tipc run … --paddle 3.1,3.2``: the same configs on several releases of paddle, and one table."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from pathlib import Path

from tipc.errors import FAILED, PASSED, UsageError

OWN = {"--paddle": True, "--envs": True, "--python": True}  # options of this call alone; True: with a value


def main(options: argparse.Namespace, argv: list[str], run: Callable[[list[str]], int]) -> int:
    """Make the environments, run everything in each, report; the worst exit code."""
    from tipc.run import releases
    from tipc.run.record.run_store import home

    if options.resume is not None or options.rerun_failed is not None:
        raise UsageError("--paddle starts new runs", remedy="tipc run --resume RUN, for one of them")
    if options.python:
        raise UsageError("--paddle brings its own interpreters", remedy="leave --python out")
    repo = _repository(options)
    envs = Path(options.envs).absolute() if options.envs else home() / "envs"
    asked = releases.parse(options.paddle)
    ready = releases.kept(asked, repo, envs)
    if ready is None:
        versions = releases.resolve(asked, releases.available())
        ready = []
        for version in versions:
            sys.stdout.write(f"paddle {version}: environment below {envs}\n")
            sys.stdout.flush()
            ready.append(releases.make(version, repo, envs))
    codes, runs = [], []
    for release in ready:
        sys.stdout.write(f"\n=== paddle {release.version} ===\n")
        sys.stdout.flush()
        before = _newest()
        codes.append(run([*without(argv), "--python", release.python, "--output", release.label]))
        if _newest() != before:
            runs.append((release.version, _newest()))
    _report(runs)
    worst = [code for code in codes if code not in (PASSED, FAILED)]
    if worst:
        return worst[0]
    return FAILED if FAILED in codes else PASSED


def without(argv: list[str]) -> list[str]:
    """The call without the options that only this level reads."""
    kept, skip = [], False
    for word in argv:
        if skip:
            skip = False
            continue
        name = word.partition("=")[0]
        if name in OWN:
            skip = OWN[name] and "=" not in word
            continue
        kept.append(word)
    return kept


def _repository(options: argparse.Namespace) -> Path:
    """The one repository of the configs: its requirements are part of the environments."""
    from tipc.config.identify import repository_of
    from tipc.plan.request import expand

    if not options.config:
        raise UsageError("which config?", remedy="tipc run CONFIG… [MODE] --paddle 3.1,3.2")
    configs = expand(options.config, options.mode).configs
    repos = {Path(options.repo or repository_of(config)).resolve() for config in configs}
    if len(repos) > 1:
        names = ", ".join(sorted(map(str, repos)))
        raise UsageError(f"--paddle takes configs of one repository, not of {names}")
    return repos.pop()


def _newest() -> str:
    from tipc.run.record.run_store import runs

    known = runs()
    return Path(known[-1]).name if known else ""


def _report(runs: list[tuple[str, str]]) -> None:
    """The table, and what changed from each release to the next."""
    from tipc.report.history.comparison import compare
    from tipc.report.history.history_store import History
    from tipc.report.history.step_differences import differences
    from tipc.report.load import find_entry, load_views
    from tipc.report.releases import release_table
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
            result = compare(find_entry(history, old), entry, history.before(entry))
            write_lines(sys.stdout, differences(result))
