"""One call of ``tipc run``, put together: the plans, which steps of them, a new run or an earlier one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tipc.errors import UsageError
from tipc.plan.build import build_plan
from tipc.plan.model import Plan
from tipc.run import prepare, resume, store
from tipc.run.environment import describe
from tipc.run.executor import Executor
from tipc.run.graph import Key, build_graph
from tipc.run.journal import Journal, read_events
from tipc.run.locks import output_locks
from tipc.run.order import order
from tipc.run.progress import Progress
from tipc.run.record import GOOD, INTERRUPTED, Run, StepResult
from tipc.run.scheduler import Scheduler, Settings
from tipc.run.select import selected
from tipc.run.stop import StopRequest


@dataclass(frozen=True)
class Request:
    """What to run. Kept in the journal, so that ``--resume`` can make the same plans again."""

    configs: tuple[str, ...]  # absolute
    mode: str
    plan: Mapping[str, Any] = field(default_factory=dict)  # the keyword arguments of ``build_plan``
    prepare: bool = True
    expression: str = ""
    only: str = ""


@dataclass(frozen=True)
class Session:
    """What a call is about to do."""

    plans: tuple[Plan, ...]
    wanted: frozenset[Key]
    request: Request
    run: Path | None = None  # an earlier run that goes on
    rerun_failed: bool = False


def new(request: Request) -> Session:
    """Plan a new run. Nothing is written yet."""
    plans = _build_all(request)
    if request.prepare:
        plans = prepare.with_prepare(plans)
    if not any(plan.steps for plan in plans):
        raise UsageError(
            f"nothing runs in mode {request.mode}", remedy="tipc plan tells what is left out, and why"
        )
    wanted = frozenset(
        (plan.key, step) for plan in plans for step in selected(plan, request.expression, request.only)
    )
    if not wanted:
        raise UsageError("no step is selected by -k and --only", remedy="tipc plan lists the steps")
    build_graph(plans, order(plans))
    return Session(tuple(plans), wanted, request)


def _build_all(request: Request) -> list[Plan]:
    """Every plan, or everything that is wrong with any of the configs."""
    plans, wrong = [], []
    for config in request.configs:
        try:
            plans.append(build_plan(Path(config), request.mode, **request.plan))
        except UsageError as error:
            wrong.append(error)
    if len(wrong) > 1:
        remedy = "tipc lint; nothing was run"
        raise UsageError("\n".join(str(error) for error in wrong), remedy=remedy)
    if wrong:
        raise wrong[0]
    return plans


def again(ref: str | None, *, rerun_failed: bool, expression: str, only: str) -> Session:
    """Plan to go on with an earlier run: the same request, the config files as they are now."""
    directory = store.find_run(ref)
    first = next((event for event in read_events(directory) if event["event"] == "run"), {})
    try:
        options = {**first["options"], "configs": tuple(first["options"]["configs"])}
        request = Request(**options)
    except (KeyError, TypeError) as error:
        raise UsageError(
            "this run cannot be resumed: its request is not known", path=str(directory)
        ) from error
    if expression or only:
        request = Request(**{**asdict(request), "expression": expression, "only": only})
    session = new(request)
    return Session(session.plans, session.wanted, request, directory, rerun_failed)


def execute(
    session: Session, executor: Executor, settings: Settings, progress: Progress, argv: Sequence[str]
) -> tuple[Run, bool]:
    """Run it and close the executor; the run as its directory tells it, and whether it was interrupted."""
    with output_locks(session.plans):
        return _execute(session, executor, settings, progress, argv)


def _execute(
    session: Session, executor: Executor, settings: Settings, progress: Progress, argv: Sequence[str]
) -> tuple[Run, bool]:
    journal = _open(session, argv)
    earlier = resume.Earlier(
        read_events(journal.directory), rerun_failed=session.rerun_failed, tell=progress.note
    )
    scheduler = Scheduler(
        build_graph(session.plans, order(session.plans)),
        journal,
        executor,
        settings,
        progress,
        session.wanted,
        reuse=earlier.reuse,
        earlier=earlier.results,
        outdated=earlier.outdated,
    )
    with journal, StopRequest() as stop:
        scheduler.asked_to_stop = lambda: stop.asked
        try:
            results = scheduler.run()
        finally:
            executor.close()
        state = INTERRUPTED if stop.asked else state_of(results, session.wanted)
        journal.finished(state)
    return store.load_run(journal.directory), stop.asked


def state_of(results: Mapping[Key, StepResult], wanted: frozenset[Key]) -> str:
    """``passed`` if every wanted step passed, else ``failed``."""
    return "passed" if all(results[key].state in GOOD for key in wanted) else "failed"


def _open(session: Session, argv: Sequence[str]) -> Journal:
    """The journal of a new run, or the earlier one's with the plans as they are now."""
    if session.run is None:
        interpreters = [prepare.interpreter(plan) for plan in session.plans]
        facts = describe([plan.repo for plan in session.plans], interpreters)
        return store.create_run(session.plans, facts, argv=argv, options=asdict(session.request))
    journal = Journal(session.run)
    if store.load_plans(session.run) != session.plans:
        store.write_plans(session.run, session.plans)
    journal.resumed(argv)
    store.forget_conclusions(session.run)
    return journal
