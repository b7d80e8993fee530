"""The facts of all steps of a run, as the witness told them to ``tipc``."""

from __future__ import annotations

from tipc.errors import EnvironmentProblem
from tipc.run.record.facts import StepFacts, load_facts
from tipc.run.record.results import Run


def load_witnessed(run: Run) -> dict[tuple[str, str], StepFacts]:
    """(Plan.key, Step.id) → its facts. Facts that were changed since they were written are none."""
    found: dict[tuple[str, str], StepFacts] = {}
    for index, plan in enumerate(run.plans):
        for step in plan.steps:
            result = run.result(plan, step)
            if not result.ok:
                continue
            try:
                found[(plan.key, step.id)] = load_facts(run.directory, index, step.id, result.facts)
            except EnvironmentProblem as problem:
                found[(plan.key, step.id)] = StepFacts((), problem=problem.message)
    return found
