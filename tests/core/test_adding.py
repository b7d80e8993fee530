"""A device, a dialect, a chain, a check, an engine and so on, each added from outside by one or two files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "plan"))
from plan_samples import MODELS  # noqa: E402
from toy_chain import TABLE  # noqa: E402

PLUGIN = (
    TABLE
    + """
from pathlib import Path

import toy_engine
from tipc.certify.registry import check, failed, passed
from tipc.config.dialects import load
from tipc.config.rules import OwnChain
from tipc.hooks import hookimpl
from tipc.kinds import Chain, Device, Precision
from tipc.report.reporters import Reporter
from tipc.run.executors.local import LocalExecutor
from tipc.run.executors.executor_kinds import ExecutorKind


@hookimpl
def tipc_devices():
    return [Device("abc", "ABC")]


@hookimpl
def tipc_precisions():
    return [Precision("fp8", noise=0.3, decisions=0.8)]


@hookimpl
def tipc_dialects():
    return [load("models")._replace(name="toyish", title="Toy")]


@hookimpl
def tipc_chains():
    # Its export leaves one file of its own format.
    table = chain("models", "Toy", LINES, WHOLE, RUN, model_files=(("*.toy",),))
    return [OwnChain(Chain("toy", "a chain of toys", headers=("toy_params",)), (table,))]


@check("HR001", "There is a licence", scope="repo", reads="LICENSE", remedy="add one")
def licence(scene):
    "The house wants one, so that everybody knows what may be done with a model of ours."
    yield passed("it is there") if (scene.repo / "LICENSE").is_file() else failed("there is none")


@hookimpl
def tipc_checks():
    return [licence]


@hookimpl
def tipc_engines():
    return [toy_engine]


class Counting(LocalExecutor):
    name = "counting"

    def start(self, task):
        with open("started", "a") as file:
            file.write(task.name + "\\n")
        return super().start(task)


@hookimpl
def tipc_executors():
    return [ExecutorKind("counting", "counts", Counting, lambda executor: 1)]


@hookimpl
def tipc_reporters():
    return [Reporter("short", "one word", lambda views: views[-1].state.upper() + "\\n")]
"""
)
ROW = """\
        Chain(
            "game", "a chain of games", headers=("toy_params",), tables="game", families=("models",)
        ),
"""
# The same table as a file of ``tipc.config.dialects``.
GAME = TABLE + 'MODELS = chain("models", "Game", LINES, WHOLE, RUN)\n'
ENGINE = """
NAME = "toy engine"
PRECISION = "fp8"


def applies(legacy, quantised, used):
    return True


def configure(config):
    config.disable_gpu()
