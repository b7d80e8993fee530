"""What could not be watched is unchecked, with its reason, and never a failure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from certify_facts import Honest
from test_certify_facts import LIES, Judge

from tipc.certify.checks.replayed import replayed
from tipc.certify.checks.unwatched import RESTS_ON
from tipc.certify.evidence.exported import exported_model
from tipc.certify.evidence.trials import deployed
from tipc.certify.registry import all_checks
from tipc.certify.scene import PlanScene
from tipc.certify.verdict import FAIL, UNCHECKED
from tipc.run.record.results import Run
from tipc.run.record.step_facts import PredictorFacts

GONE = "AttributeError: it has no attribute"


def close(honest: Honest, door: str) -> None:
    for name, process in honest.processes.items():
        honest.processes[name] = replace(process, doors={door: GONE})


@pytest.mark.parametrize("name", [name for name, lie in LIES.items() if lie[1] in RESTS_ON])
def test_without_its_door_a_check_cannot_fail(name: str, run: Run, judge: Judge) -> None:
    edit, check, _words = LIES[name]
    door = RESTS_ON[check][0]

    def both(honest: Honest) -> None:
        edit(honest)
        close(honest, door)

    found = [one for one in judge(run, both) if one.check == check]
    assert FAIL not in {one.status for one in found}
    told = [one for one in found if one.status == UNCHECKED and one.required]
    assert any(GONE in one.message for one in told)


def test_a_failure_that_rests_on_other_doors_stays_one(run: Run, judge: Judge) -> None:
    edit, check, _words = LIES["the optimiser never steps"]

    def both(honest: Honest) -> None:
        edit(honest)
        close(honest, "paddle.inference")

    assert FAIL in {one.status for one in judge(run, both) if one.check == check}


def test_one_remark_names_every_door_that_could_not_be_watched(run: Run, judge: Judge) -> None:
    def both(honest: Honest) -> None:
        honest.change("train", doors={"paddle.amp": GONE, "operators": ""})
        honest.change("infer-bs1", doors={"paddle.inference": GONE})

    [finding] = [one for one in judge(run, both) if one.check == "TS007"]
    assert (finding.status, finding.required) == (UNCHECKED, False)
    assert "paddle.amp" in finding.message
    assert "paddle.inference" in finding.message
    assert [row["step"] for row in finding.evidence["doors"]] == ["cell/train", "cell/infer-bs1"]


def test_where_all_could_be_watched_nothing_is_said(run: Run, judge: Judge) -> None:
    assert not [one for one in judge(run) if one.check == "TS007"]


def test_the_table_names_checks_and_doors_that_exist() -> None:
    from tipc.run.guest.witness.witness import Witness

    class Silent:
        child = False

    names = {door.name for door in Witness(Silent()).doors}  # type: ignore[arg-type]
    for check, doors in RESTS_ON.items():
        assert check in all_checks()
        assert names.issuperset(doors), check


def test_a_deployment_in_an_engine_that_probes_do_not_know_is_a_remark(run: Run, judge: Judge) -> None:
    def both(honest: Honest) -> None:
        honest.change_predictors(lambda facts: replace(facts, engine="tensorrt"))

    honest = Honest(run)
    both(honest)
    plan = run.plans[0]
    scene = PlanScene(run, plan, 0, {}, honest.witnessed())
    for step in plan.steps:
        if step.kind == "infer":
            [outcome] = replayed.function(scene.of_step(plan.cells[0], step))
            assert (outcome.status, outcome.required) == (UNCHECKED, False)
            assert "tensorrt is no engine of the probes" in str(outcome.message)


def test_runs_are_replayed_as_long_as_they_are_quick(run: Run) -> None:
    plan = run.plans[0]
    export = next(step for step in plan.steps if step.kind == "export")

    def replays(seconds: float) -> list[str]:
        honest = Honest(run)

        def slow(facts: PredictorFacts) -> PredictorFacts:
            runs = tuple(replace(one, seconds=seconds) for one in facts.kept)
            return replace(facts, kept=runs)

        honest.change_predictors(slow)
        scene = PlanScene(run, plan, 0, {}, honest.witnessed())
        model = exported_model(scene, export)
        assert model is not None
        return [one.source for one in deployed(scene, export, model)]

    assert len(replays(0.02)) == 8 + 2
    assert len(replays(0.2)) == 2 + 2
    assert replays(3.0) == ["deployed cell/infer-bs1 0", "deployed cell/infer-bs4 0"]
