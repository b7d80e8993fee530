"""Every recorded run of the real scripts, word for word."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from tipc.plan.build import build_plan

UPSTREAM = Path(os.environ.get("TIPC_UPSTREAM", Path(__file__).parents[3] / "shared" / "upstream"))
RECORDED = {"models": 20, "PaddleSeg": 112, "PaddleOCR": 231, "PaddleClas": 488, "PaddleDetection": 164}

pytestmark = pytest.mark.skipif(not UPSTREAM.is_dir(), reason=f"no recordings at {UPSTREAM} (TIPC_UPSTREAM)")


@pytest.mark.parametrize("repository", RECORDED)
def test_the_plan_as_upstream_is_what_the_script_ran(repository: str) -> None:
    root = UPSTREAM / repository
    with gzip.open(root / "commands.jsonl.gz", "rt", encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    assert len(runs) >= RECORDED[repository]
    for run in runs:
        plan = build_plan(root / run["config"], run["mode"], as_upstream=True)
        where = f"{run['config']} {run['mode']}"
        steps = [
            (
                [word.replace(str(root), "<ROOT>") for word in step.argv],
                step.env["CUDA_VISIBLE_DEVICES"],
                step.cwd,
            )
            for step in plan.steps
        ]
        wanted = [
            (command["argv"], command["cuda"], command.get("cwd") or ".") for command in run["commands"]
        ]
        assert steps == wanted, where
        status = [step.status_line.replace(str(root), "<ROOT>") for step in plan.steps]
        assert status == run["status"], where
        if repository == "models":
            names = [
                {k: v for k, v in step.env.items() if k != "CUDA_VISIBLE_DEVICES"} for step in plan.steps
            ]
            assert names == [command.get("env") or {} for command in run["commands"]], where


@pytest.mark.parametrize("repository", RECORDED)
def test_every_config_has_a_default_plan_in_every_mode(repository: str) -> None:
    for path in sorted((UPSTREAM / repository).rglob("*.txt")):
        for mode in (
            "lite_train_lite_infer",
            "lite_train_whole_infer",
            "whole_train_whole_infer",
            "whole_infer",
        ):
            if path.name.startswith("model_linux") and mode != "whole_infer":
                continue  # their files have no training part
            plan = build_plan(path, mode)
            ids = [step.id for step in plan.steps]
            assert len(set(ids)) == len(ids)
            done: set[str] = set()
            for step in plan.steps:
                assert set(step.needs) <= done, f"{path} {mode} {step.id}"
                done.add(step.id)
            logs = [step.log for step in plan.steps]
            assert len(set(logs)) == len(logs)
            assert all(logs)
