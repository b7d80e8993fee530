"""One call of ``tipc run``, put together: the plans, which steps of them, a new run or an earlier one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tipc.command import Command
from tipc.errors import TipcError, UsageError, deduplicated, wording
from tipc.kinds import FAILED, INTERRUPTED, PASSED, PREPARE, TIMEOUT
from tipc.plan.model import Plan, Step
from tipc.plan.prepare import interpreter
from tipc.plan.request import PlanOptions
from tipc.plan.several import plan_each
from tipc.run.attempt import Conditions, foreseen
from tipc.run.earlier import Earlier, RerunRules
from tipc.run.environment import describe
from tipc.run.executors.executor import Executor, Task
from tipc.run.inputs import Inputs
from tipc.run.record import run_store
from tipc.run.record.events import RunResumed
from tipc.run.record.journal import Journal, replay_of
from tipc.run.record.locks import output_locks
from tipc.run.record.replay import Replay
from tipc.run.record.results import Key, Run
from tipc.run.schedule.graph import build_graph
from tipc.run.schedule.order import order
from tipc.run.schedule.scheduler import Beside, Scheduler, Settings, Watcher
from tipc.run.schedule.selection import selected
from tipc.run.schedule.stop import StopRequest
from tipc.run.show.progress import Progress


@dataclass(frozen=True)
class Request:
    """What to run. Kept in the journal, so that ``--resume`` can make the same plans again."""

    configs: tuple[str, ...]  # absolute
    mode: str
    plan: PlanOptions = field(default_factory=PlanOptions)
    expression: str = ""
    only: str = ""


@dataclass(frozen=True)
class Session:
    """What a call is about to do."""

    plans: tuple[Plan, ...]
    wanted: frozenset[Key]
    request: Request
    run: Path | None = None  # an earlier run that goes on
    problems: tuple[TipcError, ...] = ()  # of configs that are not run; the others are
    rules: RerunRules = field(default_factory=RerunRules)  # what of an earlier run runs again


def new(request: Request) -> Session:
    """Plan a new run. Nothing is written yet."""
    planned = plan_each(request.configs, request.mode, request.plan)
    if not planned.plans:
        raise _together(planned.problems)
    plans = list(planned.plans)
    if not any(plan.steps for plan in plans):
        raise UsageError(
            wording("nothing runs in mode {mode}", mode=plans[0].mode),
            remedy="tipc plan shows what is left out, and why",
        )
    wanted: set[Key] = set()
    for plan in plans:
        for step in selected(plan, request.expression, request.only):
            wanted.add((plan.key, step))
    if not wanted:
        if request.expression or request.only:
            raise UsageError("no step is selected by -k and --only", remedy="tipc plan lists the steps")
        raise UsageError(
            "nothing but preparation would run", remedy="tipc plan shows what is left out, and why"
        )
    build_graph(plans, order(plans))
    return Session(tuple(plans), frozenset(wanted), request, problems=planned.problems)


def _together(problems: Sequence[TipcError]) -> TipcError:
    """What is wrong with all the configs, as one error."""
    if len(problems) == 1:
        return problems[0]
    remedy = "tipc lint; nothing was run"
    if len({problem.message for problem in problems}) == 1:
        remedy = ""  # it has its own, told once
    return UsageError("\n".join(deduplicated(problems)), remedy=remedy)


@dataclass(frozen=True)
class Changes:
    """What a call that goes on with a run wants otherwise than the call before. None: as it was."""

    expression: str = ""
    only: str = ""
    prepare: bool | None = None  # True: once more; False: not at all
    python: str | None = None
    device: str | None = None
    allow_shell: bool | None = None

    def applied(self, options: PlanOptions) -> PlanOptions:
        """The options of a plan with these changes."""
        if self.prepare is not None:
            options = replace(options, prepare=self.prepare)
        if self.python is not None:
            options = replace(options, python=self.python)
        if self.device is not None:
            options = replace(options, device=self.device)
        if self.allow_shell is not None:
            options = replace(options, allow_shell=self.allow_shell)
        return options


def again(ref: str | None, rules: RerunRules, changes: Changes | None = None) -> Session:
    """Plan to go on with an earlier run: its request, as changed now, with the config files as they are."""
    directory = run_store.find_run(ref)
    replay = replay_of(directory)
    try:
        request = TypeAdapter(Request).validate_python(replay.options)
    except ValidationError as error:
        raise UsageError(
            "this run cannot be resumed: its request is not known", path=str(directory)
        ) from error
    wish = changes or Changes()
    if wish.expression or wish.only:
        request = replace(request, expression=wish.expression, only=wish.only)
    request = replace(request, plan=wish.applied(request.plan))
    session = replace(new(request), run=directory, rules=replace(rules, prepare=wish.prepare is True))
    if session.problems:
        raise _together(session.problems)  # what has begun with them cannot go on without them
    _refuse_to_prepare_again(session, replay)
    return session


def _refuse_to_prepare_again(session: Session, replay: Replay) -> None:
    """A preparation that failed may have deleted data: it is repeated only when that is asked for."""
    if session.rules.prepare or not session.rules.failed:
        return
    for plan in session.plans:
        for step in plan.steps:
            result = replay.results.get((plan.key, step.id))
            if step.kind == PREPARE and result and result.state in (FAILED, TIMEOUT):
                raise UsageError(
                    wording(
                        "preparing {config} failed, and doing it again may remove data", config=plan.config
                    ),
                    remedy="`--prepare` does it again; is the data already there? `--no-prepare`",
                )


def about_to_prepare(session: Session) -> list[Plan]:
    """The plans whose data this call prepares."""
    done: set[Key] = set()
    if session.run and not session.rules.prepare:
        done = {key for key, result in replay_of(session.run).results.items() if result.ok}
    found = []
    for plan in session.plans:
        for step in plan.steps:
            key = (plan.key, step.id)
            if step.kind == PREPARE and key in session.wanted and key not in done:
                found.append(plan)
    return found


def would_run(session: Session) -> frozenset[Key]:
    """The steps that this call would run, as far as can be known before: not those whose earlier result
    holds, but all that follows from a step that runs again."""
    if session.run is None:
        return session.wanted
    replay = replay_of(session.run)
    replay.add(RunResumed(time.time(), ()))  # as this call would begin: what was outdated may hold again
    earlier = Earlier(replay, session.rules)
    inputs = Inputs(session.plans, os.environ)
    nodes = build_graph(session.plans, order(session.plans))
    found: set[Key] = set()
    for node in nodes:
        if node.key not in session.wanted:
            continue
        needed = [nodes[need].key for need in node.needs]
        known = []
        for key in needed:
            if key in earlier.results:
                known.append(earlier.results[key])
        anew = not found.isdisjoint(needed)
        if anew or earlier.reuse(node, inputs.of(node.plan, node.step, known)) is None:
            found.add(node.key)
    return frozenset(found)


def first_tasks(session: Session, *, cold: bool) -> Iterator[Task]:
    """What a new run will start first in each plan, once the data are prepared: one launched, one not."""
    if session.run is not None:
        return  # perhaps nothing of it runs again
    conditions = Conditions(Path(), os.environ, cold=cold, python=session.request.plan.python)
    for plan in session.plans:
        wanted = {step.id for step in plan.steps if (plan.key, step.id) in session.wanted}
        prepares = {step.id for step in plan.steps if step.kind == PREPARE}
        first: dict[str, Step] = {}  # by launcher
        for step in plan.steps:
            if step.id in wanted - prepares and wanted.isdisjoint(set(step.needs) - prepares):
                first.setdefault(Command(step.argv).launcher, step)
        for step in first.values():
            yield foreseen(conditions, plan, step)


def execute(
    session: Session,
    executor: Executor,
    settings: Settings,
    progress: Progress,
    argv: Sequence[str],
    beside: Callable[[Path], Beside] | None = None,
    when_idle: Callable[[], None] | None = None,
) -> tuple[Run, bool]:
    """Run it; what happened, and whether it was interrupted.

    ``beside`` makes, of the run's directory, what is to be done beside the steps. Where it is given the
    executor stays open for it, unless the run breaks off; else nothing of the run lives any more.
    ``when_idle`` is called once while steps run: what comes after them can be made ready there.
    """
    with opened(session, executor, settings, progress, argv) as call, StopRequest() as stop:
        call.scheduler.asked_to_stop = lambda: stop.asked
        call.scheduler.when_idle = when_idle
        if beside is not None:
            call.scheduler.beside = partial(beside, call.journal.directory)
        done = False
        try:
            call.scheduler.run()
            done = beside is not None and not stop.asked
        finally:
            if not done:
                executor.close()
        call.finish(interrupted=stop.asked)
    return call.run, stop.asked


@dataclass(frozen=True)
class SessionCall:
    """A session that has begun: its steps can run, and what happens is written down."""

    session: Session
    journal: Journal
    scheduler: Scheduler
    environment: Mapping[str, Any]

    def finish(self, *, interrupted: bool) -> None:
        """Nothing runs any more: say how it ended, and whether somebody has touched what it rests on."""
        results = self.journal.replay.results_of(self.session.plans)
        state = FAILED
        if all(results[key].ok for key in self.session.wanted):
            state = PASSED
        if interrupted:
            state = INTERRUPTED
        changed = self.scheduler.changed_sources()
        self.journal.finished(state, self.journal.tampered(), changed)

    @property
    def run(self) -> Run:
        """The run as this process has seen it: not as files say that a step could have written."""
        journal = self.journal
        return run_store.run_of(journal.directory, self.session.plans, self.environment, journal.replay)


@contextmanager
def opened(
    session: Session, executor: Executor, settings: Settings, watcher: Watcher, argv: Sequence[str]
) -> Iterator[SessionCall]:
    """Begin: hold the output directories, open the journal, put the graph together."""
    with output_locks(session.plans):
        journal, environment = _open(session, argv)
        with journal:
            scheduler = Scheduler(
                build_graph(session.plans, order(session.plans)),
                journal,
                executor,
                settings,
                watcher,
                session.wanted,
                earlier=Earlier(journal.replay, session.rules, watcher.note),
            )
            yield SessionCall(session, journal, scheduler, environment)


def _open(session: Session, argv: Sequence[str]) -> tuple[Journal, Mapping[str, Any]]:
    """The journal of a new run, or the earlier one's with the plans as they are now; and the machine."""
    options = asdict(session.request)
    if session.run is None:
        interpreters = [interpreter(plan) for plan in session.plans]
        facts = describe([plan.repo for plan in session.plans], interpreters)
        return run_store.create_run(session.plans, facts, argv=argv, options=options), facts
    journal = Journal(session.run)
    journal.files[run_store.PLANS] = run_store.write_plans(session.run, session.plans)
    journal.resumed(argv, options)
    run_store.keep_conclusions(session.run)
    return journal, run_store.load_environment(session.run)
