"""A repository full of traps: looking at it runs none of its code, however tipc is started.

The traps are modules that Python would import if the repository were on its path, settings of other tools
that run programs, and programs that a PATH with relative places would find.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tipc.cli.main import COMMANDS

BIN = Path(sys.executable).parent
CONFIG = "test_tipc/configs/toy/train_infer_python.txt"
OWN = "test_tipc/configs/own/train_infer_python.txt"
STRANGE = "test_tipc/configs/strange/own_python.txt"
PACKAGES = """
    numpy paddle paddlezoo pydantic pluggy rich jinja2 psutil pytest ray yaml tipc_plugin tomli nvidia pynvml
"""
PROGRAMS = """
    python python3 python3.7 git bash sh nvidia-smi uv pip tar unzip setpriv uname
"""
TEXT = """\
===========================train_params===========================
model_name:toy
python:python3
gpu_list:-1
--use-gpu:False
--epochs:lite_train_lite_infer=1|whole_train_whole_infer=2
--output-dir:./output/
--batch-size:lite_train_lite_infer=4|whole_train_whole_infer=8
--pretrained:null
train_model_name:latest.pdparams
--data-path:./lite_data
##
trainer:norm_train
norm_train:tools/step.py
##
===========================eval_params===========================
eval:tools/step.py --test-only
##
===========================infer_params===========================
--save-inference-dir:./output/infer/
--pretrained:
norm_export:tools/step.py
##
train_model:./output/latest.pdparams
infer_export:tools/step.py
##
inference:tools/step.py
--use-gpu:False
--batch-size:1
--model-dir:./output/infer/
--img-path:./demo.jpg
--benchmark:False
"""
# What the steps run; it stands below tools/, so that Python does not put the traps on its path.
STEP = """\
import os, sys
given = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
for option, names in {
    "output-dir": ["latest.pdparams"], "save-inference-dir": ["inference.pdmodel", "inference.pdiparams"],
}.items():
    for name in names:
        if option in given:
            os.makedirs(given[option], exist_ok=True)
            open(os.path.join(given[option], name), "w").close()
"""
LAUNCHERS = {
    "tipc": [str(BIN / "tipc")],
    "paddle-tipc": [str(BIN / "paddle-tipc")],
    "python -m tipc": [sys.executable, "-m", "tipc"],
    "python -P -m tipc": [sys.executable, "-P", "-m", "tipc"],
}
OURS = ["--dialect", "models", "--python", sys.executable]
# For each command a call that does something here. What a run runs is trusted; that it needs no module and
# no program of the repository for itself is tried all the same.
CALLS = {
    "init": ["init", "new", "--model", "other"],
    "lint": ["lint", "test_tipc/configs"],
    "plan": ["plan", "--dialect", "models", CONFIG],
    "fixes": ["fixes"],
    "prepare": ["prepare", *OURS, CONFIG],
    "run": ["run", "--cold", "--no-checks", *OURS, CONFIG],
    "certify": ["certify"],
    "check": ["check"],
    "align": ["align", "trap.npz", "trap.npz"],
    "checks": ["checks"],
    "schema": ["schema", "plan"],
    "completion": ["completion", "bash"],
    "explain": ["explain", "TC001"],
    "report": ["report"],
    "docs": ["docs"],
    "history": ["history"],
    "compare": ["compare"],
    "trend": ["trend", "wall_s"],
    "env": ["env"],
    "settings": ["settings"],
}
MORE = {
    "plan a strange script": ["plan", STRANGE, "--trace"],
    "plan a strange script, and say why": ["plan", "-v", STRANGE, "--trace"],
    "verify": ["plan", "--verify", CONFIG],
    "plan as JSON": ["plan", "--json", "test_tipc/configs"],
    "report as HTML": ["report", "--html", "report.html"],
    "fix": ["lint", "--fix", CONFIG],
    "env of a config": ["env", "--python", sys.executable, CONFIG],
    "env of a config with a program of its own": ["env", OWN],
    "report in every form": ["report", "--junit", "a.xml", "--json", "a.json", "--markdown", "a.md"],
}


def names_before_tipc() -> set[str]:
    """What Python has imported, from wherever, before it reaches a module that ``-m`` names."""
    loaded = "import sys, runpy, pkgutil, importlib.util; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True, cwd="/")
    return {name.split(".")[0] for name in done.stdout.split()} | {"tipc", "runpy"}


def spring(mark: Path, name: str) -> str:
    """A module that says that it was imported."""
    return (
        f"import sys\nwith open({str(mark)!r}, 'a') as m: m.write({name!r} + ' ' + repr(sys.argv) + '\\n')\n"
    )


def set_traps(root: Path, mark: Path, without: set[str]) -> None:
    """Write every trap but those modules."""
    modules = {
        *sys.stdlib_module_names,
        *PACKAGES.split(),
        "tipc",
        "auto_log",
        "sitecustomize",
        "usercustomize",
    }
    for name in sorted(modules - without):
        (root / f"{name}.py").write_text(spring(mark, name), encoding="utf-8")
    for path in ("conftest.py", "setup.py", "test_tipc/conftest.py", "test_tipc/parity.py", "noxfile.py"):
        (root / path).write_text(spring(mark, path), encoding="utf-8")
    (root / "evil.pth").write_text(f"import os; os.system('echo pth >>{mark}')\n", encoding="utf-8")
    info = root / "evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[tipc]\nevil = tipc_plugin\n", encoding="utf-8")
    (root / "pyproject.toml").write_text(
        '[project]\nname = "evil"\nversion = "1"\n[project.entry-points.tipc]\nevil = "tipc_plugin"\n'
        '[tool.pytest.ini_options]\naddopts = "-p tipc_plugin"\n[tool.tipc]\npython = "bin/python3"\n',
        encoding="utf-8",
    )
    (root / "bin").mkdir()
    for program in PROGRAMS.split():
        for path in (root / "bin" / program, root / program):
            path.write_text(f'#!/bin/sh\necho "$0 $*" >>{mark}\nexit 1\n', encoding="utf-8")
            path.chmod(0o755)
    np.savez(root / "trap.npz", array=np.array([Sprung(str(mark))], dtype=object))
    if shutil.which("git"):
        subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
        with (root / ".git" / "config").open("a", encoding="utf-8") as settings:
            settings.write(f"[core]\n\tfsmonitor = {root}/bin/git\n\tpager = {root}/bin/git\n")


class Sprung:
    """Says that it was unpickled."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.system, (f"echo unpickled >>{self.mark}",)


