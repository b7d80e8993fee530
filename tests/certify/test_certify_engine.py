"""A verdict is a pass only where everything was looked at, and it survives its way to disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from certify_answers import alarms, honest_answers
from certify_chain import plan_of, run_chain
from certify_facts import Honest
from certify_plain_repo import make_plain_repo

from tipc.certify import certifier
from tipc.certify.check_text import why_open
from tipc.certify.evidence.answers import ModelAnswer
from tipc.certify.evidence.log_text import verdict_text
from tipc.certify.evidence.probing import Asked
from tipc.certify.scene import PlanScene
from tipc.certify.verdict import FAIL, NOT_CERTIFIED, PASS, UNCHECKED, Finding, Verdict
from tipc.certify.verdict_store import load_verdict, save_verdict, verdict_from_json, verdict_to_json
from tipc.errors import EnvironmentProblem
from tipc.kinds import BLOCKED, FLAKY, PENDING, TIMEOUT
from tipc.language import sentence
from tipc.plan.model import Skip
from tipc.reasons import Reason, because
from tipc.run.record.results import Run

Judge = Callable[..., list[Finding]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    repo = make_plain_repo(tmp_path)
    return run_chain(repo, plan_of(repo))


def with_result(run: Run, step: str, **changes: object) -> Run:
    key = (run.plans[0].key, step)
    return replace(run, results={**run.results, key: replace(run.results[key], **changes)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "reason", "status", "required"),
    [
        (TIMEOUT, because("no-end-in", seconds=60), FAIL, True),
        (BLOCKED, because("needs", step="x"), UNCHECKED, True),
        (PENDING, None, UNCHECKED, True),
        (PENDING, because("not-selected"), UNCHECKED, True),
        (FLAKY, because("passed-at-attempt", attempt=2), PASS, True),
    ],
)
def test_a_step_that_did_not_run_well_is_never_a_pass(
    run: Run, judge: Judge, state: str, reason: Reason | None, status: str, required: bool
) -> None:
    found = judge(with_result(run, "cell/eval", state=state, reason=reason))
    [finding] = [one for one in found if one.check == "TS001" and one.step == "cell/eval"]
    assert (finding.status, finding.required) == (status, required)
    others = [one for one in found if one.step == "cell/eval" and one.check != "TS001"]
    assert bool(others) == (state == FLAKY), "nothing is concluded from a step that did not pass"


def test_a_part_of_the_chain_is_not_certified_however_well_it_went(run: Run, judge: Judge) -> None:
    part = with_result(run, "cell/eval", state=PENDING, reason=because("not-selected"))
    verdict = Verdict(run.id, tuple(judge(part)))
    assert not verdict.passed
    text = verdict_text(verdict, sentence(part.left_out))
    assert f"\nNOT CERTIFIED: 1 of {len(run.results)} steps were not selected · {run.id} · " in text
    assert "try: run them as well: `tipc run --resume" in text


def test_the_same_finding_in_several_places_is_told_once() -> None:
    found = [Finding("TS001", "t", UNCHECKED, "not selected", step=f"c/{number}") for number in range(3)]
    assert verdict_text(Verdict("r", tuple(found))).count("not selected") == 1
    assert "? TS001  unchecked  t  [c/0 and 2 more]" in verdict_text(Verdict("r", tuple(found)))


def test_what_this_machine_cannot_show_fails_only_a_strict_verdict(run: Run, judge: Judge) -> None:
    findings = tuple(judge(run))
    assert any(one.check == "TS003" and one.status == NOT_CERTIFIED for one in findings)
    assert Verdict("r", findings).passed
    assert not Verdict("r", findings, strict=True).passed


def test_gpu_inference_that_was_left_out_is_not_certified(run: Run, judge: Judge) -> None:
    skips = (
        Skip("cell", "infer", because("no-device", device="gpu"), "gpu", {"batch_size": "1"}),
        Skip("cell", "infer", because("int8-needs-quantised"), "cpu", {"precision": "int8"}),
    )
    plan = run.plans[0]
    cells = tuple(replace(cell, asked="-1", not_certified=()) for cell in plan.cells)
    for skipped, status in ((skips, NOT_CERTIFIED), (skips[1:], PASS)):
        changed = replace(run, plans=(replace(plan, cells=cells, skipped=skipped),))
        [finding] = [one for one in judge(changed) if one.check == "TS003"]
        assert finding.status == status, finding.message


def test_a_run_without_findings_is_no_pass() -> None:
    assert not Verdict("r", ()).passed


def test_a_log_that_is_gone_is_unchecked(run: Run, judge: Judge) -> None:
    Path(run.results[(run.plans[0].key, "cell/eval")].log).unlink()
    assert {one.check for one in alarms(judge(run))} == {"TS002", "TL106"}


def test_a_verdict_comes_back_from_disk_as_it_was(run: Run, judge: Judge) -> None:
    verdict = Verdict(run.id, tuple(judge(run)))
    save_verdict(run, verdict)
    loaded = load_verdict(run)
    assert loaded is not None
    assert verdict_to_json(loaded) == verdict_to_json(verdict)
    data = verdict_to_json(verdict)
    assert data["counts"]["pass"] == sum(one["status"] == PASS for one in data["findings"])


def test_figures_that_json_has_no_word_for_become_null() -> None:
    finding = Finding(
        "TL103", "t", FAIL, "loss is nan", evidence={"series": [{"loss": float("nan")}], "p": Path("x")}
    )
    text = json.dumps(verdict_to_json(Verdict("r", (finding,))), allow_nan=False)
    assert json.loads(text)["findings"][0]["evidence"] == {"series": [{"loss": None}], "p": "x"}


@pytest.mark.parametrize(
    "data", [{}, {"schema": "other"}, {"schema": "tipc.verdict/1", "findings": [{"check": 1}]}]
)
def test_something_else_than_a_verdict_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(EnvironmentProblem):
        verdict_from_json(data)


def test_half_a_verdict_is_told_and_none_is_none(run: Run) -> None:
    assert load_verdict(run) is None
    (run.directory / "verdict.json").write_text('{"schema": "tipc')
    with pytest.raises(EnvironmentProblem, match="cannot be read"):
        load_verdict(run)


def test_the_text_has_every_problem_its_remedy_and_no_control_characters() -> None:
    finding = Finding("TS002", "title", FAIL, "bad \x1b[31m\nline", step="c/train", remedy="mend it")
    text = verdict_text(Verdict("r1", (finding, replace(finding, status=PASS))))
    assert "✘ TS002  failed  title  [c/train]" in text
    assert "try: mend it" in text
    assert "FAILED · r1 · 1 passed, 1 failed, 0 unchecked, 0 not certified" in text
    assert "\x1b" not in text


def test_what_was_not_shown_is_not_certified_and_what_is_wrong_failed() -> None:
    open_one = Finding("TP301", "parity", UNCHECKED, "nothing to compare")
    wrong = Finding("TS002", "errors", FAIL, "a traceback")
    fine = Finding("TS001", "steps", PASS, "passed")
    assert Verdict("r", (fine,)).conclusion == "certified"
    assert Verdict("r", (fine, open_one)).conclusion == "not certified"
    assert why_open(Verdict("r", (fine, open_one))) == "parity unchecked"
    assert Verdict("r", (open_one, wrong)).conclusion == "failed"
    text = verdict_text(Verdict("r", (fine, open_one)))
    assert "NOT CERTIFIED: parity unchecked · r" in text


@pytest.mark.parametrize(
    ("first", "rounds"),
    [
        (("TP301", "pass"), [()]),
        (("TP301", "fail"), [(), {0}]),
        (("TP302", "unchecked"), [(), {0}]),
        (("TL101", "fail"), [()]),
    ],
)
def test_what_rounding_does_is_asked_only_where_a_comparison_does_not_pass_without(
    first: tuple[str, str], rounds: list[object], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def ask_probes(*_args: object, rounding: object = ()) -> Asked:
        asked.append(rounding)
        return Asked()

    def plan_findings(_scene: PlanScene) -> list[Finding]:
        check, status = first if len(asked) == 1 else ("TP301", "pass")
        return [Finding(check, "a title", status, "a message")]

    monkeypatch.setattr(certifier, "ask_probes", ask_probes)
    monkeypatch.setattr(certifier, "plan_findings", plan_findings)
    verdict = certifier.certify(run)
    assert asked == rounds
    assert [finding.status for finding in verdict.findings] == [first[1] if len(rounds) == 1 else "pass"]


@pytest.mark.parametrize(("limited", "status"), [(True, UNCHECKED), (False, FAIL)])
def test_a_model_that_a_limit_of_ours_kept_from_answering_is_unchecked_and_not_failed(
    run: Run, limited: bool, status: str
) -> None:
    honest, answers = Honest(run), honest_answers(run)
    answers["model", run.plans[0].key, "cell/export"] = ModelAnswer(error="out of memory", limited=limited)
    tried = dict(honest.tried())
    for key, found in tried.items():
        tried[key] = tuple(
            replace(one, error="out of memory", limited=limited, outputs={})
            if one.trial.engine != "native"
            else one
            for one in found
        )
    scene = PlanScene(run, run.plans[0], 0, answers, honest.witnessed(), tried)
    found_of = {one.check: one for one in certifier.plan_findings(scene)}
    for check in ("TX702", "TP302"):
        assert (found_of[check].status, found_of[check].required) == (status, True)
