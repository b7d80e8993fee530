"""What is missing is told before anything starts."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tipc.certify.checks.capability import capability
from tipc.cli.main import main
from tipc.language import sentence
from tipc.plan.model import Cell, Plan, Step
from tipc.plan.target.machine import this_machine
from tipc.reasons import because
from tipc.run import missing


def plan_of(repo: Path, cell: Cell | None = None, python: str = sys.executable) -> Plan:
    """A plan whose scripts import paddle and auto_log."""
    (repo / "train.py").write_text("import paddle")
    (repo / "infer.py").write_text("import auto_log")
    steps = [
        Step(
            id=kind, kind=kind, cell="c", argv=(python, f"{kind}.py"), env={}, cwd=".", log="",
            needs=(), produces=(), status_line="",
        )
        for kind in ("train", "infer")
    ]  # fmt: skip
    return Plan("a.txt", "m", "models", "net", str(repo), False, (cell,) if cell else (), tuple(steps))


def answer(monkeypatch: pytest.MonkeyPatch, packages: dict[str, str], **modules: bool) -> None:
    def ask(interpreter: str, names: tuple[str, ...], wanted: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        return {
            "packages": {name: packages.get(name, "") for name in names},
            "modules": {name: modules.get(name, False) for name in wanted},
        }

    monkeypatch.setattr(missing, "ask", ask)


def test_paddle_autolog_and_requirements_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(tmp_path)
    (tmp_path / "requirements.txt").write_text(
        "# a comment\nnumpy<2  # why\nPillow[x]>=9; python_version > '3'\n-e ../lib\ngit+https://x/y\n"
    )
    answer(monkeypatch, {"numpy": "1.26"})
    assert missing.missing_for([plan, plan]) == [
        because("no-paddle", interpreter=sys.executable),
        because("no-auto-log", interpreter=sys.executable, source=shlex.quote(missing.source_of_tipc())),
        because("missing-packages", names="Pillow", file="requirements.txt", interpreter=sys.executable),
    ]


def test_where_tipcs_own_environment_has_paddle_it_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "python3"
    other.touch(0o755)
    plan = plan_of(tmp_path, python=str(other))
    answer(monkeypatch, {}, auto_log=True)
    monkeypatch.setattr(missing, "has_paddle_beside", lambda: True)
    offered = because("paddle-beside-tipc", interpreter=str(other), own=sys.executable)
    assert missing.missing_for([plan]) == [offered]
    assert f"--python {sys.executable}" in sentence(offered)
    monkeypatch.setattr(missing, "has_paddle_beside", lambda: False)
    assert missing.missing_for([plan]) == [because("no-paddle", interpreter=str(other))]


def test_the_paddle_of_pypi_is_not_taken_for_paddlepaddle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(tmp_path)
    answer(monkeypatch, {"paddle": "1.4.4"}, paddle=True, auto_log=True)
    other = because("other-paddle", interpreter=sys.executable)
    assert missing.missing_for([plan]) == [other]
    assert f"{sys.executable} -m pip install paddlepaddle" in sentence(other)
    answer(monkeypatch, {}, paddle=True, auto_log=True)
    assert missing.missing_for([plan]) == [], "one that was built from its sources"


def test_what_another_distribution_brings_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(tmp_path)
    (tmp_path / "requirements.txt").write_text("sklearn==0.0\nopencv-python <= 4.6.0\nlapx\n")
    answer(monkeypatch, {"paddlepaddle": "3.1.1"}, paddle=True, auto_log=True, sklearn=True, cv2=True)
    assert missing.missing_for([plan]) == [
        because("missing-packages", names="lapx", file="requirements.txt", interpreter=sys.executable),
    ]


def test_an_old_paddle_is_named_and_a_new_one_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(tmp_path)
    answer(monkeypatch, {"paddlepaddle": "2.1.3"}, auto_log=True, paddle=True)
    assert missing.missing_for([plan]) == [because("old-paddle", version="2.1.3")]
    for version in ("2.2.0", "2.10", "3.1.1"):
        answer(monkeypatch, {"paddlepaddle": version}, auto_log=True, paddle=True)
        assert missing.missing_for([plan]) == []


def test_scripts_that_need_neither_are_left_in_peace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(tmp_path)
    for name in ("train", "infer"):
        (tmp_path / f"{name}.py").write_text("print()")
    answer(monkeypatch, {})
    assert missing.missing_for([plan]) == []


def test_the_real_interpreter_is_asked_without_importing_anything() -> None:
    found = missing.ask(sys.executable, ("numpy", "no-such-package"), ("auto_log", "no_such_module"))
    assert found is not None
    assert found["packages"]["numpy"]
    assert found["packages"]["no-such-package"] == ""
    assert found["modules"] == {"auto_log": True, "no_such_module": False}
    assert missing.ask("/no/such/python", (), ()) is None


AMP = Cell("c", trainer="amp_train", asked="0", runs_on="gpu:0", precision="amp")


@pytest.mark.parametrize(("told", "weak"), [("6.1", True), ("7.0", False), ("10.0", False), ("", False)])
def test_a_gpu_without_tensor_cores_is_named_before_amp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, weak: bool
) -> None:
    monkeypatch.setattr(missing, "describe", lambda: {"gpus": [{"name": "P4", "compute_cap": told}]})
    found = list(missing.weak_gpus(plan_of(tmp_path, AMP)))
    assert found == ([because("weak-gpu", name="P4", capability=told)] if weak else [])
    on_cpu = plan_of(tmp_path, replace(AMP, runs_on="cpu"))
    assert list(missing.weak_gpus(on_cpu)) == []


def test_a_plan_names_a_gpu_that_is_too_old_for_its_mixed_precision(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configs = Path(__file__).parents[2] / "zoo/classification/test_tipc/configs/mobilenet_v3_small"
    monkeypatch.setattr(missing, "describe", lambda: {"gpus": [{"name": "P4", "compute_cap": "6.1"}]})
    # Only the GPUs of this machine are looked at: a made-up machine with two of them.
    with_gpus = replace(this_machine(), gpus=2)
    monkeypatch.setattr("tipc.cli.plan.this_machine", lambda: with_gpus)
    assert main(["plan", "--gpus", "2", str(configs / "train_amp_infer_python.txt")]) == 0
    assert capsys.readouterr().err.count("P4 has compute capability 6.1") == 1
    for arguments in (
        ["--device", "cpu", "train_amp_infer_python.txt"],
        ["--gpus", "2", "train_infer_python.txt"],
    ):
        assert main(["plan", *arguments[:2], str(configs / arguments[2])]) == 0
        assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("told", "status"), [("6.1", "fail"), ("7.5", "pass"), ("12.0", "pass"), ("", "unchecked")]
)
def test_the_verdict_of_an_amp_cell_has_the_capability(told: str, status: str) -> None:
    run = SimpleNamespace(environment={"gpus": [{"name": "GPU", "compute_cap": told}]})
    scene: Any = SimpleNamespace(cell=AMP, run=run)
    assert [outcome.status for outcome in capability.function(scene)] == [status]
    scene.cell = replace(AMP, runs_on="cpu")
    assert list(capability.function(scene)) == []


def test_env_tells_what_a_config_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--template", "classification", "toy", str(tmp_path)]) == 0
    capsys.readouterr()
    answer(
        monkeypatch, {"paddlepaddle": "3.1.1", "numpy": "2", "setuptools": "1"}, auto_log=True, paddle=True
    )
    folder = tmp_path / "test_tipc/configs"
    assert main(["env", str(folder / "toy/train_infer_python.txt"), "--json"]) == 3
    told = json.loads(capsys.readouterr().out)["missing"]
    assert main(["env", str(folder), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["missing"] == told
    (line,) = told
    assert line.startswith("packages of requirements.txt: pillow (")
    assert line.endswith(" -m pip install -r requirements.txt)")
