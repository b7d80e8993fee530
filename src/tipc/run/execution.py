"""A session becomes a run: what it will do, and doing it.

Apart from ``session``, which has to be quick: the first server starts as soon as that is put together.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tipc.kinds import FAILED, INTERRUPTED, PASSED, PREPARE
from tipc.plan.model import Key, Plan
from tipc.plan.prepare import interpreter
from tipc.run.earlier import Earlier
from tipc.run.environment import describe
from tipc.run.executors.executor import Executor
from tipc.run.executors.local import LocalExecutor
from tipc.run.inputs import Inputs
from tipc.run.record import run_store
from tipc.run.record.events import RunResumed
from tipc.run.record.journal import Journal, replay_of
from tipc.run.record.locks import output_locks
from tipc.run.record.results import Run
from tipc.run.schedule.graph import build_graph
from tipc.run.schedule.order import order
from tipc.run.schedule.scheduler import Beside, Scheduler, Settings, Watcher
from tipc.run.schedule.stop import StopRequest
from tipc.run.session import Session
from tipc.run.show.progress import Progress


def about_to_prepare(session: Session) -> list[Plan]:
    """The plans whose data this call prepares."""
    done: set[Key] = set()
    if session.run and not (session.rules and session.rules.prepare):
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
        changes = self.scheduler.source_changes()
        self.journal.finished(
            state, self.journal.tampered(), changes.sources, changes.settings, changes.new_scripts
        )

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
            if isinstance(executor, LocalExecutor):
                scheduler.get_ready = executor.get_ready
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
