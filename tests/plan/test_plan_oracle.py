"""Every recorded run of the real scripts, word for word."""

from __future__ import annotations

import gzip
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tipc.plan.build import build_plan
from tipc.plan.request import PlanOptions

UPSTREAM = Path(os.environ.get("TIPC_UPSTREAM", Path(__file__).parents[3] / "shared" / "upstream")).resolve()
RECORDED = {"models": 20, "PaddleSeg": 112, "PaddleOCR": 231, "PaddleClas": 488, "PaddleDetection": 164}

pytestmark = pytest.mark.skipif(not UPSTREAM.is_dir(), reason=f"no recordings at {UPSTREAM} (TIPC_UPSTREAM)")


def weightless(text: str) -> str:
    """A text in which it makes no difference which of its two weights PaddleSeg takes."""
    return re.sub(r"/(?:best_model|iter_\d+)/model\.pdparams", "/<WEIGHTS>", text)


@pytest.mark.parametrize("repository", RECORDED)
def test_the_plan_as_upstream_is_what_the_script_ran(repository: str) -> None:
    root = UPSTREAM / repository
    with gzip.open(root / "commands.jsonl.gz", "rt", encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    assert len(runs) >= RECORDED[repository]
    # Some files of other chains were given to the training script, too, which cannot read them.
    runs = [run for run in runs if "/model_linux" not in run["config"]]
    for run in runs:
        plan = build_plan(root / run["config"], run["mode"], PlanOptions(as_upstream=True))
        plan = replace(plan, steps=tuple(step for step in plan.steps if step.argv[0] != "ln"))
        where = f"{run['config']} {run['mode']}"
        # When these were recorded, every training left the weights that its config names. One of PaddleSeg
        # without --do_eval leaves no best model, and the script then takes those of the last iteration.
        weights = weightless if "--do_eval" not in str(run["commands"]) else str
        steps = [
            (
                [weights(word.replace(str(root), "<ROOT>")) for word in step.argv],
                step.env["CUDA_VISIBLE_DEVICES"],
                step.cwd,
            )
            for step in plan.steps
        ]
        wanted = [
            ([weights(word) for word in command["argv"]], command["cuda"], command.get("cwd") or ".")
            for command in run["commands"]
        ]
        assert steps == wanted, where
        status = [weights(step.status_line.replace(str(root), "<ROOT>")) for step in plan.steps]
        assert status == [weights(line) for line in run["status"]], where
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
            if path.name.startswith("model_linux"):
                continue  # of other chains
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
