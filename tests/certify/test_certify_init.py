"""``tipc init``: a repository from a template, or test_tipc/ for one that is there; only what is missing."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tipc.certify.scaffold import TASKS, template_files
from tipc.cli.main import main

LINES = 400  # of Python in a template, with comments and empty lines


@pytest.fixture
def owned(tmp_path: Path) -> Path:
    """A repository that has a script of its own."""
    (tmp_path / "train.py").write_text("mine")
    return tmp_path


def test_what_it_writes_lints_and_plans(owned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(owned), "--model", "toy"]) == 0
    assert not (owned / "tools").exists(), "a repository that is there gets no script"
    for name in ("tools/export_model.py", "deploy/inference_python/infer.py"):
        (owned / name).parent.mkdir(parents=True)
        (owned / name).write_text("mine")
    assert main(["lint", str(owned / "test_tipc" / "configs")]) == 0, capsys.readouterr().out
    assert main(["plan", str(owned / "test_tipc" / "configs")]) == 0
    text = capsys.readouterr().out
    assert all(trainer in text for trainer in ("norm_train", "amp_train", "pact_train"))


def test_without_a_name_it_says_what_to_call(owned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(owned)]) == 2
    assert "tipc init --model NAME" in capsys.readouterr().err
    (owned / "train.py").unlink()
    assert main(["init", str(owned)]) == 2
    assert "tipc init --template classification NAME" in capsys.readouterr().err


def test_its_flags_reach_the_configs(owned: Path) -> None:
    flags = ["--train", "tools/train.py -c a.yml", "--epochs", "7", "--amp-option=--precision=fp16"]
    assert main(["init", str(owned), "--model", "toy", *flags]) == 0
    text = (owned / "test_tipc/configs/toy/train_amp_infer_python.txt").read_text()
    assert "amp_train:tools/train.py -c a.yml --precision=fp16" in text
    assert "lite_train_lite_infer=7|" in text
    assert len(text.splitlines()) == 32


def test_nothing_is_overwritten_unless_forced(owned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = owned / "test_tipc" / "README.md"
    readme.parent.mkdir()
    readme.write_text("mine")
    assert main(["init", str(owned), "--model", "toy"]) == 0
    assert readme.read_text() == "mine"
    assert "kept   test_tipc/README.md" in capsys.readouterr().out
    assert main(["init", str(owned), "--model", "toy", "--force"]) == 0
    assert readme.read_text() != "mine"
    assert (owned / "train.py").read_text() == "mine"


def test_parity_alone_and_the_folder_alone(tmp_path: Path) -> None:
    assert main(["init", "--parity", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.rglob("*.*")] == ["parity.py"]
    assert main(["init", "--tipc", str(tmp_path), "--model", "toy"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["test_tipc"]


def test_a_config_of_another_dialect_is_never_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configs = Path(__file__).parents[2] / "zoo/segmentation/test_tipc/configs/pphumanseg_lite"
    folder = tmp_path / "test_tipc" / "configs" / "pphumanseg_lite"
    folder.mkdir(parents=True)
    (folder / "train_infer_python.txt").write_text((configs / "train_infer_python.txt").read_text())
    before = sorted(tmp_path.rglob("*"))
    for arguments in ([], ["--model", "toy"], ["--template", "segmentation", "--model", "toy"]):
        assert main(["init", str(tmp_path), *arguments]) == 2
        assert "none of another dialect is written" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("task", TASKS)
def test_a_template_is_a_whole_repository_of_few_lines(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--template", task, "toy"]) == 0
    sources = {name: text for name, text in template_files(task, "toy").items() if name.endswith(".py")}
    for name in ("train.py", "eval.py", "predict.py", "network.py", "tools/export_model.py"):
        assert name in sources
        compile(sources[name], name, "exec")
    assert sum(len(text.splitlines()) for text in sources.values()) <= LINES
    assert not any("paddlezoo" in text for text in sources.values())
    assert main(["lint", "test_tipc/configs"]) == 0
    capsys.readouterr()
    assert main(["check"]) == 1
    told = capsys.readouterr().out
    wrong = {line.split()[1] for line in told.splitlines() if line.startswith(("✘", "?"))}
    # Nothing was run yet, so there is neither a run nor a picture of a prediction; paper, figures and licence
    # are for the author to write.
    assert wrong == {"TD808", "TD811", "TD813", "TD814", "TD815"}


def test_a_template_leaves_what_is_there(tmp_path: Path) -> None:
    template = ["init", "--template", "segmentation", "toy", str(tmp_path)]
    (tmp_path / "README.md").write_text("mine")
    assert main(template) == 0
    assert (tmp_path / "README.md").read_text() == "mine"
    (tmp_path / "train.py").write_text("changed")
    (tmp_path / "network.py").unlink()
    assert main(template) == 0
    assert (tmp_path / "train.py").read_text() == "changed"
    assert (tmp_path / "network.py").is_file()


def test_a_template_is_not_put_among_the_scripts_of_another_repository(
    owned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--template", "segmentation", "toy", str(owned)]) == 2
    told = capsys.readouterr().err
    assert "other scripts are here: train.py" in told
    assert "tipc init --model toy" in told
    assert [path.name for path in owned.iterdir()] == ["train.py"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--model", "a/b"],
        ["--model", ""],
        ["--tipc", "--model", "toy", "--data-path", "a:b"],
        ["--tipc", "--model", "toy", "--train", "a.py\nb"],
        ["--tipc", "--model", "toy", "--epochs", " "],
        ["--template", "classification", "--model", "a b"],
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["init", str(tmp_path), *arguments]) == 2
    assert not list(tmp_path.iterdir())
    assert "Traceback" not in capsys.readouterr().err


def test_on_a_terminal_it_asks(owned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "toy" if "name" in prompt and "weights" not in prompt else ""

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", answer)
    assert main(["init", str(owned)]) == 0
    assert len(asked) == 12
    assert (owned / "test_tipc/configs/toy/train_infer_python.txt").is_file()


def test_a_bad_answer_is_refused_at_once_and_asked_for_again(
    owned: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter(["../escape", "toy", "train.py: x", "train.py"])
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return next(answers, "")

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", answer)
    assert main(["init", str(owned)]) == 0
    assert [prompt.split(" [")[0] for prompt in asked[:4]] == [
        "model's name: ",
        "model's name: ",
        "training script, with its fixed options",
        "training script, with its fixed options",
    ]
    told = capsys.readouterr().err
    assert "`../escape` cannot be a model's name here" in told
    assert "'train.py: x' cannot stand in a config" in told
    assert (owned / "test_tipc/configs/toy/train_infer_python.txt").is_file()


@pytest.mark.paddle
@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_a_template_is_certified_as_it_is(task: str, tmp_path: Path) -> None:
    pytest.importorskip("paddle")
    assert main(["init", "--template", task, "toy", str(tmp_path)]) == 0
    environment = {name: value for name, value in os.environ.items() if name != "TIPC_HOME"}
    done = subprocess.run(
        [sys.executable, "-m", "tipc", "run", "test_tipc/configs", "lite_train_lite_infer"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "PASSED on cpu" in done.stdout
    check = subprocess.run(
        [sys.executable, "-m", "tipc", "check"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert "✔ TD808" in check.stdout, check.stdout
