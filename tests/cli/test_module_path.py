"""Modules of the repository that PYTHONPATH names are for its scripts, not for ``tipc``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tipc.cli.main import is_here

LEAVES = "import atexit, os\natexit.register(lambda: os._exit(0))\n"
TELLS = "import os\nprint('PYTHONPATH is', os.environ.get('PYTHONPATH'))\n"


def call(folder: Path, path: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tipc", *words], cwd=folder, env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("path", [".", "", "{here}", "/elsewhere:.", "lib:/elsewhere"])
def test_a_sitecustomize_of_the_repository_does_not_decide_the_exit_code(path: str, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "lib"):
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(LEAVES)
        (folder / "rich.py").write_text("raise SystemExit(0)\n")
    assert call(tmp_path, path.format(here=tmp_path), "no-such-command").returncode == 2


def test_it_starts_anew_only_where_something_of_the_repository_is_loaded(tmp_path: Path) -> None:
    site, repo = tmp_path / "site", tmp_path / "repo"
    for folder in (site, repo):
        folder.mkdir()
    (site / "sitecustomize.py").write_text(TELLS)
    assert call(repo, f"{site}:.", "--version").stdout.startswith(f"PYTHONPATH is {site}:.\n")
    (repo / "sitecustomize.py").write_text("print('of the repository')\n")
    lines = call(repo, f".:{site}", "--version").stdout.splitlines()
    assert lines[:2] == ["of the repository", f"PYTHONPATH is {site}"]
    assert call(repo, str(site), "--version").stdout.count("PYTHONPATH is") == 1


def test_a_package_of_the_repository_is_not_imported_and_its_steps_get_the_whole_path(tmp_path: Path) -> None:
    (tmp_path / "rich").mkdir()
    (tmp_path / "rich/__init__.py").write_text("raise SystemExit(0)\n")
    text = (
        "import os, tipc.cli.main as main; main.without_modules_of_the_repository();"
        "import rich; print(rich.__file__, os.environ['PYTHONPATH'])"
    )
    script = tmp_path / "elsewhere" / "script.py"
    script.parent.mkdir()
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env={**os.environ, "PYTHONPATH": "."},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.endswith(" .\n")
    assert str(tmp_path) not in done.stdout


def test_the_current_directory_and_what_is_in_it_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_here("")
    assert is_here("lib/python")
    assert is_here(str(tmp_path))
    assert not is_here(str(tmp_path.parent))
    assert not is_here(f"{tmp_path}-other")
