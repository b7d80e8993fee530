"""TL108 where training evaluates a part of what the evaluation step does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from certify_chain import plan_of, run_chain
from certify_facts import Honest, weights_of
from certify_plain_repo import make_plain_repo

from tipc.certify.verdict import FAIL, UNCHECKED, Finding
from tipc.run.record.step_facts import EvaluationFacts

Judge = Callable[..., list[Finding]]


@pytest.mark.parametrize(
    ("part", "of_part", "status"),
    [
        (4, 0.5, UNCHECKED),  # 2 of 4 right, and 6 of 8: all of the others
        (4, 0.0, FAIL),  # the others cannot be 6
        (8, 0.5, FAIL),  # of the same samples
        (6, 0.0, FAIL),
        (0, 0.5, FAIL),  # it is not known how many
    ],
)
def test_a_part_of_the_samples_may_have_another_metric(
    part: int, of_part: float, status: str, tmp_path: Path, judge: Judge
) -> None:
    repo = make_plain_repo(tmp_path)
    run = run_chain(repo, plan_of(repo))
    log = next(step.log for step in run.plans[0].steps if step.kind == "train")
    path = Path(repo, log)
    lines = [line for line in path.read_text().splitlines() if "Evaluation" not in line]
    path.write_text("\n".join(lines).replace("top1: 0.50000, ", "") + f"\nEvaluation: top1: {of_part}\n")

    def edit(honest: Honest) -> None:
        whole = honest.processes["cell/eval"].evaluations[0]
        honest.change("eval", evaluations=(replace(whole, different_samples=8),))
        seen = EvaluationFacts(1, 8, weights_of(), 6, (), different_samples=part)
        honest.change("train", evaluations=(seen,))

    [found] = [one for one in judge(run, edit) if one.check == "TL108"]
    assert (found.status, found.required) == (status, status == FAIL)
