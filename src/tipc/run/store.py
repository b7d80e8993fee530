"""Where runs are kept, and how one is made, found and read back.

``<home>/runs/<id>/`` holds ``plan.jsonl``, ``environment.json``, ``journal.jsonl``, ``logs/``, ``evidence/``;
later stages add ``verdict.json`` and ``report.html``.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tipc.errors import UsageError
from tipc.plan.model import Plan
from tipc.plan.schema import plan_from_json, plan_to_json
from tipc.run.journal import (
    NAME,
    Journal,
    disk_problem,
    is_running,
    read_events,
    result_from_json,
)
from tipc.run.record import BLOCKED, INTERRUPTED, NOT_SELECTED, PENDING, Run, StepResult

PLANS = "plan.jsonl"
ENVIRONMENT = "environment.json"
CONCLUSIONS = ("verdict.json", "report.html")  # written by the stages that follow


def home() -> Path:
    """Where runs and the history are kept: ``$TIPC_HOME``, or ``.tipc`` in the current directory."""
    return Path(os.environ.get("TIPC_HOME") or ".tipc").absolute()


def runs(where: Path | None = None) -> list[Path]:
    """The directories of all runs, oldest first. One that was killed before its first line is none."""
    folder = (where or home()) / "runs"
    if not folder.is_dir():
        return []
    begun = {path: _begun(path) for path in folder.iterdir()}
    return sorted((path for path in begun if begun[path]), key=lambda path: (begun[path], path.name))


def find_run(ref: str | Path | None, where: Path | None = None) -> Path:
    """The directory of a run: the newest (None), an id, a prefix of exactly one id, or a directory."""
    if ref is not None and (Path(ref) / NAME).is_file():
        return Path(ref).absolute()
    known = runs(where)
    if ref is None:
        if not known:
            raise UsageError(
                f"there is no run in {(where or home()) / 'runs'}", remedy="tipc run CONFIG [MODE]"
            )
        return known[-1]
    exact = [path for path in known if path.name == str(ref)]
    close = exact or [path for path in known if path.name.startswith(str(ref))]
    if len(close) == 1:
        return close[0]
    if close:
        raise UsageError(f"`{ref}` names several runs: {', '.join(path.name for path in close)}")
    raise UsageError(f"there is no run `{ref}` in {(where or home()) / 'runs'}", remedy="tipc history")


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
    write_plans(directory, plans)
    write_json(directory / ENVIRONMENT, environment)
    journal = Journal(directory)
    journal.opened(directory.name, argv, options or {}, started)
    return journal


def write_plans(directory: Path, plans: Sequence[Plan]) -> None:
    """Write the plans of a run, all or nothing."""
    text = "".join(json.dumps(plan_to_json(plan), ensure_ascii=False) + "\n" for plan in plans)
    write_text(directory / PLANS, text)


def write_json(path: Path, data: object) -> None:
    """Write a JSON file, all or nothing."""
    write_text(path, json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file, all or nothing: a reader sees the old text or the new one."""
    raw = text.encode("utf-8", "surrogateescape")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise disk_problem(error, path.parent) from error


def forget_conclusions(directory: Path) -> None:
    """Remove what was concluded about a run that goes on: it is about steps that may run again."""
    for name in CONCLUSIONS:
        try:
            (directory / name).unlink(missing_ok=True)
        except OSError as error:
            raise disk_problem(error, directory) from error


def load_plans(directory: Path) -> tuple[Plan, ...]:
    """The plans of a run, in order."""
    path = directory / PLANS
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        return tuple(plan_from_json(json.loads(line)) for line in text.split("\n") if line)
    except (OSError, ValueError) as error:
        raise UsageError(f"the plans of this run cannot be read: {error}", path=str(path)) from error


def load_run(ref: str | Path | None, home: Path | None = None) -> Run:
    """Read a run back, finished or broken off. Every step of every plan has a result."""
    directory = find_run(ref, home)
    events = read_events(directory)
    plans = load_plans(directory)
    try:
        environment = json.loads((directory / ENVIRONMENT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        environment = {}  # what is known about the machine is a help, not a result
    first: dict[str, Any] = next((event for event in events if event["event"] == "run"), {})
    finish = [event for event in events if event["event"] in ("resume", "finish")][-1:]
    over = bool(finish) and finish[0]["event"] == "finish"
    return Run(
        id=str(first.get("id", directory.name)),
        directory=directory,
        plans=plans,
        environment=environment,
        results=_results(plans, events, alive=not over and is_running(directory)),
        started=float(first.get("at", 0.0)),
        ended=float(finish[0]["at"]) if over else None,
        argv=tuple(first.get("argv", ())),
    )


def _results(
    plans: Sequence[Plan], events: Sequence[Mapping[str, Any]], *, alive: bool
) -> dict[tuple[str, str], StepResult]:
    results = {(plan.key, step.id): StepResult(plan.key, step.id) for plan in plans for step in plan.steps}
    before: dict[tuple[str, str], StepResult] = {}  # what is outdated now, and may hold again
    for event in events:
        kind = event["event"]
        if kind == "deselected":
            for step in event["steps"]:
                key = (event["plan"], step)
                if key in results and results[key].state in (PENDING, BLOCKED, INTERRUPTED):
                    results[key] = replace(results[key], state=PENDING, reason=NOT_SELECTED)
            continue
        if kind == "resume":  # with a selection of its own, which follows
            results |= {key: StepResult(*key) for key, result in results.items() if result.left_out} | before
            before.clear()
            continue
        key = (event.get("plan", ""), event.get("step", ""))
        if key not in results:
            continue  # of a step that is no longer in the plan
        if kind == "start":
            began = StepResult(*key, INTERRUPTED, "tipc was killed while it ran", log=event["log"])
            if alive:
                began = replace(began, state=PENDING, reason="running")
            results[key] = replace(began, attempts=event["attempt"], started=event["at"])
        elif kind == "outdated":
            before[key], results[key] = results[key], StepResult(*key, reason=NOT_SELECTED)
        elif kind == "end":
            results[key] = result_from_json(event)
    return results


def _new_directory(folder: Path, started: float, name: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(started))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")  # results are not sources
        for number in range(1, 1000):
            directory = folder / (f"{stamp}-{name}" + (f"-{number}" if number > 1 else ""))
            try:
                directory.mkdir()
            except FileExistsError:
                continue
            (directory / "logs").mkdir()
            (directory / "evidence").mkdir()
            return directory
    except OSError as error:
        raise disk_problem(error, folder) from error
    raise UsageError(f"a thousand runs were started within one second in {folder}")


def _name(plans: Sequence[Plan]) -> str:
    models = list(dict.fromkeys(plan.model for plan in plans))
    name = models[0] if len(models) == 1 else f"{len(plans)}-configs"
    return re.sub(r"[^\w.+-]+", "_", name)[:60] or "run"


def _begun(directory: Path) -> float:
    try:
        with open(directory / NAME, encoding="utf-8", errors="replace") as file:
            return float(json.loads(file.readline()).get("at", 0.0))
    except (OSError, ValueError, AttributeError):
        return 0.0
