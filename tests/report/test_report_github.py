"""Annotations at the config's line, and the action whose steps are run as GitHub runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from fabric import Recipe, fabricate

from tipc.report.finish import finish
from tipc.report.github import MOST, _data, _property, error_lines
from tipc.report.view import view_of

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def test_a_failed_step_is_annotated_at_its_line(tmp_path: Path) -> None:
    view = view_of(*fabricate(tmp_path, Recipe(states={"train": "failed"})))
    lines = error_lines(view)
    assert lines
    assert all(line.startswith(("::error file=", "::warning file=")) for line in lines)
    assert any("train failed" in line for line in lines)


def test_a_run_without_failures_has_no_errors(tmp_path: Path) -> None:
    view = view_of(*fabricate(tmp_path, Recipe()))
    assert not [line for line in error_lines(view) if line.startswith("::error")]


def test_one_cause_is_told_once_and_never_too_many(tmp_path: Path) -> None:
    view = view_of(
        *fabricate(tmp_path, Recipe(models=[f"m{n}" for n in range(30)], states={"infer": "failed"}))
    )
    assert 0 < len(error_lines(view)) <= MOST


def test_line_ends_and_separators_are_escaped() -> None:
    assert _data("a%b\nc") == "a%25b%0Ac"
    assert _property("a:b,c") == "a%3Ab%2Cc"


def test_they_are_written_only_on_github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from io import StringIO

    monkeypatch.setenv("TIPC_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    run, verdict = fabricate(tmp_path, Recipe(states={"train": "failed"}))
    quiet, loud = StringIO(), StringIO()
    finish(run, verdict, quiet)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    finish(run, verdict, loud)
    assert "::error" not in quiet.getvalue()
    assert "::error" in loud.getvalue()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose training fails, below the checkout of a job."""
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "run"))
    import toy_repo

    repo = tmp_path / "checkout" / "models" / "toy"
    repo.mkdir(parents=True)
    toy_repo.make(repo)
    return repo


def step_of_the_action(name: str, repo: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """One step as GitHub runs it: its inputs put in, its script in a bash."""
    step = next(step for step in ACTION["runs"]["steps"] if step["name"] == name)
    values = {key: str(value["default"]) for key, value in ACTION["inputs"].items()}
    given = {
        key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: values[found[1]], text)
        for key, text in step["env"].items()
    }
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("TIPC", "GITHUB"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=repo,
        env={**plain, "PATH": path, **given, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_steps_of_the_action_work_as_they_are_written(repository: Path, tmp_path: Path) -> None:
    (repository / "behave").write_text("fail")
    summary = tmp_path / "summary.md"
    github = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(tmp_path / "checkout"),
        "GITHUB_STEP_SUMMARY": str(summary),
        "ARGUMENTS": "--cold --no-checks",
    }
    ran = step_of_the_action("run", repository, **github)
    assert ran.returncode == 1, ran.stderr
    config = "models/toy/test_tipc/configs/toy/train_infer_python.txt"
    assert f"::error file={config},line=14,title=tipc%3A norm_train-cpu/train failed::" in ran.stdout
    told = summary.read_text(encoding="utf-8")
    assert "✘ tipc: FAILED" in told
    assert "toy · norm_train-cpu/train" in told, "the step that failed"
    assert "exit 3" in told, "and why"

    reported = step_of_the_action("report", repository, REPORT=str(tmp_path / "out"))
    assert reported.returncode == 0, reported.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "junit.xml",
        "report.html",
        "report.json",
    ]


@pytest.mark.slow
def test_the_action_installs_itself(tmp_path: Path) -> None:
    """In an environment of its own; it needs an index of packages for the build."""
    place = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = step_of_the_action("install", tmp_path, ACTION=str(ROOT), PATH=path)
    if "No matching distribution" in done.stderr:
        pytest.skip("no index of packages can be reached")
    assert done.returncode == 0, done.stderr
    told = subprocess.run([str(place / "bin" / "paddle-tipc"), "--version"], capture_output=True, text=True)
    assert told.stdout.startswith("tipc ")


def test_jobs_of_a_matrix_upload_under_names_of_their_own() -> None:
    upload = next(step for step in ACTION["runs"]["steps"] if step["name"] == "upload")
    assert upload["if"] == "always()"
    assert upload["with"]["name"] == "${{ inputs.name }}"
    example = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert "name: tipc-report-${{ strategy.job-index }}" in example


def test_every_input_of_the_action_is_used() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    for name in ACTION["inputs"]:
        assert f"inputs.{name} " in text, name
