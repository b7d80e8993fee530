"""README's table of the zoo is written from one run of all its configs, and from no other."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with READMEs of its own."""
    spec = importlib.util.spec_from_file_location("certified", ROOT / "zoo" / "certified.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    configs = module.all_configs()
    monkeypatch.setattr(module, "all_configs", lambda: configs)
    for name in module.READMES:
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def a_run(configs: list[str], broken: str = "") -> dict[str, Any]:
    """What ``tipc report --json`` says of a run; the config ``broken`` fails TP305."""
    plans = []
    for place in configs:
        repo, config = place.split("/", 1)
        kind = "fp32"
        for word in ("amp", "pact"):
            if f"_{word}_" in config:
                kind = word
        finding = {"check": "TP305", "status": "fail", "message": "off", "required": True}
        findings = [finding] if place == broken else []
        step = {"id": "train", "result": "passed", "findings": []}
        cell = {"precision": kind, "trainer": f"{kind}_train", "findings": findings, "steps": [step]}
        model = config.split("/")[2]
        plans.append(
            {"repo": f"/x/{repo}", "config": config, "model": model, "findings": [], "cells": [cell]}
        )
    cpu = {"cores": 2, "model": "AMD EPYC", "flags": ["avx2", "avx512f", "avx512_vnni"]}
    packages = {"packages": {"paddlepaddle": "3.1.1"}}
    environment = {"cpu": cpu, "interpreters": {"python": packages}}
    return {"id": "1", "started": 0.0, "seconds": 1500.0, "environment": environment, "plans": plans}


def written(certified: ModuleType, run: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of the script for a run."""
    answer = subprocess.CompletedProcess([], 0, stdout=json.dumps({"runs": [run]}))
    monkeypatch.setattr(certified.subprocess, "run", lambda *_, **__: answer)
    return int(certified.main([]))


def test_a_config_that_failed_gets_its_sign_and_the_sentence_the_figures(
    certified: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configs = certified.all_configs()
    bad = "segmentation/test_tipc/configs/fcn_hrnetw18/train_pact_infer_python.txt"
    assert written(certified, a_run(configs, broken=bad), monkeypatch) == 0
    assert "TP305 off" in capsys.readouterr().out
    for name in certified.READMES:
        text = (certified.ROOT / name).read_text(encoding="utf-8")
        row = next(line for line in text.splitlines() if line.startswith("| FCN-HRNet-W18 |"))
        cells = [cell.strip() for cell in row.split("|")]
        assert cells[2] == "✔"
        assert cells[5] == "✔"
        assert cells[8] == "✘"
        assert "1970-01-01" in text
        assert "AMD EPYC, AVX512-VNNI" in text
    english = (certified.ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{len(configs) - 1} of {len(configs)} configs certified" in english
    assert "25 minutes on 2 cores" in english


def test_a_run_of_some_configs_writes_nothing(
    certified: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (certified.ROOT / "README.md").read_text(encoding="utf-8")
    assert written(certified, a_run(certified.all_configs()[1:]), monkeypatch) == 2
    assert "not a run of the whole zoo" in capsys.readouterr().err
    assert (certified.ROOT / "README.md").read_text(encoding="utf-8") == before
