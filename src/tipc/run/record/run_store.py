"""Where runs are kept, and how one is made, found and read back.

``<home>/runs/<id>/`` holds ``plan.jsonl``, ``environment.json``, ``journal.jsonl``, ``logs/``, ``evidence/``;
later stages add ``verdict.json`` and ``report.html``.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tipc.bounded import OF_A_RUN, bounded_lines, open_regular, read_bounded
from tipc.errors import EnvironmentProblem, Message, UsageError, wording
from tipc.plan.model import Plan
from tipc.plan.plan_json import plan_from_json, plan_json_parts, step_or_data
from tipc.run.environment import environment_from_json
from tipc.run.record.disk import GO_ON, START_AGAIN, disk_problem, parse_json, write_json, write_parts
from tipc.run.record.journal import NAME, Journal, is_running, replay_of
from tipc.run.record.own_logs import with_own_logs
from tipc.run.record.replay import Replay, still_running
from tipc.run.record.results import Run
from tipc.suggestions import closest

PLANS = "plan.jsonl"
ENVIRONMENT = "environment.json"
HOME_NAME = ".tipc"
CONCLUSIONS = ("verdict.json", "report.html")  # written by the stages that follow


def home() -> Path:
    """Where runs and the history are kept: ``$TIPC_HOME``, or ``.tipc`` in the current directory."""
    return Path(os.environ.get("TIPC_HOME") or HOME_NAME).absolute()


def runs(where: Path | None = None) -> list[Path]:
    """The directories of all runs, oldest first. One that was killed before its first line is none."""
    folder = (where or home()) / "runs"
    if not folder.is_dir():
        return []
    begun = []
    for path in folder.iterdir():
        when = _begun(path)
        if when != NEVER:
            begun.append((when, path.name, path))
    return [path for _, _, path in sorted(begun)]


def runs_of(repo: Path) -> list[Path]:
    """The directories of the runs among which those of a repository are, oldest first: they lie in it where
    ``tipc run`` was called in it, else in ``home()``."""
    homes = [home()]
    inside = repo.absolute() / HOME_NAME
    if inside not in homes and not os.environ.get("TIPC_HOME"):
        homes.append(inside)
    found: list[Path] = []
    for where in homes:
        own = runs(where)
        if found and own:
            # The numbers of two homes say nothing about each other: their clocks must do.
            return sorted([*found, *own], key=lambda path: _begun(path)[1])
        found += own
    return found


def find_run(ref: str | Path | None, where: Path | None = None) -> Path:
    """The directory of a run: the newest (None), an id, a prefix of exactly one id, or a directory."""
    if ref is not None and (Path(ref) / NAME).is_file():
        return Path(ref).absolute()
    folder = (where or home()) / "runs"
    known = runs(where)
    if ref is not None:
        return _run_named(str(ref), known, folder)
    if not known:
        raise UsageError(
            wording("there is no run in {folder}", folder=folder),
            remedy=runs_above(where or home()),
        )
    return known[-1]


def _run_named(ref: str, known: list[Path], folder: Path) -> Path:
    """The run with this id, or the only one whose id begins so."""
    by_name = {path.name: path for path in known}
    if ref in by_name:
        return by_name[ref]
    close = [name for name in by_name if name.startswith(ref)]
    if len(close) == 1:
        return by_name[close[0]]
    if close:
        raise UsageError(wording("`{ref}` names several runs: {names}", ref=ref, names=", ".join(close)))
    name, _, call = ref.partition("~")
    if call.isdigit() and name in by_name:
        raise UsageError(
            wording("`{ref}` is an earlier call of the run `{name}`", ref=ref, name=name),
            remedy=wording("its report was kept: {page}", page=by_name[name] / f"report.{call}.html"),
        )
    meant = closest(ref, list(by_name))
    remedy: str | Message = "tipc history"
    if meant:
        remedy = wording("did you mean `{close}`? tipc history lists them", close=meant)
    raise UsageError(wording("there is no run `{ref}` in {folder}", ref=ref, folder=folder), remedy=remedy)


def runs_above(where: Path) -> str | Message:
    """What to do where no run is: one may have been made in a folder above, as that of a demo is."""
    for folder in where.parent.parents:
        if runs(folder / HOME_NAME):
            return wording(
                "tipc run CONFIG [MODE]; the runs of {folder} are kept there: cd {folder}", folder=folder
            )
    return "tipc run CONFIG [MODE]"


def create_run(
    plans: Sequence[Plan],
    environment: Mapping[str, Any],
    *,
    argv: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    where: Path | None = None,
    name: str = "",
) -> Journal:
    """Make the directory of a new run, with its plans and environment, and open its journal."""
    started = time.time()
    directory = _new_directory((where or home()) / "runs", started, name or _name(plans))
    try:
        files = {
            PLANS: write_plans(directory, plans),
            ENVIRONMENT: write_json(directory / ENVIRONMENT, environment),
        }
        journal = Journal(directory)
        journal.files.update(files)
        journal.opened(directory.name, argv, options or {}, started, _next_number(directory.parent))
    except EnvironmentProblem as error:
        shutil.rmtree(directory, ignore_errors=True)  # nothing has run: there is nothing to go on with
        remedy = error.advice
        if error.remedy == GO_ON:
            remedy = START_AGAIN
        raise EnvironmentProblem(error.told, path=error.path, remedy=remedy) from error
    return journal


def write_plans(directory: Path, plans: Sequence[Plan]) -> str:
    """Write the plans of a run, all or nothing; the file's digest."""
    return write_parts(directory / PLANS, _plan_lines(plans))


