"""tipc as a library: from the source tree, and from a wheel in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import tipc
from tipc import Plan, PlanOptions, Run, UsageError, certify, lint, load_run, plan, run

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "plan"))
from plan_samples import MODELS  # noqa: E402


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIPC_HOME", raising=False)
    path = tmp_path / "repo" / "test_tipc" / "configs" / "toy" / "train_infer_python.txt"
    path.parent.mkdir(parents=True)
    path.write_text(MODELS)
    return path


def test_a_plan_is_made_by_a_function(config: Path) -> None:
    made = plan(config, options=PlanOptions(device="cpu"))
    assert isinstance(made, Plan)
    assert {step.kind for step in made.steps} >= {"train", "export", "infer"}


def test_a_config_is_linted_by_a_function(config: Path) -> None:
    config.write_text("")
    assert [finding.code for finding in lint(config)] == ["TC001"]


def test_a_run_is_made_read_back_and_certified(config: Path) -> None:
    done = run(config, options=PlanOptions(prepare=False), only=["train"])
    assert isinstance(done, Run)
    assert load_run().id == done.id
    verdict = certify(done)
    assert not verdict.passed  # its script does not exist
    assert load_run(done.directory).results == done.results


def test_errors_are_exceptions(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such config file"):
        plan(tmp_path / "none.txt")


def test_the_stages_stay_packages() -> None:
    import tipc.plan.build
    import tipc.run.session as sessions

    assert tipc.plan.build.build_plan
    assert sessions.Request


def test_importing_it_imports_nothing_else() -> None:
    code = "import sys, tipc; print([m for m in sys.modules if m.startswith(('tipc.', 'pydantic', 'rich'))])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        tipc.nonsense  # type: ignore[attr-defined]  # noqa: B018


USE = """
import sys
import auto_log
import tipc
from tipc import PlanOptions, certify, lint, load_run, plan, run

installed, config = sys.argv[1:]
for package in (tipc, auto_log):
    assert package.__file__.startswith(installed), package.__file__
options = PlanOptions(device="cpu", prepare=False)
assert {finding.severity for finding in lint(config)} == {"warning"}
assert plan(config, options=options).steps
done = run(config, options=options, only=["train"])
assert load_run().id == done.id
assert not certify(done).passed  # its script does not exist
"""


@pytest.mark.slow
def test_the_wheel_has_the_tool_its_types_and_the_benchmark_log(tmp_path: Path, config: Path) -> None:
    """Built, installed elsewhere and used from there: what is in the source tree does not count."""
    installed = tmp_path / "installed"
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path / "dist"), str(ROOT)]
    install = [sys.executable, "-m", "pip", "install"]
    if find_spec("pip") is None:  # environments that uv makes have none
        build = ["uv", "build", "-q", "--wheel", "-o", str(tmp_path / "dist"), str(ROOT)]
        install = ["uv", "pip", "install"]
    subprocess.run(build, check=True, timeout=300)
    (wheel,) = (tmp_path / "dist").glob("tipc-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"tipc", "auto_log"}
    assert "tipc/py.typed" in names
    words = [*install, "-q", "--no-deps", "--no-index", "--target", str(installed), str(wheel)]
    subprocess.run(words, check=True, timeout=300)
    env = {**os.environ, "PYTHONPATH": str(installed)}
    for command in ("tipc", "paddle-tipc"):
        told = subprocess.run(
            [installed / "bin" / command, "--version"], env=env, capture_output=True, text=True, check=True
        )
        assert tipc.__version__ in told.stdout
    words = [sys.executable, "-c", USE, str(installed), str(config)]
    told = subprocess.run(words, env=env, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr


@pytest.mark.slow
def test_the_types_of_the_library_are_known_to_a_type_checker(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(
        "from tipc import Verdict, certify, load_run, plan\n"
        "steps = plan('x.txt').steps\n"
        "verdict: Verdict = certify(load_run())\n"
        "wrong: int = verdict\n"
    )
    words = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(tmp_path / "use.py")]
    env = {"MYPYPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"}
    told = subprocess.run(words, capture_output=True, text=True, env=env, cwd=tmp_path)
    problems = [line for line in told.stdout.splitlines() if "use.py" in line]
    assert len(problems) == 1, told.stdout
    assert 'expression has type "Verdict"' in problems[0]
