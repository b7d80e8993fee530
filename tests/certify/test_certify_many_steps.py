"""Runs with thousands of steps: what is looked up about a step does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from certify_answers import alarms, honest_answers
from certify_facts import Honest

from tipc.certify import certifier
from tipc.certify.certifier import certify, plan_findings
from tipc.certify.evidence.predictions import ATOL
from tipc.certify.evidence.probing import Asked
from tipc.certify.scene import PlanScene
from tipc.certify.verdict import FAIL, PASS, Finding
from tipc.certify.verdict_store import load_verdict
from tipc.plan.model import Step
from tipc.run.record.results import Run

COUNTS = (20, 40, 60)


class Counted(dict[Any, Any]):
    """A mapping that knows how often it was asked."""

    asked = 0

    def __getitem__(self, key: Any) -> Any:
        self.asked += 1
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        self.asked += 1
        return super().get(key, default)


class Walked(tuple[Any, ...]):
    """A sequence that knows how often somebody went through it."""

    walks = 0

    def __iter__(self) -> Iterator[Any]:
        self.walks += 1
        return super().__iter__()


def with_steps(run: Run, count: int) -> Run:
    """The same with so many inference steps more, each as the last one."""
    [plan] = run.plans
    last = plan.steps[-1]
    steps, results = list(plan.steps), Counted(run.results)
    for number in range(count):
        step = replace(last, id=f"{last.id}-{number}")
        steps.append(step)
        results[plan.key, step.id] = replace(run.result(plan, last), step=step.id)
    return replace(run, plans=(replace(plan, steps=Walked(steps)),), results=results)


def look_ups(run: Run, count: int) -> tuple[int, int, int]:
    """How often results and facts are asked for and the plan is gone through, by all checks together."""
    many = with_steps(run, count)
    [plan] = many.plans
    honest = Honest(many)
    witnessed = Counted(honest.witnessed())
    tried = {key: Walked(answered) for key, answered in honest.tried().items()}
    many.results.asked = plan.steps.walks = 0  # type: ignore[attr-defined]
    scene = PlanScene(many, plan, 0, honest_answers(many), witnessed, tried)
    findings = list(plan_findings(scene))
    assert not alarms(findings)
    assert len([one for one in findings if one.check == "TP309" and one.status == PASS]) == count + 2
    walks = plan.steps.walks + sum(answered.walks for answered in tried.values())  # type: ignore[attr-defined]
    return many.results.asked, witnessed.asked, walks  # type: ignore[attr-defined]


def test_the_checks_look_up_as_much_for_each_step_however_many_there_are(run: Run) -> None:
    few, more, most = (look_ups(run, count) for count in COUNTS)
    for place, name in ((0, "results"), (1, "facts")):
        assert most[place] - more[place] == more[place] - few[place], name
    assert few[2] == more[2] == most[2], "walks through the whole plan"


def test_the_setting_that_differs_is_found_among_many(run: Run, tmp_path: Path) -> None:
    def judged(*shifts: float) -> list[Finding]:
        many = with_steps(run, len(shifts))
        for number, shift in enumerate(shifts):
            key = (many.plans[0].key, f"cell/infer-bs4-{number}")
            text = Path(run.results[key[0], "cell/infer-bs4"].log).read_text()
            log = tmp_path / f"{len(shifts)}-{number}.log"
            log.write_text(text.replace("prob: 0.9000", f"prob: {0.9 + shift:.6f}"))
            many.results[key] = replace(many.results[key], log=str(log))  # type: ignore[index]
        honest = Honest(many)
        scene = PlanScene(many, many.plans[0], 0, honest_answers(many), honest.witnessed(), honest.tried())
        return [one for one in plan_findings(scene) if one.check == "TP306"]

    assert [one.status for one in judged(*[ATOL * number / 200 for number in range(60)])] == [PASS]
    [finding] = judged(*[0.0] * 60, 0.1)
    assert (finding.status, finding.step) == (FAIL, "cell/infer-bs4-60")


def test_plans_of_which_nothing_is_in_doubt_are_judged_once(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings of ten thousand steps are not made twice, and never there twice."""
    [plan] = run.plans
    plans = (plan, replace(plan, mode="doubtful"))
    results = {}
    for one in plans:
        for step in one.steps:
            results[one.key, step.id] = replace(run.result(plan, step), plan=one.key)
    judged: list[str] = []

    def findings(scene: PlanScene) -> Iterator[Finding]:
        judged.append(scene.plan.mode)
        status = PASS
        if scene.plan.mode == "doubtful" and judged.count("doubtful") == 1:
            status = FAIL
        yield Finding("TP301", "title", status, "message", plan=scene.plan.key)

    monkeypatch.setattr(certifier, "plan_findings", findings)
    monkeypatch.setattr(certifier, "ask_probes", lambda *_args, **_more: Asked())
    verdict = certify(replace(run, plans=plans, results=results))
    assert judged == [plan.mode, "doubtful", "doubtful"]
    assert [(one.plan, one.status) for one in verdict.findings] == [(one.key, PASS) for one in plans]
    assert load_verdict(run) == verdict


def test_steps_by_cell_are_those_of_the_plan(run: Run) -> None:
    def ids(steps: Any) -> list[str]:
        return [step.id for step in steps]

    [plan] = run.plans
    other: Step = replace(plan.steps[0], id="other/train", cell="other")
    both = replace(plan, steps=(*plan.steps, other))
    assert ids(both.steps_by_cell["cell"]) == ids(plan.steps)
    assert ids(both.steps_by_cell["other"]) == ["other/train"]
