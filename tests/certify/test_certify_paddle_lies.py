"""The suite of lies, second part: those that only paddle can show. A real chain, one edit, and the steps
after it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from certify_answers import alarms
from certify_chain import plan_of, run_chain
from certify_paddle_lies import EPOCHS, LIES, MORE_EDITS, NOTHING, PaddleLie
from certify_paddle_repo import make_paddle_repo
from certify_plain_repo import edit

from tipc.certify.engine import certify
from tipc.certify.store import load_verdict
from tipc.certify.verdict import FAIL, NOT_CERTIFIED, PASS, Verdict

pytestmark = [pytest.mark.paddle, pytest.mark.xdist_group("certify_paddle")]


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The honest repository after its chain, made once for each precision."""
    made: dict[str, Path] = {}

    def chain(precision: str) -> Path:
        if precision not in made:
            repo = make_paddle_repo(tmp_path_factory.mktemp(f"honest_{precision}"))
            infer = "int8" if precision == "pact" else "fp32"
            run = run_chain(repo, plan_of(repo, precision, infer, EPOCHS), preload=("paddle", "auto_log"))
            assert run.ok, run.results
            made[precision] = repo
        return made[precision]

    return chain


def judged(repo: Path, precision: str, infer: str, rerun: tuple[str, ...]) -> Verdict:
    plan = plan_of(repo, precision, infer, EPOCHS)
    return certify(run_chain(repo, plan, preload=("paddle", "auto_log"), only=rerun))


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_a_lie_about_the_model_is_caught(
    lie: PaddleLie, tmp_path: Path, honest: Callable[[str], Path]
) -> None:
    repo = tmp_path / "repo"
    shutil.copytree(honest(lie.precision), repo)
    for file, old, new in [(lie.file, lie.old, lie.new), *MORE_EDITS.get(lie.name, [])]:
        edit(repo, file, old, new)
    infer = "int8" if lie.precision == "pact" else lie.infer_precision
    verdict = judged(repo, lie.precision, infer, lie.rerun)
    caught = [
        finding for finding in verdict.findings if finding.check == lie.check and finding.status == FAIL
    ]
    assert caught, [(finding.check, finding.message) for finding in alarms(verdict.findings)]
    assert any(lie.cause in finding.message for finding in caught), [finding.message for finding in caught]
    assert not verdict.passed


@pytest.mark.parametrize("precision", ["fp32", "amp", "pact"])
def test_an_honest_chain_raises_no_alarm(
    precision: str, honest: Callable[[str], Path], tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    shutil.copytree(honest(precision), repo)
    run = run_chain(
        repo, plan_of(repo, precision, "int8" if precision == "pact" else "fp32", EPOCHS), only=NOTHING
    )
    verdict = certify(run)
    assert not alarms(verdict.findings), alarms(verdict.findings)
    assert verdict.passed
    assert load_verdict(run) == verdict
    by_check = {finding.check: finding.status for finding in verdict.findings}
    assert by_check["TP301"] == by_check["TP304"] == by_check["TX702"] == by_check["TL106"] == PASS
    if precision == "pact":
        assert by_check["TQ401"] == by_check["TQ402"] == by_check["TQ403"] == by_check["TP305"] == PASS
    if precision == "amp":
        assert (by_check["TA201"], by_check["TA202"]) == (NOT_CERTIFIED, PASS)
        assert not certify(run, strict=True).passed


def test_without_parity_py_the_headline_is_unchecked_and_required(
    honest: Callable[[str], Path], tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    shutil.copytree(honest("fp32"), repo)
    (repo / "test_tipc" / "parity.py").unlink()
    verdict = judged(repo, "fp32", "fp32", NOTHING)
    [finding] = [finding for finding in verdict.findings if finding.check == "TP301"]
    assert (finding.status, finding.required) == ("unchecked", True)
    assert "parity.py" in finding.remedy
    assert not verdict.passed
