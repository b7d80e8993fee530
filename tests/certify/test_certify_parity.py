"""The parity checks on invented answers of the probe: tolerances, noise, batch sizes, int8."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from certify_answers import honest_answers
from certify_chain import plan_of, run_chain
from certify_plain_repo import edit, make_plain_repo

from tipc.certify.answers import Answer, Comparison, Metric, ParityAnswer
from tipc.certify.engine import plan_findings
from tipc.certify.verdict import FAIL, NOT_CERTIFIED, PASS, UNCHECKED, Finding
from tipc.run.record import Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    repo = make_plain_repo(tmp_path)
    return run_chain(repo, plan_of(repo), only=("none",))


def findings(run: Run, precision: str = "fp32", **changes: Any) -> dict[str, Finding]:
    """The findings about the export, with some of the honest answer changed."""
    plan = run.plans[0]
    plan = replace(plan, cells=tuple(replace(cell, precision=precision) for cell in plan.cells))
    answers: dict[tuple[str, str, str], Answer] = honest_answers(run)
    key = ("parity", plan.key, "cell/export")
    answer = answers[key]
    assert isinstance(answer, ParityAnswer)
    answers[key] = answer.model_copy(update=changes)
    found = plan_findings(replace(run, plans=(plan,)), plan, 0, answers)
    return {finding.check: finding for finding in found if finding.step == "cell/export"}


def rows(**changes: Any) -> list[Comparison]:
    """A table of three engines; changes are for engine__field."""
    made = []
    for engine in ("native", "onednn", "int8"):
        row: dict[str, Any] = {"max_abs": 1e-6, "argmax_equal": 8, "argmax_total": 8}
        row.update(
            {key.partition("__")[2]: value for key, value in changes.items() if key.startswith(engine)}
        )
        made += [Comparison(engine=engine, batch=batch, **row) for batch in (8, 1)]
    return made


@pytest.mark.parametrize(
    ("precision", "dtype", "difference", "status"),
    [
        ("fp32", "float32", 2.5e-4, PASS),
        ("fp32", "float32", 3.5e-4, FAIL),
        ("fp32", "float32", float("nan"), FAIL),
        ("amp", "float16", 5e-2, PASS),
        ("amp", "float16", 8e-2, FAIL),
        ("pact", "float32", 0.1, PASS),
        ("pact", "float32", 0.2, FAIL),
    ],
)
def test_the_tolerance_follows_the_type(
    run: Run, precision: str, dtype: str, difference: float, status: str
) -> None:
    found = findings(run, precision, dtype=dtype, scale=3.0, table=rows(native__max_abs=difference))
    assert found["TP301"].status == status, found["TP301"].message


def test_the_references_own_noise_is_allowed_ten_times(run: Run) -> None:
    assert findings(run, noise=2e-4, table=rows(native__max_abs=1.5e-3))["TP301"].status == PASS


@pytest.mark.parametrize(
    ("rounding", "difference", "status"),
    [
        (1e-4, 9e-4, PASS),
        (1e-4, 1.1e-3, FAIL),
        (1.0, 2.9e-3, PASS),  # a network that makes this much of a rounding is not allowed everything
        (1.0, 3.1e-3, FAIL),
        (float("nan"), 3.1e-3, FAIL),
    ],
)
def test_what_a_rounding_of_the_input_does_is_allowed_ten_times_up_to_a_thousandth(
    run: Run, rounding: float, difference: float, status: str
) -> None:
    found = findings(run, rounding=rounding, scale=3.0, table=rows(onednn__max_abs=difference))
    assert found["TP302"].status == status, found["TP302"].message
    assert found["TP301"].status == PASS


@pytest.mark.parametrize(
    ("rounding", "difference", "status"),
    [
        (0.0, 0.16, FAIL),
        (0.3, 0.29, PASS),
        (0.3, 0.31, FAIL),
        (3.0, 0.59, PASS),
        (3.0, 0.61, FAIL),  # a network that turns a step of 8 bits into anything cannot be compared
    ],
)
def test_what_a_step_of_8_bits_does_to_a_quantised_network_is_allowed_up_to_a_fifth(
    run: Run, rounding: float, difference: float, status: str
) -> None:
    found = findings(run, "pact", rounding=rounding, scale=3.0, table=rows(onednn__max_abs=difference))
    assert found["TP302"].status == status, found["TP302"].message


def test_outputs_that_are_no_numbers_never_agree(run: Run) -> None:
    assert findings(run, scale=float("nan"))["TP301"].status == FAIL


def test_a_reference_that_contradicts_itself_is_the_finding(run: Run) -> None:
    finding = findings(run, noise=0.5)["TP301"]
    assert (finding.status, "not in eval mode" in finding.message) == (FAIL, True)


def test_a_network_that_answers_everything_alike_has_learnt_nothing(run: Run) -> None:
    assert "learnt nothing" in findings(run, constant=True)["TP301"].message


def test_other_decisions_fail_however_small_the_difference(run: Run) -> None:
    finding = findings(run, table=rows(native__argmax_equal=7))["TP301"]
    assert (finding.status, "top-1 7/8" in finding.message) == (FAIL, True)


def test_an_output_that_is_not_finite_fails(run: Run) -> None:
    assert "not finite" in findings(run, table=rows(native__finite=False))["TP301"].message
    assert "not finite" in findings(run, table=rows(onednn__finite=False))["TP302"].message


def test_only_onednn_is_to_blame_where_only_it_differs(run: Run) -> None:
    found = findings(run, table=rows(onednn__max_abs=1.0))
    assert (found["TP301"].status, found["TP302"].status) == (PASS, FAIL)


def test_a_batch_size_that_is_refused_is_named(run: Run) -> None:
    table = [
        Comparison(engine="native", batch=8, error="ValueError: fixed"),
        Comparison(engine="native", batch=1),
    ]
    assert "refuses batch 8" in findings(run, table=table)["TP303"].message


@pytest.mark.parametrize(
    ("flags", "int8", "status"),
    [
        (["avx2", "avx512_vnni"], 1.0, PASS),
        (["avx2", "avx512_vnni"], 0.9, PASS),  # one image of eight
        (["avx2", "avx512_vnni"], 0.5, FAIL),
        (["avx2"], 0.5, NOT_CERTIFIED),
        ([], 0.5, FAIL),  # nothing is known about the processor
        (["avx2", "avx512_vnni"], float("nan"), FAIL),
    ],
)
def test_int8_may_lose_so_much_and_no_more(run: Run, flags: list[str], int8: float, status: str) -> None:
    metrics = {"reference": Metric(name="top1", value=1.0), "int8": Metric(name="top1", value=int8)}
    machine = replace(run, environment={"cpu": {"flags": flags}})
    finding = findings(machine, "pact", metrics=metrics)["TP305"]
    assert finding.status == status, finding.message
    assert finding.evidence["metric"] == "top1"


def test_without_a_metric_int8_is_unchecked(run: Run) -> None:
    finding = findings(run, "pact", metrics={})["TP305"]
    assert (finding.status, finding.required) == (UNCHECKED, True)


def test_a_comparison_that_broke_is_a_failure_and_a_skeleton_is_unchecked(run: Run) -> None:
    assert findings(run, error="KeyError: 'x'")["TP301"].status == FAIL
    skeleton = findings(run, missing="test_tipc/parity.py is a skeleton: samples()")["TP301"]
    assert (skeleton.status, skeleton.required) == (UNCHECKED, True)
    assert "tipc init" in skeleton.remedy


@pytest.mark.parametrize(("class_id", "status"), [(0, PASS), (2, FAIL)])
def test_without_parity_py_the_scripts_own_predictions_are_compared(
    tmp_path: Path, class_id: int, status: str
) -> None:
    repo = make_plain_repo(tmp_path)
    line = f"print('image_name: lite_data/val/0.jpg, class_id: {class_id}, prob: 0.9')\n    sys.exit(0)"
    edit(repo, "train.py", "sys.exit(0)", line)
    run = run_chain(repo, plan_of(repo))
    finding = findings(run, missing="test_tipc/parity.py")["TP301"]
    assert finding.status == status, finding.message
