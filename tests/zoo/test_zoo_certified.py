"""The zoos through ``tipc run``, as people run them: every step passes, and every required check is made."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.paddle, pytest.mark.slow]
pytest.importorskip("paddle")

ZOO = Path(__file__).parents[2] / "zoo"
MODE = "lite_train_lite_infer"


def certify(tmp_path: Path, repo: str, config: str, iterations: int | None = None) -> dict[str, set[str]]:
    """Run a config on a copy of its repository; the statuses of each check in a verdict that passed."""
    work = tmp_path / repo
    left_behind = shutil.ignore_patterns("output", ".tipc", "lite_data", "log", "*_infer", "__pycache__")
    shutil.copytree(ZOO / repo, work, ignore=left_behind)
    path = work / "test_tipc" / "configs" / config
    if iterations:
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(rf"{MODE}=\d+", f"{MODE}={iterations}", text, count=1), encoding="utf-8")
    environment = {**os.environ, "TIPC_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-m", "tipc", "run", str(path), MODE],
        cwd=work, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "PASSED on cpu" in done.stdout
    (verdict,) = (tmp_path / "home" / "runs").glob("*/verdict.json")
    statuses: dict[str, set[str]] = {}
    for finding in json.loads(verdict.read_text(encoding="utf-8"))["findings"]:
        if finding["status"] == "unchecked" and not finding["required"]:
            continue  # a remark
        statuses.setdefault(finding["check"], set()).add(finding["status"])
    return statuses


@pytest.mark.parametrize(
    ("repo", "config", "iterations"),
    [
        ("classification", "mobilenet_v3_small/train_infer_python.txt", None),
        ("segmentation", "pphumanseg_lite/train_infer_python.txt", 30),
        ("segmentation", "pp_liteseg_stdc1/train_infer_python.txt", 10),
    ],
)
def test_a_base_chain_passes_with_parity_shown_and_gpus_left_uncertified(
    tmp_path: Path, repo: str, config: str, iterations: int | None
) -> None:
    statuses = certify(tmp_path, repo, config, iterations)
    assert statuses["TP301"] == {"pass"}
    assert statuses["TS003"] == {"not_certified"} or shutil.which("nvidia-smi")
    assert not any("fail" in found or "unchecked" in found for found in statuses.values())


def test_emulated_mixed_precision_passes_but_is_not_certified(tmp_path: Path) -> None:
    config = "pphumanseg_lite/train_linux_gpu_normal_amp_infer_python_linux_gpu_cpu.txt"
    statuses = certify(tmp_path, "segmentation", config, 20)
    assert statuses["TA201"] == {"not_certified"} or shutil.which("nvidia-smi")
