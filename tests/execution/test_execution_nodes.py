"""A node that does not see the repository is shut out; the steps of one that dies go to others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tipc.run.executors.executor import Task
from tipc.run.executors.ray_cluster import landmarks

SCRIPT = Path(__file__).with_name("ray_nodes.py")


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_the_failure_of_a_node_is_not_that_of_its_step(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    allowed = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", str(tmp_path)], capture_output=True, check=False
    )
    if allowed.returncode:
        pytest.skip("nothing can be mounted here, so no node can be made blind")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)], capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads((tmp_path / "told.json").read_text())
    assert [(one["exit_code"], one["error"]) for one in told["blind"] + told["lost"]] == [(0, "")] * 5
    (name,) = told["shut_out"]
    notes = [note for one in told["blind"] for note in one["notes"]]
    assert notes
    script = tmp_path / "repo/train.py"
    assert set(notes) == {f"the node {name} does not see {script} and is not used any more"}
    first, second = (one["notes"] for one in told["lost"])
    assert [note.partition(" (")[0] for note in first] == [f"the node {name.partition(' (')[0]}"]
    assert first[0].endswith("was lost; the step starts again on another")
    assert second == []
    for log in ("seen0", "seen1", "seen2", "lost0", "lost1"):
        assert (tmp_path / f"logs/{log}.log").read_text() == "begun\ndone\n"


def test_what_a_node_must_see_is_the_directory_and_the_files_that_the_command_names(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    (tmp_path / "data").mkdir()
    argv = ("/nowhere/python", "train.py", "--data=data", "data", "", "later.txt")
    task = Task("step", argv, tmp_path, {}, tmp_path / "log", None)
    assert landmarks(task) == (str(tmp_path), str(tmp_path / "train.py"))
