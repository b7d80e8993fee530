"""``tipc report`` on stored runs: every form, several runs together, JSON with a schema."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path

import pytest
from fabric import Recipe, fabricate, stored

from tipc.cli.main import main
from tipc.report.as_json import SCHEMA


@pytest.fixture
def two_runs(home: Path) -> Path:
    stored(*fabricate(home, Recipe(name="first")))
    stored(*fabricate(home, Recipe(name="second", seed=1, started=1_794_773_800.0, precisions=("amp",))))
    return home


def test_without_an_option_the_newest_run_is_shown(
    two_runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report"]) == 0
    text = capsys.readouterr().out
    assert "amp_train O2" in text
    assert "PASSED on cpu" in text
    assert main(["report", "first"]) == 0
    assert "norm_train" in capsys.readouterr().out


def test_every_form_is_written_where_it_is_wanted(two_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {form: two_runs / "out" / f"x.{form}" for form in ("html", "junit", "json", "markdown")}
    (two_runs / "out").mkdir()
    options = [word for form, path in names.items() for word in (f"--{form}", str(path))]
    assert main(["report", "first", "second", *options]) == 0
    assert names["html"].read_text(encoding="utf-8").count("<td>run ") == 2
    assert names["junit"].read_text(encoding="utf-8").count("<testsuite ") == 2
    assert [run["id"] for run in json.loads(names["json"].read_text())["runs"]] == ["first", "second"]
    assert "device_GPU" in names["markdown"].read_text(encoding="utf-8")
    assert capsys.readouterr().out == ""


def test_without_a_path_the_page_goes_into_the_run_and_the_rest_to_stdout(
    two_runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--html"]) == 0
    assert (two_runs / "runs" / "second" / "report.html").is_file()
    assert main(["report", "first", "--junit"]) == 0
    assert capsys.readouterr().out.startswith("<?xml")
    assert main(["report", "first", "--markdown", "--lang", "zh"]) == 0
    assert "单机单卡" in capsys.readouterr().out


def test_open_shows_the_page(two_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: bool(opened.append(address)) or True)
    assert main(["report", "first", "--open"]) == 0
    assert opened == [(two_runs / "runs" / "first" / "report.html").as_uri()]


def test_the_json_has_a_schema_version_and_the_figures(
    two_runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "first", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == SCHEMA == "tipc.report/1"
    (run,) = document["runs"]
    assert run["passed"] is True
    assert run["checks"]["pass"] == 4
    cell = run["plans"][0]["cells"][0]
    assert cell["state"] == "not certified"
    assert cell["not_certified"] == ["no GPU on this machine"]
    train = cell["steps"][0]
    assert train["command"].startswith("CUDA_VISIBLE_DEVICES= python train.py")
    assert {metric["name"] for metric in train["metrics"]} == {
        "ips",
        "peak_ips",
        "loss",
        "wall_s",
        "cpu_s",
        "peak_rss_mb",
    }


def test_what_is_not_a_number_is_null(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(*fabricate(home, Recipe(name="nan", logs={"infer": " inference_time(ms): nan\n"})))
    assert main(["report", "--json"]) == 0
    json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(name))


def test_a_run_that_is_not_there_is_one_clear_message(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == 2
    assert "there is no run in" in capsys.readouterr().err
    assert main(["report", "nope"]) == 2
    assert "nope" in capsys.readouterr().err


def test_a_run_that_was_killed_can_be_looked_at(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import replace

    run, _ = fabricate(home, Recipe(name="killed", states={"infer": "pending"}))
    stored(replace(run, ended=None), None)
    assert main(["report", "--junit"]) == 0
    assert 'errors="4"' in capsys.readouterr().out
    assert main(["report"]) == 0
    assert "INCOMPLETE" in capsys.readouterr().out
