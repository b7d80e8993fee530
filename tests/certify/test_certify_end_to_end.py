"""Lies and honest chains through the real ``tipc run``: config, plan, scheduler, checks, report, exit
code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from certify_lies import EXPORT, INFER, LIES, TRAIN, Lie
from certify_paddle_repo import make_paddle_repo
from certify_plain_repo import edit, make_plain_repo

from tipc.cli.main import main

NAMES = (
    "training crashes after",
    "script prints a traceback",
    "script gives up",
    "loss is NaN",
    "predictions depend",
)
THROUGH_RUN = [lie for lie in LIES if lie.name.startswith(NAMES)]


def configured(repo: Path, monkeypatch: pytest.MonkeyPatch, precision: str = "fp32") -> str:
    """The config of a chain: written by tipc init, for one device and two batch sizes."""
    monkeypatch.setenv("TIPC_HOME", str(repo / ".tipc"))
    monkeypatch.chdir(repo)
    assert main(["init", "--model", "tiny", "--epochs", "3", "--img-path", "./lite_data/val"]) == 0
    name = {"fp32": "train", "amp": "train_amp", "pact": "train_pact"}[precision]
    path = repo / "test_tipc" / "configs" / "tiny" / f"{name}_infer_python.txt"
    text = (
        path.read_text().replace("gpu_list:0|0,1", "gpu_list:0").replace("--use-gpu:True|True", "null:null")
    )
    text = text.replace("--use-gpu:True|False", "--precision:False").replace(
        "--batch-size:1\n", "--batch-size:1|4\n"
    )
    path.write_text(text.replace("python:python3", f"python:{sys.executable}"))
    return str(path.relative_to(repo))


def verdict(repo: Path) -> dict[str, object]:
    [path] = (repo / ".tipc" / "runs").glob("*/verdict.json")
    return json.loads(path.read_text())  # type: ignore[no-any-return]


@pytest.mark.parametrize("lie", THROUGH_RUN, ids=lambda lie: lie.name)
def test_tipc_run_fails_for_a_lie_and_names_its_check(
    lie: Lie, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = make_plain_repo(tmp_path)
    edit(repo, lie.file, lie.old, lie.new)
    edit(repo, INFER, "args = parser.parse_args()", "args = parser.parse_args()\nargs.precision = 'fp32'")
    config = configured(repo, monkeypatch, lie.precision)
    assert main(["run", config, "--cold", "--no-prepare"]) == 1
    out = capsys.readouterr().out
    found = [one for one in verdict(repo)["findings"] if one["status"] == "fail"]  # type: ignore[attr-defined, union-attr]
    # The run itself misses the file, and fails the step.
    expected, cause = ("TS001", "did not write") if lie.check == "TX701" else (lie.check, lie.cause)
    messages = [one["message"] for one in found if one["check"] == expected]
    assert any(cause in message for message in messages), found
    assert "FAILED" in out
    assert expected in out or expected == "TS001"


def honest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """A repository whose chain is certified, and its config."""
    repo = make_paddle_repo(tmp_path)
    for file in (TRAIN, EXPORT, INFER):
        edit(repo, file, "args = parser.parse_args()", "args, _ = parser.parse_known_args()")
    edit(
        repo,
        INFER,
        "args, _ = parser.parse_known_args()",
        "args, _ = parser.parse_known_args()\nargs.precision = 'fp32'",
    )
    monkeypatch.setenv("FLAGS_enable_pir_api", "0")
    return repo, configured(repo, monkeypatch)


@pytest.mark.paddle
@pytest.mark.xdist_group("certify_paddle")
def test_tipc_run_certifies_an_honest_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo, config = honest(tmp_path, monkeypatch)
    code = main(["run", config, "--cold", "--no-prepare"])
    out = capsys.readouterr().out
    wrong = [one for one in verdict(repo)["findings"] if one["status"] in ("fail", "unchecked")]  # type: ignore[attr-defined, union-attr]
    assert code == 0, (wrong, out[-3000:])
    assert not [one for one in wrong if one["required"]], wrong
    assert "TP301" in out
    beside_the_steps = verdict(repo)
    assert main(["certify"]) == 0
    assert verdict(repo) == beside_the_steps, "what was asked while steps ran changes nothing"
    assert "CERTIFIED · " in capsys.readouterr().out
    assert main(["certify", "--strict"]) == 1, "a GPU was asked for"
    capsys.readouterr()
    assert main(["history"]) == 0
    assert "NOT CERTIFIED" in capsys.readouterr().out, "the history follows the newest verdict"


@pytest.mark.paddle
@pytest.mark.xdist_group("certify_paddle")
def test_a_part_of_an_honest_chain_is_certified_only_together_with_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, config = honest(tmp_path, monkeypatch)
    assert main(["run", config, "--cold", "--no-prepare", "--only", "train,export"]) == 0
    part = "NOT CERTIFIED: 3 of 5 steps were not selected"
    assert part in capsys.readouterr().out
    assert main(["certify"]) == 1
    assert part in capsys.readouterr().out
    assert main(["history"]) == 0
    assert "NOT CERTIFIED" in capsys.readouterr().out
    assert main(["run", "--resume", "--cold", "--only", "eval,infer"]) == 0
    assert "PASSED on cpu" in capsys.readouterr().out
    assert main(["certify"]) == 0