def write_repository(root: Path, mark: Path, without: set[str]) -> None:
    """Two configs, one of a known layout and one of a script of its own, among the traps."""
    for path, text in {
        CONFIG: TEXT,
        OWN: TEXT.replace("python:python3", "python:./bin/python3"),
        STRANGE: "name:strange\ntrain:tools/step.py\n",
        "test_tipc/strange.sh": f"echo escaped >>{mark}\npython3 tools/step.py --output-dir=out\n",
        "test_tipc/prepare.sh": "true\n",
        "tools/step.py": STEP,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    set_traps(root, mark, without)


class Trapped:
    """A repository with traps, a run in it, and a way to start tipc there."""

    def __init__(self, folder: Path, launcher: str) -> None:
        self.root, self.mark = folder / "repo", folder / "mark"
        self.words = LAUNCHERS[launcher]
        without = names_before_tipc() if launcher == "python -m tipc" else set()
        write_repository(self.root, self.mark, without)
        (self.root / "new").mkdir()
        self.home = folder / "home"
        self.home.mkdir()

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Start tipc in the repository, with a PATH and settings that lead into it."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "TIPC_", "COV"))
        }
        environment["PATH"] = f"bin::.:{environment['PATH']}"
        environment["HOME"] = environment["XDG_CACHE_HOME"] = str(self.home)
        return subprocess.run(
            [*self.words, *words],
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )

    def sprung(self) -> list[str]:
        """What the traps say that were sprung."""
        return self.mark.read_text(encoding="utf-8").splitlines() if self.mark.exists() else []


@pytest.fixture(scope="module", params=list(LAUNCHERS))
def trapped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trapped]:
    if request.param == "python -P -m tipc" and sys.version_info < (3, 11):
        pytest.skip("this Python has no -P")
    if not Path(LAUNCHERS[request.param][0]).exists():
        pytest.skip(f"{request.param} is not installed here")
    made = Trapped(tmp_path_factory.mktemp("trapped").resolve(), request.param)
    for _ in range(2):  # to compare
        done = made.call(*CALLS["run"])
        assert done.returncode == 0, done.stderr
    assert made.sprung() == []
    return made


def test_every_command_is_tried() -> None:
    assert set(CALLS) == set(COMMANDS)


@pytest.mark.parametrize("command", [*CALLS, *MORE])
def test_no_trap_is_sprung(trapped: Trapped, command: str) -> None:
    trapped.mark.unlink(missing_ok=True)
    done = trapped.call(*{**CALLS, **MORE}[command])
    sprung = trapped.sprung()
    if command == "certify":  # which trusts what a run trusts: the repository's own comparison is run
        sprung = [line for line in sprung if not line.startswith("test_tipc/parity.py ")]
    assert sprung == [], done.stderr
    assert "crash" not in done.stderr
    refused = {"align": 2}.get(command, 1)  # its recordings are a trap themselves
    if command.startswith("env of"):
        refused = 3  # it lacks what the config needs, or may not be asked
    assert done.returncode in (0, refused), f"the call does nothing here: {done.stderr}"


def test_the_traps_work(tmp_path: Path) -> None:
    """Otherwise the tests above would show nothing."""
    root, mark = tmp_path / "repo", tmp_path / "mark"
    write_repository(root, mark, {*sys.stdlib_module_names} - {"json"})
    environment = {**os.environ, "PATH": f"bin:{os.environ['PATH']}"}
    code = "import json, sitecustomize, rich, subprocess; subprocess.run(['git', 'status'])"
    subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, check=False)
    told = mark.read_text(encoding="utf-8")
    assert all(name in told for name in ("json", "sitecustomize", "rich", "bin/git"))
