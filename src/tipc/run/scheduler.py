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

from tipc.plan.model import Plan, Step
from tipc.run import attempt as attempts
from tipc.run import results_log
from tipc.run.artefacts import Aside, missing
from tipc.run.executor import Executor, Outcome
from tipc.run.graph import Key, Node
from tipc.run.inputs import Inputs
from tipc.run.journal import Journal
from tipc.run.queue import ReadyQueue
from tipc.run.record import BLOCKED, FAILED, INTERRUPTED, NOT_SELECTED, PENDING, TIMEOUT, StepResult
from tipc.run.resources import ANYTHING, Claim, Resources, claim_of

PULSE = 0.25
SYNC = 1.0  # seconds of results that a power cut may cost


class Watcher(Protocol):
    """Is told what happens, in order."""

    def started(self, plan: Plan, step: Step, attempt: int, log: Path) -> None:
        """An attempt has begun."""

    def retried(self, plan: Plan, step: Step, result: StepResult) -> None:
        """An attempt has failed and another one follows."""

    def ended(self, plan: Plan, step: Step, result: StepResult) -> None:
        """The last word on a step that ran or was blocked."""

    def kept(self, plan: Plan, step: Step, result: StepResult) -> None:
        """A step need not run again: its earlier result holds."""

    def pulse(self) -> None:
        """Nothing has happened for a moment."""


@dataclass(frozen=True)
class Settings:
    """How a call wants its steps run."""

    cores: int  # of this machine or, for an executor with a queue, of the largest that it has
    jobs: int | None = None
    queued: bool = False  # the executor has a queue of its own: it is given all that is ready
    timeout: float | None = None
    retries: int = 0
    fail_fast: bool = False
    cold: bool = False
    python: str | None = None  # runs in place of the interpreter that an --as-upstream plan names


Reuse = Callable[[Node, Mapping[str, str]], "StepResult | None"]
Outdated = Callable[[Node, Mapping[str, str]], str]


@dataclass
class _Running:
    attempt: attempts.Attempt
    node: Node
    claim: Claim
    inputs: Mapping[str, str]


