"""Which interpreter runs for the one that a config names, and why the plan says it was taken."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tipc.plan.plan_text import plan_notes
from tipc.plan.target import interpreter
from tipc.plan.target.interpreter import resolve


@pytest.fixture(autouse=True)
def bare(monkeypatch) -> None:
    """No active environment, nothing on PATH, no paddle beside tipc."""
    for name in interpreter.ENVIRONMENTS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(interpreter, "has_paddle_beside", lambda: False)


def program(folder: Path, name: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_option_outdoes_everything(monkeypatch, tmp_path: Path) -> None:
    program(tmp_path / "bin", "python")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    found = resolve("python3.7", "/opt/python")
    assert (found.program, found.reason.code) == ("/opt/python", "python-option")


def test_a_path_that_is_given_is_as_seen_from_where_the_call_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert resolve("python", "env/bin/python").program == str(tmp_path / "env/bin/python")
    assert resolve("python", "python3.12").program == "python3.12"  # a name, to be found on PATH


@pytest.mark.parametrize("variable", interpreter.ENVIRONMENTS)
def test_the_active_environment_comes_before_the_name_on_path(monkeypatch, tmp_path: Path, variable) -> None:
    program(tmp_path / "path", "python3.7")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    active = program(tmp_path / "active" / "bin", "python")
    monkeypatch.setenv(variable, str(tmp_path / "active"))
    found = resolve("python3.7")
    assert (found.program, found.reason["variable"]) == (active, variable)


def test_an_environment_that_has_the_name_itself_runs_that(monkeypatch, tmp_path: Path) -> None:
    program(tmp_path / "bin", "python")
    named = program(tmp_path / "bin", "python3.7")
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path))
    assert resolve("python3.7").program == named


def test_the_name_on_path_comes_before_the_interpreter_of_a_tool(monkeypatch, tmp_path: Path) -> None:
    there = program(tmp_path, "python3.7")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert resolve("python3.7").program == there
    assert resolve("python3.7").reason.code == "python-on-path"


def test_a_tool_without_paddle_runs_the_python_of_the_machine(monkeypatch, tmp_path: Path) -> None:
    there = program(tmp_path, "python3")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = resolve("python3.7")
    assert (found.program, found.reason.code) == (there, "python-usual")


def test_tipcs_own_interpreter_comes_last_also_where_it_has_paddle(monkeypatch, tmp_path: Path) -> None:
    """Python 3 of the machine is on PATH, under another name than the config's."""
    monkeypatch.setattr(interpreter, "has_paddle_beside", lambda: True)
    there = program(tmp_path, "python3")
    monkeypatch.setenv("PATH", str(tmp_path))
    named, absent = resolve("python3"), resolve("python3.7")
    assert (named.program, named.reason.code) == (there, "python-on-path")
    assert (absent.program, absent.reason.code) == (sys.executable, "python-of-tipc")


def test_a_path_in_the_config_is_taken_as_it_is(monkeypatch, tmp_path: Path) -> None:
    named = program(tmp_path, "python")
    monkeypatch.setenv("VIRTUAL_ENV", os.path.dirname(os.path.dirname(sys.executable)))
    assert resolve(named).program == named


def test_without_any_the_interpreter_of_tipc_runs_and_the_plan_says_so(plan) -> None:
    made = plan("models", {3: "python:python3.7"})
    assert {step.argv[0] for step in made.steps} == {sys.executable}
    assert made.interpreter.reason.code == "python-of-tipc"
    assert any(note.startswith(f"python3.7 → {sys.executable}: that name") for note in plan_notes(made))


def test_words_before_the_interpreter_do_not_hide_it(plan) -> None:
    made = plan("models", {3: "python:FLAGS_x=1 python3.7 -u"})
    assert made.steps[0].argv[:2] == (sys.executable, "-u")
    assert made.steps[0].env["FLAGS_x"] == "1"


def test_a_plan_as_upstream_keeps_the_name(upstream) -> None:
    made = upstream("models", {3: "python:python3.7"})
    assert {step.argv[0] for step in made.steps} == {"python3.7"}
    assert made.interpreter is None
