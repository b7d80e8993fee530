from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from plan_samples import SAMPLES, changed, write

from tipc.plan.build import build_plan
from tipc.plan.model import Plan
from tipc.plan.request import PlanOptions
from tipc.plan.target.machine import Machine

LITE = "lite_train_lite_infer"
CPU = Machine(cores=2)
Planner = Callable[..., Plan]


@pytest.fixture
def upstream(tmp_path: Path) -> Planner:
    """Plan a sample as upstream: ``upstream("seg", {4: "gpu_list:0"}, mode)``."""

    def plan(
        dialect: str, lines: dict[int, str] | None = None, mode: str = LITE, text: str = "", **more: object
    ):
        path = write(tmp_path, text or changed(SAMPLES[dialect], lines or {}))
        return build_plan(path, mode, PlanOptions(dialect=dialect, as_upstream=True, machine=CPU, **more))

    return plan


@pytest.fixture
def plan(tmp_path: Path) -> Planner:
    """Plan a sample by default, on a machine with two cores and no GPU unless ``machine`` says otherwise."""

    def plan(
        dialect: str, lines: dict[int, str] | None = None, mode: str = LITE, text: str = "", **more: object
    ):
        path = write(tmp_path, text or changed(SAMPLES[dialect], lines or {}))
        return build_plan(path, mode, PlanOptions(**{"dialect": dialect, "machine": CPU, **more}))

    return plan
