"""The facts of all steps of a run, as the witness told them to ``tipc``."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tipc.certify.evidence.question import FileState, state_of
from tipc.errors import EnvironmentProblem
from tipc.run.record.facts import arrays_file, facts_base, facts_file, load_facts
from tipc.run.record.results import Run, StepResult
from tipc.run.record.step_facts import StepFacts


def load_witnessed(run: Run) -> dict[tuple[str, str], StepFacts]:
    """(Plan.key, Step.id) → its facts. Facts that were changed since they were written are none."""
    found: dict[tuple[str, str], StepFacts] = {}
    for index, plan in enumerate(run.plans):
        for step in plan.steps:
            result = run.result(plan, step)
            if result.ok:
                found[(plan.key, step.id)] = facts_of_step(run.directory, index, result)
    return found


def facts_of_step(directory: Path, index: int, result: StepResult) -> StepFacts:
    """The facts of a step that passed; read once unless a file changes."""
    base = facts_base(directory, index, result.step)
    states = state_of(facts_file(base)), state_of(arrays_file(base))
    return _facts_of_step(directory, index, result.step, result.facts, states)


@lru_cache(maxsize=256)
def _facts_of_step(
    directory: Path, index: int, step: str, digest: str, _states: tuple[FileState, FileState]
) -> StepFacts:
    try:
        return load_facts(directory, index, step, digest)
    except EnvironmentProblem as problem:
        return StepFacts((), problem=problem.message)