@dataclass
class Scheduler:
    """The state of one call. ``run`` is called once."""

    nodes: Sequence[Node]
    journal: Journal
    executor: Executor
    settings: Settings
    watcher: Watcher
    wanted: frozenset[Key]
    asked_to_stop: Callable[[], bool] = lambda: False
    reuse: Reuse = lambda node, inputs: None
    earlier: Mapping[Key, StepResult] = field(default_factory=dict)  # of the steps that are not wanted now
    outdated: Outdated = lambda node, inputs: ""  # why an earlier result counts no more

    def __post_init__(self) -> None:
        self.results: dict[Key, StepResult] = {}
        self._inputs = Inputs(list({node.index: node.plan for node in self.nodes}.values()))
        self._resources = Resources(self.settings.cores, self.settings.jobs)
        self._conditions = attempts.Conditions(
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
        self._stopping = ""
        self._settled: deque[tuple[Node, StepResult]] = deque()

    def run(self) -> dict[Key, StepResult]:
        """Run everything that can run; a result for each step, wanted or not."""
        for plan, nodes in groupby(self.nodes, lambda node: node.plan.key):
            unwanted = [node.step.id for node in nodes if node.key not in self.wanted]
            if unwanted:
                self.journal.deselected(plan, unwanted)
        for node in [node for node in self.nodes if self._waits[node.position] == 0]:
            self._open(node)
        while True:
            self._start_what_fits()
            if not self._running:
                break
            self.journal.sync(every=SYNC)
            for ticket, outcome in self.executor.wait(PULSE):
                self._end(ticket, outcome)
            self.watcher.pulse()
            if self.asked_to_stop() and not self._stopping:
                self._stop("interrupted")
        for node in self.nodes:
            self.results.setdefault(node.key, StepResult(*node.key, reason=self._stopping))
        return self.results

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
        known = self.earlier.get(node.key, StepResult(*node.key))
        if not known.ok:
            return replace(known, state=PENDING, reason=NOT_SELECTED)
        why = self.outdated(node, self._inputs_of(node))
        if not why:
            return known
        self.journal.outdated(*node.key, why)
        return StepResult(*node.key, reason=NOT_SELECTED)

    def _inputs_of(self, node: Node) -> dict[str, str]:
        needed = [self.results[self.nodes[need].key] for need in node.needs]
        return self._inputs.of(node.plan, node.step, needed)

    def _obstacle(self, node: Node) -> str:
        """Why the step cannot run; empty if it can."""
        for need in node.needs:
            other = self.nodes[need]
            if other.key in self.wanted:
                result = self.results[other.key]
                if not result.ok:
                    return f"needs {other.step.id}, which is {result.state}"
                continue
            if self._outdated(other):
                return f"needs {other.step.id}, which was not selected, and what that needs has run again"
            lack = missing(Path(other.plan.repo), other.step.produces, Aside(Path()))
            if lack:
                return f"needs {other.step.id}, which was not selected: {lack}"
        return ""

    def _outdated(self, node: Node) -> bool:
        return any(
            self.nodes[need].key in self.wanted or self._outdated(self.nodes[need]) for need in node.needs
        )

    def _start_what_fits(self) -> None:
        while not self._stopping:
            position = self._ready.take(self._resources)
            if position is None:
                return
            node = self.nodes[position]
            inputs = self._inputs_of(node)
            known = self.reuse(node, inputs)
            if known is not None:
                self.watcher.kept(node.plan, node.step, known)
                self._settle(node, known)
            else:
                self._start(node, 1, self._claim(node), inputs)

    def _claim(self, node: Node) -> Claim:
        return ANYTHING if self.settings.queued else claim_of(node.step, self.settings.cores)

    def _start(self, node: Node, number: int, claim: Claim, inputs: Mapping[str, str]) -> None:
        attempt = attempts.begin(self._conditions, node.index, node.plan, node.step, number)
        self.journal.started(*node.key, number, str(attempt.task.log), inputs)
        self._resources.take(claim)
        ticket = self.executor.start(attempt.task)
        self._running[ticket] = _Running(attempt, node, claim, inputs)
        self.watcher.started(node.plan, node.step, number, attempt.task.log)

    def _end(self, ticket: int, outcome: Outcome) -> None:
        running = self._running.pop(ticket)
        node, number = running.node, running.attempt.number
        result = attempts.finish(running.attempt, outcome, self.executor.name)
        self._resources.give(running.claim)
        if result.state == INTERRUPTED and self._stopping:
            result = replace(result, reason=self._stopping)
        again = result.state in (FAILED, TIMEOUT) and number <= self.settings.retries and not outcome.error
        if again and not self._stopping:
            self.journal.attempted(result)
            self.watcher.retried(node.plan, node.step, result)
            self._start(node, number + 1, running.claim, running.inputs)
            return
        self.journal.ended(result)
        results_log.append(node.plan, results_log.status_line(node.step, result))
        self.watcher.ended(node.plan, node.step, result)
        self._settle(node, result)
        if self.settings.fail_fast and result.state in (FAILED, TIMEOUT) and not self._stopping:
            self._stop(f"stopped: {result.step} {result.state} (--fail-fast)")

    def _settle(self, node: Node, result: StepResult) -> None:
        """Note the result and open what has waited for it; a loop, since chains can be long."""
        self._settled.append((node, result))
        if len(self._settled) > 1:
            return  # called by ``_open`` below: the loop comes to it
        while self._settled:
            node, result = self._settled[0]
            self.results[node.key] = result
            for dependant in node.dependants:
                self._waits[dependant] -= 1
                if self._waits[dependant] == 0:
                    self._open(self.nodes[dependant])
            self._settled.popleft()

    def _stop(self, reason: str) -> None:
        """Start nothing more, and end what runs; the outcomes come as usual."""
        self._stopping = reason
        for ticket in self._running:
            self.executor.kill(ticket)
