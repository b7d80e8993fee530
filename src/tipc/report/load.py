"""Runs of the home directory, read back with their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tipc.certify.verdict_store import load_verdict
from tipc.errors import TipcError, UsageError, wording
from tipc.kinds import INTERRUPTED, PENDING
from tipc.report.history.history_store import NAME, History, PastRun, entry_of
from tipc.report.history.past import Past, past_of
from tipc.report.view import RunView, view_of
from tipc.run.record.results import Run
from tipc.run.record.run_store import home, load_run, runs_of

LOOK_BACK = 200


def load_views(refs: Sequence[str]) -> list[RunView]:
    """The runs that are meant, in the order of their start; without any, the newest."""
    found = {}
    wanted: Sequence[str | None] = refs or [None]
    for ref in wanted:
        run = load_run(ref)
        found[run.id] = run
    ordered = sorted(found.values(), key=lambda run: run.started)
    return [view_of(run, load_verdict(run)) for run in ordered]


def past_for(views: Sequence[RunView]) -> Past | None:
    """What the history knows beside a run; None for several, and where it knows nothing."""
    if len(views) != 1 or not (home() / NAME).is_file():
        return None
    try:
        with History(home()) as history:
            entry = history.listed(views[0].run.id)
            if entry is None:
                return None
            return past_of(history, entry)
    except TipcError:
        return None  # a report is made without it


def remember(views: Sequence[RunView]) -> None:
    """Bring what the history says about these runs up to date: they may have been certified again since."""
    if not (home() / NAME).is_file():
        return
    with History(home()) as history:
        for view in views:
            if history.listed(view.run.id):
                history.add(view)


def views_of_repository(repo: Path, refs: Sequence[str], *, finished: bool = False) -> list[RunView]:
    """What was run in a repository: the given runs, or the newest of each config.

    With ``finished`` only runs that went to their end: half a run would say of the rest that it was not run.
    """
    if refs:
        found = load_views(refs)
    else:
        found = _newest_views(repo, finished)
    views = []
    for view in found:
        if finished and not is_finished(view.run):
            raise UsageError(
                wording("the run {id} is not finished", id=view.run.id),
                remedy="tipc run --resume " + view.run.id,
            )
        ours = of_repository(view, repo)
        if ours.plans:
            views.append(ours)
    if not views:
        what = wording("run")
        if finished:
            what = wording("finished run")
        raise UsageError(
            wording("there is no {what} of a config in {repo}", what=what, repo=repo),
            remedy="tipc run CONFIG [MODE]",
        )
    return sorted(views, key=lambda view: view.run.started)


def _newest_views(repo: Path, finished: bool) -> list[RunView]:
    """The newest run of each config of a repository."""
    views = []
    covered: set[str] = set()
    for directory in reversed(runs_of(repo)[-LOOK_BACK:]):
        try:
            run = load_run(directory)
        except TipcError:
            continue  # of another tipc, damaged, or broken off before its plan was written
        if finished and not is_finished(run):
            continue
        keys = set()
        for plan in run.plans:
            if same(plan.repo, repo):
                keys.add(plan.key)
        if keys - covered:
            covered |= keys
            views.append(view_of(run, load_verdict(run)))
    return views


def is_finished(run: Run) -> bool:
    """It went to its end: nothing was interrupted, left out or is still to run."""
    states = {result.state for result in run.results.values()}
    return run.ended is not None and not states & {PENDING, INTERRUPTED}


def of_repository(view: RunView, repo: Path) -> RunView:
    """The view without the plans of other repositories."""
    return replace(view, plans=tuple(plan for plan in view.plans if same(plan.plan.repo, repo)))


def same(left: str, right: Path) -> bool:
    """Both name one directory, whatever links lead to it."""
    return Path(left).resolve() == right.resolve()


def find_entry(history: History, ref: str | None) -> PastRun:
    """A run by id, prefix or directory: from the history, else from its directory; None: the newest."""
    if ref is not None and (known := history.find(ref)):
        return known
    run = load_run(ref)
    view = view_of(run, load_verdict(run))
    history.add(view)
    return entry_of(view)
