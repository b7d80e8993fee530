"""A repository as ``tipc check`` sees it: the plans of its configs, and the newest run of each."""

from __future__ import annotations

from pathlib import Path

from tipc.certify.scene import RepoScene
from tipc.errors import UsageError
from tipc.plan.model import Plan
from tipc.run.record import Run

MODE = "lite_train_lite_infer"


def read_repository(repo: Path) -> RepoScene:
    """Plan every config below ``test_tipc/configs``; raises UsageError if there is no such folder to look
    at."""
    from tipc.plan.build import build_plan
    from tipc.plan.inputs import expand_configs

    if not repo.is_dir():
        raise UsageError("is not a directory", path=str(repo))
    repo = repo.resolve()
    folder = repo / "test_tipc" / "configs"
    plans: list[Plan] = []
    broken: dict[str, str] = {}
    paths = expand_configs([str(folder)], MODE)[0] if any(folder.glob("**/*.txt")) else []
    for path in paths:
        try:
            plans.append(build_plan(path, MODE, repo=repo))
        except UsageError as error:
            broken[path.relative_to(repo).as_posix()] = error.message.splitlines()[0]
    read = {path.resolve() for path in paths}
    for path in sorted(folder.glob("**/*infer_python*.txt")):
        if path.resolve() not in read:
            broken[path.relative_to(repo).as_posix()] = "it has the name of a config, and is none"
    return RepoScene(repo, tuple(plans), broken, newest_runs(repo, {plan.config for plan in plans}))


def newest_runs(repo: Path, configs: set[str]) -> dict[str, Run]:
    """The newest run of each config of a repository, among those kept here."""
    from tipc.run.store import load_run, runs

    found: dict[str, Run] = {}
    for directory in reversed(runs()):
        if len(found) == len(configs):
            break
        try:
            run = load_run(directory)
        except UsageError:
            continue  # broken off before its plan was written
        for plan in run.plans:
            if Path(plan.repo) == repo and plan.mode == MODE and plan.config in configs:
                found.setdefault(plan.config, run)
    return found
