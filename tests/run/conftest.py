"""Fixtures of the run core: an empty repository, and something that runs plans in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_plans import Runner


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An empty model repository with a config file."""
    root = tmp_path / "repo"
    root.mkdir()
    (root / "config.txt").write_text("one\n")
    return root


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Runs plans."""
    return Runner(tmp_path / "home")
