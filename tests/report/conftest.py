"""A home directory of its own for every test: no test sees the runs of another, or of the developer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tipc import language


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test chooses with --lang is not the language of the next."""
    monkeypatch.setattr(language, "_chosen", "en")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIPC_HOME", str(tmp_path))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path
