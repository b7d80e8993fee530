"""TL111: a training that was seen to evaluate what it left tells the metrics, also without an eval step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from certify_chain import plan_of, run_chain
from certify_facts import Honest, weights_of
from certify_plain_repo import make_plain_repo

from tipc.certify.verdict import PASS, UNCHECKED, Finding
from tipc.run.record.results import Run
from tipc.run.record.step_facts import EvaluationFacts

Judge = Callable[..., list[Finding]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    repo = make_plain_repo(tmp_path)
    return run_chain(repo, plan_of(repo))


def finding(run: Run, judge: Judge, facts: EvaluationFacts) -> Finding | None:
    def edit(honest: Honest) -> None:
        honest.change("train", evaluations=(facts,))

    return next((one for one in judge(run, edit) if one.check == "TL111"), None)


EVALUATED = EvaluationFacts(calls=2, samples=8, weights=weights_of(), at_step=6, kept=())


def test_a_training_that_evaluates_in_silence_is_unchecked(run: Run, judge: Judge) -> None:
    found = finding(run, judge, EVALUATED)
    assert found is not None
    assert (found.status, found.required) == (UNCHECKED, True)
    assert "8 samples" in str(found.message)


def test_a_training_that_tells_its_metric_passes(run: Run, judge: Judge) -> None:
    [plan] = run.plans
    [training] = [step for step in plan.steps if step.kind == "train"]
    with open(Path(plan.repo, training.log), "a", encoding="utf-8") as log:
        log.write("Evaluation: loss: 0.9000, top1: 0.7500, top5: 1.0000\n")
    found = finding(run, judge, EVALUATED)
    assert found is not None
    assert found.status == PASS
    assert "top1 0.75" in str(found.message)


@pytest.mark.parametrize(
    "facts",
    [
        replace(EVALUATED, weights=weights_of(3.0)),  # a teacher's, or those before a step
        replace(EVALUATED, samples=1),  # a network that is shown one sample is traced
        replace(EVALUATED, weights=None),
    ],
)
def test_what_is_no_evaluation_of_the_trained_weights_asks_for_nothing(
    run: Run, judge: Judge, facts: EvaluationFacts
) -> None:
    assert finding(run, judge, facts) is None
