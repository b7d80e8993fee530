"""Which run of a config ``tipc check`` judges by."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_repo

from tipc.certify.repository import newest_runs
from tipc.cli.main import main


@pytest.fixture
def config(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIPC_HOME", raising=False)
    return toy_repo.make(repo)


def run(config: Path, *words: str) -> int:
    return main(["run", "--cold", "--no-checks", str(config), *words])


def test_a_run_of_a_part_takes_nothing_back_and_a_whole_run_that_fails_does(config: Path) -> None:
    repo = config.parents[3]
    name = str(config.relative_to(repo))
    assert run(config, "--only", "train") == 0
    part = newest_runs(repo, {name})[name]
    assert part.left_out, "there is no other"
    assert run(config) == 0
    whole = newest_runs(repo, {name})[name]
    assert not whole.left_out
    assert run(config, "--only", "train") == 0
    assert newest_runs(repo, {name})[name].id == whole.id
    (repo / "behave").write_text("fail")
    assert run(config) == 1
    assert newest_runs(repo, {name})[name].id not in (part.id, whole.id)
