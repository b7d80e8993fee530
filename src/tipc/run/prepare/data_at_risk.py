"""The data that preparing would remove, before it runs; and after it what was not put back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tipc.plan.model import Plan
from tipc.plan.prepare import DECLARED, SCRIPT
from tipc.run.prepare.removals import removals

NAMED = 6  # paths; of a pattern there may be thousands


def data_at_risk(plan: Plan) -> list[str]:
    """What is there and the script that prepares a plan would remove."""
    repo = Path(plan.repo)
    if (repo / DECLARED).is_file():
        return []  # the script is not run
    return removals(repo / SCRIPT, repo, plan.mode, plan.model)


def not_put_back(plan: Plan, before: Iterable[str]) -> tuple[str, ...]:
    """Which of these paths hold nothing now: a link to nowhere and an empty folder do not, either."""
    return tuple(path for path in before if not _holds_something(Path(plan.repo, path)))


def data_that_is_there(plan: Plan, paths: Iterable[str]) -> list[str]:
    """Which of these paths hold something."""
    return [path for path in paths if _holds_something(Path(plan.repo, path))]


def some_of(paths: Iterable[str]) -> str:
    """The paths as people read them, no more than ``NAMED``."""
    whole = list(paths)
    named = ", ".join(whole[:NAMED])
    if len(whole) > NAMED:
        named += ", …"
    return named


def _holds_something(path: Path) -> bool:
    if not path.is_dir():
        return path.exists()
    try:
        with os.scandir(path) as entries:
            return any(entries)
    except OSError:
        return True  # it cannot be looked at
