"""Steps run when somebody else says so (pytest), one at a time, with the same rules and the same record."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tipc.plan.model import Plan, Step
from tipc.run import attempt as attempts
from tipc.run import results_log, store
from tipc.run.artefacts import Aside, missing
from tipc.run.environment import describe
from tipc.run.executor import Outcome
from tipc.run.graph import Key
from tipc.run.inputs import Inputs
from tipc.run.local import LocalExecutor
from tipc.run.prepare import interpreter
from tipc.run.record import BLOCKED, StepResult


class OneByOne:
    """A run whose order comes from outside."""

    def __init__(self, plans: Sequence[Plan], *, timeout: float | None, cold: bool) -> None:
        self._plans = list(plans)
        self._inputs = Inputs(self._plans)
        self._results: dict[Key, StepResult] = {}
        facts = describe([plan.repo for plan in plans], [interpreter(plan) for plan in plans])
        self._journal = store.create_run(self._plans, facts, argv=["pytest"])
        self._conditions = attempts.Conditions(self._journal.directory, dict(os.environ), timeout, cold)
        self._executor = LocalExecutor()

    def step(self, plan: Plan, step: Step) -> StepResult:
        """Run a step to its end, or say what keeps it from running."""
        reason = self._obstacle(plan, step)
        if reason:
            result = StepResult(plan.key, step.id, BLOCKED, reason)
        else:
            result = self._run(plan, step)
        self._journal.ended(result)
        results_log.append(plan, results_log.status_line(step, result))
        self._results[plan.key, step.id] = result
        return result

    def failed(self, plan: Plan, step: Step) -> bool:
        """Whether something that the step needs has run here and did not pass."""
        known = [self._results[plan.key, need] for need in step.needs if (plan.key, need) in self._results]
        return any(not result.ok for result in known)

    def close(self) -> None:
        """End what runs and the record with it. Can be called twice."""
        self._executor.close()
        passed = bool(self._results) and all(result.ok for result in self._results.values())
        self._journal.finished("passed" if passed else "failed")
        self._journal.close()

    def _obstacle(self, plan: Plan, step: Step) -> str:
        for need in (other for other in plan.steps if other.id in step.needs):
            result = self._results.get((plan.key, need.id))
            if result is not None and not result.ok:
                return f"needs {need.id}, which is {result.state}"
            if result is None and (lack := missing(Path(plan.repo), need.produces, Aside(Path()))):
                return f"needs {need.id}, which was not selected: {lack}"
        return ""

    def _run(self, plan: Plan, step: Step) -> StepResult:
        needed = [self._results[plan.key, need] for need in step.needs if (plan.key, need) in self._results]
        attempt = attempts.begin(self._conditions, self._plans.index(plan), plan, step, 1)
        inputs = self._inputs.of(plan, step, needed)
        self._journal.started(plan.key, step.id, 1, str(attempt.task.log), inputs)
        return attempts.finish(attempt, self._outcome(attempt), self._executor.name)

    def _outcome(self, attempt: attempts.Attempt) -> Outcome:
        ticket = self._executor.start(attempt.task)
        while True:
            for ended, outcome in self._executor.wait(None):
                if ended == ticket:
                    return outcome
