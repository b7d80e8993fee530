"""Servers that were started before packages were installed are not used after it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from execution_bench import Bench, warmed
from test_execution_warm import FAKE_PADDLE

from tipc.run.executors.local import LocalExecutor
from tipc.run.guest.installed import folders, installed_in


def test_what_is_installed_is_told_by_the_metadata_of_packages(tmp_path: Path) -> None:
    place = str(tmp_path)
    before = installed_in([place])
    (tmp_path / "module.py").write_text("")
    (tmp_path / "__pycache__").mkdir()
    assert installed_in([place]) == before == {place: []}
    (tmp_path / "package-1.0.dist-info").mkdir()
    one = installed_in([place])
    (tmp_path / "package-1.0.dist-info").rename(tmp_path / "package-1.1.dist-info")
    other = installed_in([place])
    (tmp_path / "editable.pth").write_text("/somewhere")
    both = installed_in([place])
    os.utime(tmp_path / "editable.pth", ns=(1, 1))
    assert len({str(state) for state in (before, one, other, both, installed_in([place]))}) == 5


def test_a_folder_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    assert installed_in([gone]) == {gone: []}


def test_this_interpreters_own_folders_are_found() -> None:
    assert any(Path(pytest.__file__).is_relative_to(place) for place in folders())


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Bench]:
    """A bench with a package called paddle in a folder of packages."""
    bench = Bench(tmp_path)
    bench.script(FAKE_PADDLE.replace("nn, ", ""), "site-packages/paddle/__init__.py")
    bench.script(
        "def is_compiled_with_cuda(): return False\n"
        "def is_compiled_with_xpu(): return False\n"
        "def get_all_custom_device_type(): return []\n",
        "site-packages/paddle/device.py",
    )
    bench.script("", "site-packages/decoy.py")
    bench.env["PYTHONPATH"] = str(tmp_path / "site-packages")
    bench.env.pop("PYTHONUNBUFFERED", None)
    yield bench
    assert bench.eventually(lambda: not bench.alive())


def test_after_an_installation_another_server_takes_the_place(stage: Bench) -> None:
    stage.script("import paddle\nprint(paddle.__version__)\n", "step.py")
    executor = warmed(stage)
    try:
        task = stage.task(sys.executable, "step.py", warm=True)
        assert stage.run(executor, task).warm
        [first] = executor.warmth.servers
        assert not first.is_outdated
        paddle = stage.directory / "site-packages/paddle/__init__.py"
        paddle.write_text(paddle.read_text().replace("'fake'", "'installed since'"))
        (stage.directory / "site-packages/paddle-2.dist-info").mkdir()
        assert first.is_outdated
        outcome = stage.run(executor, task)
        assert (outcome.warm, stage.log()) == (True, b"paddle prints this\ninstalled since\n")
        assert first not in executor.warmth.servers
    finally:
        executor.close()


def test_an_interpreter_that_had_no_paddle_is_tried_again_when_it_was_installed(stage: Bench) -> None:
    package, hidden = stage.directory / "site-packages/paddle", stage.directory / "not yet"
    package.rename(hidden)
    (stage.directory / "site-packages/paddle.py").write_text("raise ImportError('half installed')")
    stage.script("import paddle\nprint(paddle.__version__)\n", "step.py")
    executor = LocalExecutor(grace=0.5)
    try:
        task = stage.task(sys.executable, "step.py", warm=True)
        assert stage.run(executor, task).exit_code == 1
        assert list(executor.warmth.problems.values()) == ["ImportError: half installed"]
        (stage.directory / "site-packages/paddle.py").unlink()
        hidden.rename(package)
        (stage.directory / "site-packages/paddle-2.dist-info").mkdir()
        outcome = stage.run(executor, task)
        assert (outcome.exit_code, outcome.warm) == (0, True)
        assert executor.warmth.problems == {}
    finally:
        executor.close()
