"""-k and --only."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_plans import plan_of, step

from tipc.errors import UsageError
from tipc.plan.model import Plan
from tipc.run.schedule.selection import parse, selected


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(
        tmp_path,
        step("prepare", kind="prepare"),
        step("norm/train", kind="train"),
        step("norm/export", kind="export"),
        step("amp/train", kind="train"),
        step("amp/infer_cpu_bs1", kind="infer"),
    )


@pytest.mark.parametrize(
    ("expression", "only", "expected"),
    [
        ("", "", "prepare norm/train norm/export amp/train amp/infer_cpu_bs1"),
        ("amp", "", "prepare amp/train amp/infer_cpu_bs1"),
        ("AMP and not infer", "", "prepare amp/train"),
        ("export or infer", "", "prepare norm/export amp/infer_cpu_bs1"),
        ("not (export or infer)", "", "prepare norm/train amp/train"),
        ("not not export", "", "prepare norm/export"),
        ("", "train", "prepare norm/train amp/train"),
        ("amp", "train,export", "prepare amp/train"),
        ("", "prepare", "prepare"),
        ("nothing_like_it", "", ""),
        ("prepare", "", ""),
    ],
)
def test_selection(plan: Plan, expression: str, only: str, expected: str) -> None:
    assert selected(plan, expression, only) == frozenset(expected.split())


@pytest.mark.parametrize("expression", ["and", "a and", "(a", "a b", "not", "a) or b", "()", "or or"])
def test_a_wrong_expression_is_shown_with_its_place(expression: str) -> None:
    with pytest.raises(UsageError, match=r"\^"):
        parse(expression)


@given(st.text(alphabet="ab() andort", max_size=20))
def test_any_expression_is_understood_or_refused(expression: str) -> None:
    try:
        match = parse(expression)
    except UsageError:
        return
    assert match(frozenset({"a"})) in (True, False)


@pytest.mark.parametrize("only", ["training", "train,exprot", ",", " "])
def test_an_unknown_kind_is_refused(plan: Plan, only: str) -> None:
    with pytest.raises(UsageError, match="--only"):
        selected(plan, "", only)
