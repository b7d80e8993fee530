"""A repository as ``tipc check`` sees it: the plans of its configs, and the newest run of each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tipc.certify.scene import RepoScene
from tipc.errors import TipcError, UsageError
from tipc.plan.model import Plan
from tipc.run.record.results import Run

MODE = "lite_train_lite_infer"


def read_repository(repo: Path) -> RepoScene:
    """Plan every config below ``test_tipc/configs``; raises UsageError if there is no such folder to look
    at."""
    from tipc.plan.build import build_plan
    from tipc.plan.request import Expansion, PlanOptions, expand

    if not repo.is_dir():
        raise UsageError("is not a directory", path=str(repo))
    repo = repo.resolve()
    folder = repo / "test_tipc" / "configs"
    plans: list[Plan] = []
    broken: dict[str, str] = {}
    expansion = Expansion((), MODE)
    texts = sorted(_texts(folder))
    if texts:
        expansion = expand([str(folder)], MODE)
    read = set()
    for name in expansion.configs:
        path = Path(name)
        read.add(os.path.realpath(path))
        try:
            plans.append(build_plan(path, MODE, PlanOptions(repo=str(repo), prepare=False)))
        except UsageError as error:
            broken[path.relative_to(repo).as_posix()] = error.message.splitlines()[0]
    for one in expansion.left_out:
        read.add(os.path.realpath(one.path))
    for path in texts:
        if "infer_python" in path.name and os.path.realpath(path) not in read:
            broken[path.relative_to(repo).as_posix()] = "it has the name of a config, and is not one"
    return RepoScene(repo, tuple(plans), broken, newest_runs(repo, {plan.config for plan in plans}))


def _texts(folder: Path) -> Iterator[Path]:
    """The text files below a folder; what lies deeper than a path can be long is not looked at."""
    for place, _folders, names in os.walk(folder):
        for name in names:
            if name.endswith(".txt"):
                yield Path(place, name)


def newest_runs(repo: Path, configs: set[str]) -> dict[str, Run]:
    """The newest run of each config of a repository; one of a part of its steps only where there is no other.

    Who runs one step again (``--only``, ``-k``) has not taken back what the whole chain has shown.
    """
    from tipc.run.record.run_store import load_run, runs_of

    found: dict[str, Run] = {}
    parts: dict[str, Run] = {}
    for directory in reversed(runs_of(repo)):
        if len(found) == len(configs):
            break
        try:
            run = load_run(directory)
        except TipcError:
            continue  # of another tipc, damaged, or broken off before its plan was written
        for plan in run.plans:
            if Path(plan.repo) == repo and plan.mode == MODE and plan.config in configs:
                into = found
                if any(run.result(plan, step).left_out for step in plan.steps):
                    into = parts
                into.setdefault(plan.config, run)
    return parts | found
