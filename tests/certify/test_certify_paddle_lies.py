"""The suite of lies, third part: real chains of a small repository through ``tipc run``, each with
one edit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from certify_paddle_lies import HONEST, LIES, MORE_EDITS, PaddleLie
from certify_paddle_repo import make_paddle_repo, write_config
from certify_plain_repo import edit

pytestmark = [pytest.mark.paddle, pytest.mark.slow, pytest.mark.xdist_group("certify_paddle")]


def judged(repo: Path, config: str, pir: bool = False) -> tuple[int, list[dict[str, Any]]]:
    """The exit code of ``tipc run`` and its findings."""
    env = {**os.environ, "FLAGS_enable_pir_api": "1" if pir else "0", "TIPC_HOME": str(repo / ".tipc")}
    command = [sys.executable, "-m", "tipc", "run", config]
    done = subprocess.run(
        command, cwd=repo, env=env, capture_output=True, text=True, timeout=500, check=False
    )
    paths = sorted(repo.glob(".tipc/runs/*/verdict.json"))
    assert paths, done.stdout + done.stderr
    return done.returncode, json.loads(paths[-1].read_text())["findings"]


def telling(findings: list[dict[str, Any]]) -> list[tuple[str, str]]:
    wrong = [
        one
        for one in findings
        if one["status"] == "fail" or (one["status"] == "unchecked" and one["required"])
    ]
    return [(one["check"], one["message"]) for one in wrong]


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_a_lie_about_the_model_is_caught(lie: PaddleLie, tmp_path: Path) -> None:
    repo = make_paddle_repo(tmp_path)
    for file, old, new in [(lie.file, lie.old, lie.new), *MORE_EDITS.get(lie.name, [])]:
        edit(repo, file, old, new)
    infer = "int8" if lie.precision == "pact" else lie.infer_precision
    code, findings = judged(repo, write_config(repo, lie.precision, infer))
    assert code == 1
    found = [message for check, message in telling(findings) if check == lie.check]
    assert any(lie.cause in message for message in found), telling(findings)


@pytest.mark.parametrize("name", HONEST)
def test_what_is_unusual_and_honest_is_certified(name: str, tmp_path: Path) -> None:
    repo = make_paddle_repo(tmp_path)
    for file, old, new in HONEST[name]:
        edit(repo, file, old, new)
    code, findings = judged(repo, write_config(repo, "fp32", "fp32"))
    assert not telling(findings)
    assert code == 0


@pytest.mark.parametrize("precision", ["fp32", "amp", "pact"])
def test_an_honest_chain_is_certified_without_a_line_from_the_repository(
    precision: str, tmp_path: Path
) -> None:
    repo = make_paddle_repo(tmp_path)
    (repo / "test_tipc" / "parity.py").unlink()
    config = write_config(repo, precision, "int8" if precision == "pact" else "fp32")
    code, findings = judged(repo, config)
    assert not telling(findings)
    assert code == 0
    statuses = {one["check"]: one["status"] for one in findings}
    assert statuses["TP301"] == statuses["TT901"] == statuses["TT905"] == statuses["TP308"] == "pass"
    if precision == "pact":
        assert statuses["TQ401"] == statuses["TQ403"] == statuses["TQ404"] == statuses["TP305"] == "pass"
    if precision == "amp":
        assert (statuses["TA201"], statuses["TA202"]) == ("not_certified", "pass")


def test_an_export_in_the_newer_form_gets_everything_that_the_older_gets(tmp_path: Path) -> None:
    repo = make_paddle_repo(tmp_path)
    edit(repo, "deploy/inference_python/infer.py", "/inference.pdmodel", "/inference.json")
    code, findings = judged(repo, write_config(repo, "fp32", "fp32"), pir=True)
    assert not telling(findings)
    assert code == 0
    statuses = {one["check"]: one["status"] for one in findings}
    assert statuses["TX702"] == statuses["TX704"] == statuses["TP301"] == "pass"
