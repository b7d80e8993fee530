"""Runs the steps of one or more plans: each as soon as what it needs has passed and its claim fits.

One loop in one thread. It sleeps in ``Executor.wait`` and wakes when a step ends, or ``PULSE`` seconds later
to look whether it was asked to stop.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Protocol

from tipc.kinds import BLOCKED, FAILED, INTERRUPTED, PENDING, PREPARE, TIMEOUT
from tipc.message import spoken, wording
from tipc.plan.model import Key, Plan, Step
from tipc.reasons import Reason, because
from tipc.run.artefacts import missing
from tipc.run.attempt import Attempt, begin, finish
from tipc.run.earlier import Earlier, KeptResult
from tipc.run.executors.executor import Executor, Task, TaskOutcome
from tipc.run.inputs import Inputs, SourceChanges
from tipc.run.record.journal import Journal
from tipc.run.record.results import StepResult
from tipc.run.schedule.graph import Node
from tipc.run.schedule.ready_queue import ReadyQueue
from tipc.run.schedule.resources import ANYTHING, Claim, Resources, claim_of
from tipc.run.show import results_log
from tipc.run.show.prepare_notes import data_notes
from tipc.run.tasks import Conditions, foreseen

PULSE = 0.25
SYNC = 1.0  # seconds of results that a power cut may cost


class Watcher(Protocol):
    """Is told what happens, in order."""

    def started(self, plan: Plan, step: Step, attempt: int, log: Path) -> None:
        """An attempt was given to the executor."""

    def begun(self, plan: Plan, step: Step, at: float) -> None:
        """Its own program runs, since ``at`` by the monotonic clock: what it had to wait for is there."""

    def retried(self, plan: Plan, step: Step, result: StepResult) -> None:
        """An attempt has failed and another one follows."""

    def ended(self, plan: Plan, step: Step, result: StepResult) -> None:
        """The last word on a step that ran or was blocked."""

    def kept(self, plan: Plan, step: Step, kept: KeptResult) -> None:
        """A step need not run again: its earlier result holds."""

    def pulse(self) -> None:
        """Nothing has happened for a moment."""

    def note(self, text: str) -> None:
        """Something that the user should know."""


class Beside(Protocol):
    """Work of others (the checks) that is done beside the steps, where there is room for it. Its tasks are
    nice to steps by themselves."""

    def settled(self, result: StepResult) -> None:
        """A step has its result."""

    def next_task(self) -> Task | None:
        """Something to do that takes one core; None: nothing at the moment."""

    def started(self, task: Task, ticket: int) -> None:
        """It runs."""

    def ended(self, ticket: int, outcome: TaskOutcome) -> None:
        """It has ended."""

    def look_after(self) -> None:
        """Nothing has happened for a moment: see to it that nothing that runs takes too much."""

    def pulse(self) -> None:
        """Nothing has happened for a moment, and no step is measuring or preparing."""


@dataclass(frozen=True)
class Settings:
    """How a call wants its steps run."""

    cores: int  # of this machine or, for an executor with a queue, of the largest that it has
    jobs: int | None = None
    whole_cores: int = 0  # of the cores, those that share nothing with another; 0: it is not known
    queued: bool = False  # the executor has a queue of its own: it is given all that is ready
    timeout: float | None = None
    retries: int = 0
    fail_fast: bool = False
    cold: bool = False
    python: str = ""  # runs in place of the interpreter that an --as-upstream plan names


@dataclass
class _Running:
    attempt: Attempt
    node: Node
    claim: Claim
    inputs: Mapping[str, str]
    begun: bool = False  # its own program runs


def _must_not_wait(running: _Running) -> bool:
    """Whether a moment lost here is seen: a step that measures, or one that all others wait for, which as a
    rule is short."""
    return running.claim.alone or running.node.step.kind == PREPARE


@dataclass
class Scheduler:
    """The state of one call. ``run`` is called once; or ``open`` once, and then ``result_of`` for each step
    that somebody (pytest) asks for."""

    nodes: Sequence[Node]
    journal: Journal
    executor: Executor
    settings: Settings
    watcher: Watcher
    wanted: frozenset[Key]
    asked_to_stop: Callable[[], bool] = lambda: False
    earlier: Earlier = field(default_factory=Earlier)  # what other calls of the same run have left
    beside: Callable[[], Beside] | None = None  # made in a quiet moment: it may take a while
    when_idle: Callable[[], None] | None = None  # called once, in a quiet moment
    get_ready: Callable[[Task], None] | None = None  # called for what comes after the steps that run

    def __post_init__(self) -> None:
        self.results: dict[Key, StepResult] = {}
        plans = {node.index: node.plan for node in self.nodes}
        self._inputs = Inputs(list(plans.values()), os.environ)
        self._resources = Resources(self.settings.cores, self.settings.jobs, self.settings.whole_cores)
        self._conditions = Conditions(
            self.journal.directory,
            dict(os.environ),
            self.settings.timeout,
            self.settings.cold,
            self.settings.python,
            self.settings.cores,
        )
        self._ready = ReadyQueue()
        self._waits = [len({*node.needs, *node.after}) for node in self.nodes]
        self._running: dict[int, _Running] = {}
        self._beside: Beside | None = None
        self._tickets_beside: set[int] = set()
        self._foreseen: set[int] = set()
        self._stopping: Reason | None = None
        self._settled: deque[tuple[Node, StepResult]] = deque()

    def run(self) -> dict[Key, StepResult]:
        """Run everything that can run; a result for each step, wanted or not."""
        self.open()
        return self.finish()

    def finish(self) -> dict[Key, StepResult]:
        """Go on to the end; a result for each step."""
        while self._turn():
            pass
        for node in self.nodes:
            self.results.setdefault(node.key, StepResult(*node.key, reason=self._stopping))
        return self.results

    def open(self) -> None:
        """Say what is not wanted, and let everything begin that waits for nothing."""
        for plan, nodes in groupby(self.nodes, lambda node: node.plan.key):
            unwanted = [node.step.id for node in nodes if node.key not in self.wanted]
            if unwanted:
                self.journal.deselected(plan, unwanted)
        for node in [node for node in self.nodes if self._waits[node.position] == 0]:
            self._open(node)

    def result_of(self, key: Key) -> StepResult:
        """Go on until this step has ended; others run beside it as they would in ``run``."""
        while key not in self.results and self._turn():
            pass
        return self.results.get(key) or StepResult(*key, reason=self._stopping)

    def source_changes(self) -> SourceChanges:
        """What became of scripts, configs and settings while the steps ran."""
        return self._inputs.changes()

    def stop(self, reason: Reason) -> None:
        """Start nothing more, and end what runs; the outcomes come as usual."""
        self._stopping = reason
        for ticket in (*self._running, *self._tickets_beside):
            self.executor.kill(ticket)

    def _turn(self) -> bool:
        """Start what can start and wait a moment for something to end; False when nothing runs any more."""
        self._start_what_fits()
        self._start_beside()
        # What still runs beside steps that have all ended is waited for by those whose work it is.
        if not self._running and not (self._tickets_beside and self._ready):
            return False
        self.journal.sync(every=SYNC)
        ended = self.executor.wait(PULSE)
        for ticket, outcome in ended:
            if ticket in self._tickets_beside:
                self._end_beside(ticket, outcome)
            else:
                self._end(ticket, outcome)
        if not ended:
            if self._beside:
                self._beside.look_after()
            if not any(map(_must_not_wait, self._running.values())):
                self._quiet_moment()
        self._tell_begun()
        self.watcher.pulse()
        if self.asked_to_stop() and not self._stopping:
            self.watcher.note(str(wording("stopping: every process is being ended")))
            self.stop(because("stopped"))
        return True

    def _tell_begun(self) -> None:
        for ticket, running in self._running.items():
            if running.begun:
                continue
            at = self.executor.begun(ticket)
            if at:
                running.begun = True
                self.watcher.begun(running.node.plan, running.node.step, at)

    def _start_beside(self) -> None:
        """Steps come first: others get what they leave free."""
        if self._beside and self._tickets_beside and not self._running:
            self._beside.pulse()  # the next step waits for what runs beside: others need not
        while self._beside and self._running and not self._stopping and self._resources.has_room_beside():
            task = self._beside.next_task()
            if task is None:
                return
            self._resources.take_beside()
            ticket = self.executor.start(task)
            self._tickets_beside.add(ticket)
            self._beside.started(task, ticket)

    def _end_beside(self, ticket: int, outcome: TaskOutcome) -> None:
        self._tickets_beside.remove(ticket)
        self._resources.give_beside()
        if self._beside:
            self._beside.ended(ticket, outcome)

    def _quiet_moment(self) -> None:
        """Nothing has ended and nobody waits: time for what others want."""
        if self.when_idle is not None:
            self.when_idle()
            self.when_idle = None
        self._foresee()
        if self.beside is None:
            return
        if self._beside is None:
            try:
                self._beside = self.beside()
            except OSError:  # no room for its files: the steps are not to suffer from it
                self.beside = None
                return
            for result in self.results.values():
                self._beside.settled(result)
        self._beside.pulse()

    def _foresee(self) -> None:
        """Let the executor get ready for what comes after the steps that run now."""
        if self.get_ready is None or self._stopping:
            return
        for running in self._running.values():
            for position in running.node.dependants:
                node = self.nodes[position]
                if position not in self._foreseen and node.key in self.wanted:
                    self._foreseen.add(position)
                    self.get_ready(foreseen(self._conditions, node.plan, node.step))

    def _open(self, node: Node) -> None:
        """All that the step waits for has ended: let it run, or settle it at once."""
        if self._stopping:
            return
        if node.key not in self.wanted:
            self._settle(node, self._left_out(node))
        elif reason := self._obstacle(node):
            result = StepResult(*node.key, BLOCKED, reason)
            self.journal.ended(result)
            self.watcher.ended(node.plan, node.step, result)
            self._settle(node, result)
        else:
            self._ready.add(node.position, self._claim(node))

    def _left_out(self, node: Node) -> StepResult:
        """The result of a step that is not wanted: its earlier pass, while that holds, else nothing."""
        known = self.earlier.results.get(node.key) or StepResult(*node.key)
        if not known.ok:
            return replace(known, state=PENDING, reason=because("not-selected"))
        if not self.earlier.outdated(node, self._inputs_of(node)):
            return known
        self.journal.outdated(*node.key, because("not-selected"))
        return StepResult(*node.key, reason=because("not-selected"))

    def _inputs_of(self, node: Node) -> dict[str, str]:
        needed = [self.results[self.nodes[need].key] for need in node.needs]
        return self._inputs.of(node.plan, node.step, needed)

    def _obstacle(self, node: Node) -> Reason | None:
        """Why the step cannot run; None if it can."""
        for need in node.needs:
            other = self.nodes[need]
            if other.key in self.wanted:
                obstacle = None if self.results[other.key].ok else because("needs", step=other.step.id)
            else:
                obstacle = self._unselected_obstacle(other)
            if obstacle:
                return obstacle
        return None

    def _unselected_obstacle(self, need: Node) -> Reason | None:
        """What keeps others from using what a step that was not selected has left."""
        if self._needs_something_new(need):
            return because("needs-outdated", step=need.step.id)
        lack = missing(Path(need.plan.repo), need.step.produces)
        if lack:
            return because("needs-not-selected", step=need.step.id, path=lack["path"])
        return None

    def _needs_something_new(self, node: Node) -> bool:
        return any(
            self.nodes[need].key in self.wanted or self._needs_something_new(self.nodes[need])
            for need in node.needs
        )

    def _start_what_fits(self) -> None:
        while not self._stopping:
            position = self._ready.take(self._resources)
            if position is None:
                return
            node = self.nodes[position]
            inputs = self._inputs_of(node)
            kept = self.earlier.reuse(node, inputs)
            if kept is None:
                self._start(node, 1, self._claim(node), inputs, self.earlier.results.get(node.key))
                continue
            if kept.outdated:
                self.journal.outdated(*node.key, kept.outdated)
            self.watcher.kept(node.plan, node.step, kept)
            self._settle(node, kept.result)

    def _claim(self, node: Node) -> Claim:
        if self.settings.queued:
            return ANYTHING
        return claim_of(node.step, self.settings.cores)

    def _start(
        self,
        node: Node,
        number: int,
        claim: Claim,
        inputs: Mapping[str, str],
        before: StepResult | None,
    ) -> None:
        if node.step.kind == PREPARE:
            self._inputs.preparing(node.plan)
        attempt = begin(self._conditions, node.index, node.plan, node.step, number, before)
        self.journal.started(*node.key, number, str(attempt.task.log), inputs)
        self._resources.take(claim)
        ticket = self.executor.start(attempt.task)
        self._running[ticket] = _Running(attempt, node, claim, inputs)
        self.watcher.started(node.plan, node.step, number, attempt.task.log)

    def _end(self, ticket: int, outcome: TaskOutcome) -> None:
        running = self._running.pop(ticket)
        node, number = running.node, running.attempt.number
        for note in outcome.notes:
            self.watcher.note(f"{node.step.id}: {spoken(note)}")
        result = finish(running.attempt, outcome, self.executor.name)
        self._resources.give(running.claim)
        if node.step.kind == PREPARE:
            self._inputs.prepared(node.plan)
        else:
            self._inputs.step_ended(node.plan)
        if result.state == INTERRUPTED and self._stopping:
            result = replace(result, reason=self._stopping)
        again = result.state in (FAILED, TIMEOUT) and number <= self.settings.retries and not outcome.error
        if again and not self._stopping:
            self.journal.attempted(result)
            self.watcher.retried(node.plan, node.step, result)
            self._start(node, number + 1, running.claim, running.inputs, result)
            return
        self.journal.seal(result.log)
        self.journal.ended(result)
        results_log.append(node.plan, results_log.status_line(node.step, result))
        results_log.link_log(node.plan, node.step)
        self.watcher.ended(node.plan, node.step, result)
        if node.step.kind == PREPARE and result.ok:
            for text in data_notes(result):
                self.watcher.note(text)
        self._settle(node, result)
        if self.settings.fail_fast and result.state in (FAILED, TIMEOUT) and not self._stopping:
            self.stop(because("fail-fast", step=result.step))

    def _settle(self, node: Node, result: StepResult) -> None:
        """Note the result and open what has waited for it; a loop, since chains can be long."""
        self._settled.append((node, result))
        if len(self._settled) > 1:
            return  # called by ``_open`` below: the loop comes to it
        while self._settled:
            node, result = self._settled[0]
            self.results[node.key] = result
            if self._beside:
                self._beside.settled(result)
            for dependant in node.dependants:
                self._waits[dependant] -= 1
                if self._waits[dependant] == 0:
                    self._open(self.nodes[dependant])
            self._settled.popleft()