def _plan_lines(plans: Sequence[Plan]) -> Iterator[str]:
    for plan in plans:
        yield from plan_json_parts(plan)
        yield "\n"


def keep_conclusions(directory: Path) -> None:
    """Number what was concluded about a run that goes on: ``report.html`` becomes ``report.1.html``.

    It is about steps that may run again, so it must not be taken for the result; but it was one.
    """
    number = 1
    while any((directory / _numbered(name, number)).exists() for name in CONCLUSIONS):
        number += 1
    for name in CONCLUSIONS:
        try:
            (directory / name).rename(directory / _numbered(name, number))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise disk_problem(error, directory) from error


def _numbered(name: str, number: int) -> str:
    stem, _, suffix = name.rpartition(".")
    return f"{stem}.{number}.{suffix}"


def load_plans(directory: Path) -> tuple[Plan, ...]:
    """The plans of a run, in order."""
    path = directory / PLANS
    plans: list[Plan] = []
    try:
        plans.extend(plan_from_json(parse_json(line, step_or_data)) for line in bounded_lines(path))
    except (OSError, ValueError, UsageError) as error:
        message = wording("the plans of this run cannot be read: {error}", error=error)
        raise UsageError(message, path=str(path), line=len(plans) + 1) from error
    return tuple(plans)


def load_run(ref: str | Path | None, home: Path | None = None) -> Run:
    """Read a run back, finished or broken off. Every step of every plan has a result."""
    directory = find_run(ref, home)
    replay = replay_of(directory)
    run = run_of(
        directory, load_plans(directory), load_environment(directory), replay, alive=is_running(directory)
    )
    return replace(run, results=with_own_logs(run.results, directory))


def run_of(
    directory: Path,
    plans: Sequence[Plan],
    environment: Mapping[str, Any],
    replay: Replay,
    *,
    alive: bool = False,
) -> Run:
    """A run, as what its journal comes to tells it."""
    results = replay.results_of(plans)
    if alive and replay.finished is None:
        results = still_running(results)
    run = Run(
        id=directory.name,
        directory=directory,
        plans=tuple(plans),
        environment=environment,
        results=results,
        started=0.0,
        ended=None,
        argv=(),
        calls=replay.calls,
        idle=replay.idle,
    )
    began, finished = replay.began, replay.finished
    if began:
        run = replace(run, id=began.id, started=began.at, argv=began.argv)
    if finished:
        run = replace(
            run,
            ended=finished.at,
            tampered=finished.tampered,
            changed_sources=finished.changed_sources,
            changed_settings=finished.changed_settings,
            new_scripts=finished.new_scripts,
        )
    return run


def load_environment(directory: Path) -> Mapping[str, Any]:
    """What is known about the machine: a help, not a result, so damage leaves nothing of it."""
    try:
        return environment_from_json(parse_json(read_bounded(directory / ENVIRONMENT, OF_A_RUN)))
    except (OSError, ValueError):
        return {}


def _new_directory(folder: Path, started: float, name: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(started))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder.parent / ".gitignore"
        if not os.path.lexists(ignore):  # nor a link that leads nowhere: one would write behind it
            ignore.write_text("*\n", encoding="utf-8")  # results are not sources
        for number in range(1, 1000):
            directory = folder / f"{stamp}-{name}"
            if number > 1:
                directory = folder / f"{stamp}-{name}-{number}"
            try:
                directory.mkdir()
            except FileExistsError:
                continue
            (directory / "logs").mkdir()
            (directory / "evidence").mkdir()
            return directory
    except OSError as error:
        raise disk_problem(error, folder, begun=False) from error
    raise UsageError(wording("a thousand runs were started within one second in {folder}", folder=folder))


def _next_number(folder: Path) -> int:
    """One more than the runs that are there have."""
    return 1 + max(_begun(path)[0] for path in folder.iterdir())


def _name(plans: Sequence[Plan]) -> str:
    name = f"{len(plans)}-configs"
    if len({plan.model for plan in plans}) == 1:
        name = plans[0].model
    return re.sub(r"[^\w.+-]+", "_", name)[:60] or "run"


NEVER = (0, 0.0)


def _begun(directory: Path) -> tuple[int, float]:
    """The place of a run among others: its number, for a clock can be put back, and the time of its start."""
    try:
        with open_regular(directory / NAME) as file:
            line = parse_json(file.readline(1 << 20))
            return int(line.get("number", 0)), float(line.get("at", 0.0))
    except (OSError, ValueError, TypeError, AttributeError, OverflowError):
        return NEVER
