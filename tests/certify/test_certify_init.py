"""``tipc init``: what it writes lints, and says honestly what is still to be written."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from tipc.cli.main import main


def test_what_it_writes_lints_and_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path), "--model", "toy"]) == 0
    assert main(["lint", str(tmp_path / "test_tipc" / "configs")]) == 0, capsys.readouterr().out
    assert main(["plan", str(tmp_path / "test_tipc" / "configs")]) == 0
    text = capsys.readouterr().out
    assert all(trainer in text for trainer in ("norm_train", "amp_train", "pact_train"))


def test_its_flags_reach_the_configs(tmp_path: Path) -> None:
    flags = ["--train", "tools/train.py -c a.yml", "--epochs", "7", "--amp-option=--precision=fp16"]
    assert main(["init", str(tmp_path), "--model", "toy", *flags]) == 0
    text = (tmp_path / "test_tipc/configs/toy/train_amp_infer_python.txt").read_text()
    assert "amp_train:tools/train.py -c a.yml --precision=fp16" in text
    assert "lite_train_lite_infer=7|" in text
    assert len(text.splitlines()) == 32
    assert (tmp_path / "tools" / "train.py").is_file()


def test_a_skeleton_takes_its_options_and_fails(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path), "--model", "toy"]) == 0
    for script, options in {
        "train.py": ["--epochs=5", "--output-dir=x", "--amp_level=O2", "--pact_quant", "--test-only"],
        "tools/export_model.py": ["--pretrained=a", "--save-inference-dir=b"],
        "deploy/inference_python/infer.py": ["--use-gpu=False", "--batch-size=1", "--benchmark=True"],
    }.items():
        done = subprocess.run(
            [sys.executable, script, *options], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 1
        assert "still the skeleton" in done.stderr


def test_nothing_is_overwritten_unless_forced_and_scripts_never(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text("mine")
    readme = tmp_path / "test_tipc" / "README.md"
    readme.parent.mkdir()
    readme.write_text("mine")
    assert main(["init", str(tmp_path), "--model", "toy"]) == 0
    assert readme.read_text() == "mine"
    assert "kept   test_tipc/README.md" in capsys.readouterr().out
    assert main(["init", str(tmp_path), "--model", "toy", "--force"]) == 0
    assert readme.read_text() != "mine"
    assert (tmp_path / "train.py").read_text() == "mine"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--model", "a/b"],
        ["--model", ""],
        ["--model", "toy", "--data-path", "a:b"],
        ["--model", "toy", "--train", "a.py\nb"],
        ["--model", "toy", "--epochs", " "],
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["init", str(tmp_path), *arguments]) == 2
    assert not list(tmp_path.iterdir())
    assert "Traceback" not in capsys.readouterr().err


def test_on_a_terminal_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "toy" if "name" in prompt and "weights" not in prompt else ""

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", answer)
    assert main(["init", str(tmp_path)]) == 0
    assert len(asked) == 12
    assert (tmp_path / "test_tipc/configs/toy/train_infer_python.txt").is_file()
