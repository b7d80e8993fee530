"""TS006: settings that steps read, and scripts that were not there before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from certify_facts import Honest

from tipc.certify.checks.steps import untouched
from tipc.certify.scene import PlanScene
from tipc.certify.verdict import FAIL, PASS, UNCHECKED
from tipc.run.record.results import Run

Judged = list[tuple[str, bool, str]]


@pytest.fixture
def judge_sources(run: Run) -> Callable[..., Judged]:
    def judge(read: str = "", **fields: Any) -> Judged:
        root = Path(run.plans[0].repo)
        changes = {name: (str(root / path),) for name, path in fields.items()}
        honest = Honest(run)
        if read:
            honest.change("export", lists=(str(root / read),))
        scene = PlanScene(replace(run, **changes), run.plans[0], 0, {}, honest.witnessed())
        return [(one.status, one.required, str(one.message)) for one in untouched.function(scene)]

    return judge


def test_settings_that_a_step_reads_and_one_rewrites_are_named(judge_sources: Callable[..., Judged]) -> None:
    [(status, _, message)] = judge_sources("configs/net.yaml", changed_settings="configs/net.yaml")
    assert status == FAIL
    assert "configs/net.yaml changed" in message


def test_settings_that_are_only_written_are_no_source(judge_sources: Callable[..., Judged]) -> None:
    [(status, _, _)] = judge_sources("configs/net.yaml", changed_settings="used.yaml")
    assert status == PASS


def test_a_new_script_is_a_remark(judge_sources: Callable[..., Judged]) -> None:
    first, second = judge_sources(new_scripts="house_patch.py")
    assert first[0] == PASS
    assert second[:2] == (UNCHECKED, False)
    assert "house_patch.py" in second[2]