"""


CONFIG = "test_tipc/configs/toy/train_infer_python.txt"
TOY_CONFIG = "test_tipc/configs/toy/toy_infer_python.txt"
TOY = """\
===========================toy_params===========================
model_name:toy
python:python3
pack:pack.py
inference:infer.py
--device:cpu
--model_dir:out/toy
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with a plug-in, as pip would have installed it, and a repository."""
    site = tmp_path / "site"
    info = site / "house_rules-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tipc]\nhouse = house_rules\n")
    (site / "house_rules.py").write_text(PLUGIN)
    (site / "toy_engine.py").write_text(ENGINE)
    config = tmp_path / "repo" / "test_tipc" / "configs" / "toy" / "train_infer_python.txt"
    config.parent.mkdir(parents=True)
    config.write_text(MODELS)
    toy = config.with_name("toy_infer_python.txt")
    toy.write_text(TOY)
    return tmp_path


def tipc(outside: Path, *words: str, code: int = 0) -> str:
    env = {**os.environ, "PYTHONPATH": str(outside / "site")}
    env.pop("TIPC_HOME", None)
    done = subprocess.run(
        [sys.executable, "-m", "tipc", *words],
        cwd=outside / "repo",
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_device(outside: Path) -> None:
    assert "abc" in tipc(outside, "plan", CONFIG, "--device", "abc")


def test_a_device_is_known_to_lint(outside: Path) -> None:
    config = outside / "repo" / CONFIG
    assert "--use-gpu:True|False" in MODELS
    for word, known in (("abc", True), ("abd", False)):
        config.write_text(MODELS.replace("--use-gpu:True|False", f"--use-gpu:False|{word}"))
        assert ("TC090" not in tipc(outside, "lint", CONFIG, code=1)) is known


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('Device("abc", "ABC")', 'Device("npu", "ABC")', ("plan", CONFIG, "--device", "abc")),
        ('name="toyish"', 'name="seg"', ("plan", CONFIG, "--dialect", "toyish")),
        ('Chain("toy"', 'Chain("ptq"', ("plan", TOY_CONFIG)),
        ('"HR001"', '"TP301"', ("checks",)),
        ('"counting", "counts"', '"local", "counts"', ("run", CONFIG, "--executor", "counting")),
        ('"short", "one word"', '"junit", "one word"', ("report", "--format", "short")),
    ],
)
def test_a_name_that_is_taken_is_one_message(
    outside: Path, old: str, new: str, words: tuple[str, ...]
) -> None:
    plugin = outside / "site" / "house_rules.py"
    assert old in PLUGIN
    plugin.write_text(PLUGIN.replace(old, new))
    told = tipc(outside, *words, code=3)
    assert "a name that is taken" in told
    assert "Traceback" not in told


def test_a_dialect(outside: Path) -> None:
    assert "toyish" in tipc(outside, "plan", CONFIG, "--dialect", "toyish", "--json")
    assert "toyish" in tipc(outside, "plan", CONFIG, "--dialect", "toyishh", code=2)


def planned(outside: Path) -> dict[str, Any]:
    plan: dict[str, Any] = json.loads(tipc(outside, "plan", TOY_CONFIG, "--json"))
    return plan


def test_a_chain(outside: Path) -> None:
    plan = planned(outside)
    assert (plan["chain"], plan["mode"]) == ("toy", "toy_infer")
    assert [step["kind"] for step in plan["steps"]] == ["export", "infer"]
    assert plan["steps"][1]["argv"][1:] == ["infer.py", "--device=cpu", "--model_dir=out/toy"]
    assert plan["steps"][1]["needs"] == [plan["steps"][0]["id"]]
    assert "a chain of toys" in tipc(outside, "plan", TOY_CONFIG, "-v")
    everything = tipc(outside, "plan", "test_tipc/configs", "--json", code=0)
    assert [json.loads(line)["chain"] for line in everything.splitlines()] == ["toy", "train"]


def test_a_chain_in_the_tree_is_a_row_and_a_file(outside: Path) -> None:
    """With neither a script nor ``--dialect`` its files are known by the lines that its table expects."""
    tree = outside / "tree" / "tipc"
    shutil.copytree(ROOT / "src" / "tipc", tree, ignore=shutil.ignore_patterns("__pycache__"))
    kinds = tree / "kinds.py"
    before = "        Chain(JS_CHAIN,"
    assert before in kinds.read_text()
    kinds.write_text(kinds.read_text().replace(before, ROW + before))
    (tree / "config" / "dialects" / "game.py").write_text(GAME)
    command = [sys.executable, "-m", "tipc", "plan", TOY_CONFIG, "--json"]
    env = {**os.environ, "PYTHONPATH": str(outside / "tree")}
    done = subprocess.run(command, cwd=outside / "repo", env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert (plan["chain"], plan["dialect"]) == ("game", "models")
    assert [step["kind"] for step in plan["steps"]] == ["export", "infer"]


def test_a_format_of_exported_files(outside: Path) -> None:
    assert planned(outside)["steps"][0]["produces"] == ["out/toy/*.toy"]


def test_a_check(outside: Path) -> None:
    assert "HR001" in tipc(outside, "checks")
    assert "there is none" in tipc(outside, "check", code=1)


def test_an_engine_that_is_taken_or_incomplete_is_one_message(outside: Path) -> None:
    code = "from tipc.certify.engines import all_engines\nall_engines()"
    env = {**os.environ, "PYTHONPATH": str(outside / "site")}
    engine = outside / "site" / "toy_engine.py"
    wrong = {
        "has `onednn`, a name that is taken": ENGINE.replace("toy engine", "onednn"),
        "has an engine without applies": ENGINE.replace("def applies", "def applied"),
        "`fp7`, which is no precision": ENGINE.replace("fp8", "fp7"),
    }
    for message, text in wrong.items():
        engine.write_text(text)
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        assert "EnvironmentProblem" in done.stderr
        assert message in done.stderr


def test_an_engine_and_its_precision(outside: Path) -> None:
    code = "from tipc.certify.engines import Model, engines_for\nmodel = Model(True, False, frozenset())\n"
    code += "print([(engine.name, engine.precision) for engine in engines_for(model)])"
    env = {**os.environ, "PYTHONPATH": str(outside / "site")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert "('toy engine', 'fp8')" in done.stdout


def test_an_executor_and_a_form_of_report(outside: Path) -> None:
    words = ("--executor", "counting", "--only", "train", "--no-checks", "--no-prepare", "--cold")
    tipc(outside, "run", CONFIG, *words, code=1)  # the script is not there; it was started all the same
    assert "train" in (outside / "repo" / "started").read_text()
    assert tipc(outside, "report", "--format", "short").startswith("FAILED")
    assert "did you mean `counting`" in tipc(outside, "run", CONFIG, "--executor", "counting1", code=2)
