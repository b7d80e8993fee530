"""Questions about an export are put while other steps still run; whatever comes of it, the run goes on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from certify_chain import plan_of
from certify_plain_repo import make_plain_repo

from tipc.certify import early
from tipc.certify.early import EarlyChecks
from tipc.certify.evidence.facts_of_run import facts_of_step
from tipc.certify.evidence.question import Question, QuestionGroup
from tipc.kinds import EVAL, EXPORT, FAILED, INFER, PASSED, TRAIN
from tipc.plan.model import Plan, Step
from tipc.run.executors.local import LocalExecutor
from tipc.run.record.facts import facts_base, facts_file, store_facts
from tipc.run.record.results import StepResult


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(make_plain_repo(tmp_path))


@pytest.fixture
def checks(plan: Plan, tmp_path: Path) -> Iterator[EarlyChecks]:
    with closing(LocalExecutor()) as executor:
        made = EarlyChecks([plan], tmp_path / "run", executor)
        yield made
        made.prober.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The exports that were asked about, each by one question."""
    those: list[str] = []

    def questions_about(_scene: object, step: Step, _scratch: Path) -> list[Question]:
        those.append(step.id)
        group = QuestionGroup(sys.executable, str(tmp_path), str(tmp_path), ())
        return [Question(("model", "plan", step.id), group, {"kind": "model"})]

    monkeypatch.setattr(early, "questions_about", questions_about)
    return those


def settle(checks: EarlyChecks, plan: Plan, *kinds: str, state: str = PASSED) -> None:
    for step in plan.steps:
        if step.kind in kinds:
            checks.settled(StepResult(plan.key, step.id, state))


def test_an_export_is_asked_about_when_it_its_training_and_its_evaluation_have_ended(
    checks: EarlyChecks, plan: Plan, asked: list[str]
) -> None:
    settle(checks, plan, TRAIN, EXPORT)
    assert checks.next_task() is None
    settle(checks, plan, EVAL)
    assert not asked  # nothing is read while the next steps wait to begin
    exports = [step.id for step in plan.steps if step.kind == EXPORT]
    for _export in exports:
        assert checks.next_task() is not None
    assert asked == exports
    assert checks.next_task() is None


def test_an_export_is_asked_about_once_more_when_its_deployments_have_ended(
    checks: EarlyChecks, plan: Plan, asked: list[str]
) -> None:
    settle(checks, plan, TRAIN, EVAL, EXPORT)
    exports = [step.id for step in plan.steps if step.kind == EXPORT]
    for _export in exports:
        assert checks.next_task() is not None
    settle(checks, plan, INFER)
    assert checks.next_task() is None  # what is being asked already is not asked twice
    assert asked == [*exports, *exports]


def test_while_the_last_deployment_runs_a_probe_stands_by(
    checks: EarlyChecks, plan: Plan, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stood: list[object] = []
    monkeypatch.setattr(checks.prober, "stand_by", stood.append)
    settle(checks, plan, TRAIN, EVAL, EXPORT)
    for _export in [step for step in plan.steps if step.kind == EXPORT]:
        assert checks.next_task() is not None
    infers = [step for step in plan.steps if step.kind == INFER]
    others = [step for step in plan.steps if step.kind not in (TRAIN, EVAL, EXPORT, INFER)]
    for step in [*others, *infers[:-1]]:
        assert checks.next_task() is None
        assert not stood
        checks.settled(StepResult(plan.key, step.id, PASSED))
    for _moment in range(3):
        assert checks.next_task() is None
    assert len(stood) == 1, "it is tried once"


def test_an_export_that_failed_is_not_asked_about(checks: EarlyChecks, plan: Plan, asked: list[str]) -> None:
    settle(checks, plan, TRAIN, EVAL)
    settle(checks, plan, EXPORT, state=FAILED)
    assert checks.next_task() is None
    assert not asked


def test_what_cannot_be_asked_does_not_end_the_run(
    checks: EarlyChecks, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> list[Question]:
        raise ValueError("a file that is none")

    monkeypatch.setattr(early, "questions_about", broken)
    settle(checks, plan, TRAIN, EVAL, EXPORT)
    assert checks.next_task() is None


def test_a_disk_without_room_does_not_end_the_run(
    checks: EarlyChecks, plan: Plan, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    settle(checks, plan, TRAIN, EVAL, EXPORT)
    monkeypatch.setattr(checks.prober, "prepare", full)
    assert checks.next_task() is None
    assert asked


def test_facts_that_change_after_they_were_read_are_not_believed(tmp_path: Path) -> None:
    base = facts_base(tmp_path, 0, "train")
    digest = store_facts(base, None, [])
    result = StepResult("plan", "train", PASSED, facts=digest)
    before = facts_of_step(tmp_path, 0, result)
    assert facts_of_step(tmp_path, 0, result) is before, "read once"
    path = facts_file(base)
    path.write_bytes(path.read_bytes() + b" ")
    assert "changed since" in facts_of_step(tmp_path, 0, result).problem
