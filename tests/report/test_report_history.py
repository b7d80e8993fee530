"""The history: every run with its figures, unlike machines apart, no damage that is not told."""

from __future__ import annotations

import io
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from fabric import MACHINE, Recipe, fabricate, stored

from tipc.cli.main import main
from tipc.errors import EnvironmentProblem, UsageError
from tipc.report.finish import finish
from tipc.report.history.history_store import NAME, History, entry_of
from tipc.report.machine_facts import build, fingerprint, machine_name, versions
from tipc.report.view import view_of

GPU_MACHINE = {**MACHINE, "gpus": [{"name": "Tesla V100"}, {"name": "Tesla V100"}], "host": "gpu-1"}


def add(home: Path, recipe: Recipe) -> None:
    with History(home) as history:
        history.add(view_of(*fabricate(home, recipe)))


def test_a_run_comes_back_with_all_its_figures(home: Path) -> None:
    view = view_of(*fabricate(home, Recipe(noise=0.02)))
    with History(home) as history:
        history.add(view)
        history.add(view)  # a second time, after a new verdict: no double
        (entry,) = history.entries()
        assert history.filled(entry) == entry_of(view)
    metrics = {figure.metric for figure in entry_of(view).figures.values()}
    assert {"ips", "loss", "acc1", "inference_ms", "preprocess_ms", "peak_rss_mb", "wall_s"} <= metrics
    speed = next(figure for figure in entry_of(view).figures.values() if figure.metric == "ips")
    assert len(speed.samples) == 11  # the first interval pays for the start


def test_a_step_that_failed_has_no_figures(home: Path) -> None:
    view = view_of(*fabricate(home, Recipe(states={"gpu0-null/train": "failed"})))
    steps = {figure.step for figure in entry_of(view).figures.values()}
    assert not any(step.startswith("norm_train-gpu0-null/") for step in steps)


def test_the_figures_of_single_classes_are_not_those_of_the_model(home: Path) -> None:
    log = "[EVAL] mIoU: 0.3953, Dice: 0.4415, Class IoU: [0.7905 0.0000]\n[EVAL] Class Dice: [0.8830 0.1]\n"
    view = view_of(*fabricate(home, Recipe(logs={"eval": log})))
    figures = {figure.metric: figure.value for figure in entry_of(view).figures.values()}
    assert figures["Dice"] == 0.4415
    assert figures["mIoU"] == 0.3953
    assert "IoU" not in figures


def test_a_run_is_found_by_a_prefix_that_only_it_has(home: Path) -> None:
    add(home, Recipe(name="2026-a"))
    add(home, Recipe(name="2026-b"))
    with History(home) as history:
        found = history.find("2026-a")
        assert found is not None
        assert found.id == "2026-a"
        listed = history.listed("2026-a")
        assert listed is not None
        assert not listed.figures
        assert history.filled(listed) == found
        assert history.find("2027") is None
        with pytest.raises(UsageError, match="names several runs: 2026-a, 2026-b"):
            history.find("2026")


def test_the_newest_runs_come_last_and_old_ones_are_left_out(home: Path) -> None:
    for number in (3, 1, 2):
        add(home, Recipe(name=f"r{number}", started=1000.0 * number))
    with History(home) as history:
        assert [entry.id for entry in history.entries(limit=2)] == ["r2", "r3"]
        newest = history.find("r3")
        assert newest is not None
        assert [entry.id for entry in history.before(newest)] == ["r1", "r2"]
        assert [entry.id for entry in history.before(newest, limit=1)] == ["r2"]


def test_runs_of_other_configs_and_other_machines_do_not_count_as_earlier(home: Path) -> None:
    add(home, Recipe(name="other", models=("other",), started=1000.0))
    add(home, Recipe(name="far", machine=GPU_MACHINE, started=2000.0))
    add(home, Recipe(name="near", started=3000.0))
    add(home, Recipe(name="now", started=4000.0))
    with History(home) as history:
        now = history.find("now")
        assert now is not None
        assert [entry.id for entry in history.before(now)] == ["near"]


def test_unlike_machines_have_unlike_fingerprints_and_versions_do_not_matter() -> None:
    assert fingerprint(MACHINE) != fingerprint(GPU_MACHINE)
    assert fingerprint(MACHINE) == fingerprint({**MACHINE, "host": "ci-2", "python": "3.12"})
    assert fingerprint(MACHINE) == fingerprint({**MACHINE, "memory": MACHINE["memory"] - 10**7})  # type: ignore[operator]
    assert fingerprint({**MACHINE, "cpu": {"model": "other", "cores": 2}}) != fingerprint(MACHINE)
    assert machine_name(GPU_MACHINE) == "gpu-1: Imaginary Xeon, 2 cores, 2 × Tesla V100"
    assert build({**MACHINE, "repos": {"/r": {"commit": "a"}}}) != build(
        {**MACHINE, "repos": {"/r": {"commit": "b"}}}
    )


@pytest.mark.parametrize("environment", [{}, {"cpu": "x", "gpus": ["A"], "interpreters": 3}, {"cpu": None}])
def test_an_environment_of_another_form_does_no_harm(environment: dict[str, object]) -> None:
    assert fingerprint(environment)
    assert machine_name(environment)
    assert versions(environment)


def test_a_damaged_file_is_one_clear_message_and_a_run_ends_well_without_it(home: Path) -> None:
    (home / NAME).write_bytes(b"not a database" * 100)
    with pytest.raises(EnvironmentProblem, match="the history cannot be used"):
        History(home)
    out = io.StringIO()
    run, verdict = fabricate(home)
    finish(run, verdict, out)
    assert "PASSED on cpu" in out.getvalue()
    assert "not in the history" in out.getvalue()


def test_a_file_of_a_newer_version_is_left_alone(home: Path) -> None:
    with sqlite3.connect(home / NAME) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(EnvironmentProblem, match="newer tipc"):
        History(home)


def test_bytes_that_are_no_text_can_be_kept(home: Path) -> None:
    run, verdict = fabricate(home)
    plans = tuple(replace(plan, model="m\udcff") for plan in run.plans)
    with History(home) as history:
        history.add(view_of(replace(run, plans=plans), verdict))
        assert len(history.entries()) == 1


def test_finish_writes_the_page_the_history_and_the_job_summary(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(home / "summary.md"))
    run, verdict = fabricate(home)
    out = io.StringIO()
    finish(run, verdict, out)
    finish(run, verdict, out)
    assert (run.directory / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert f"report: runs/{run.id}/report.html" in out.getvalue()
    assert (home / "summary.md").read_text(encoding="utf-8").count("## ✔ tipc") == 2
    with History(home) as history:
        assert [entry.id for entry in history.entries()] == [run.id]


def test_a_page_that_cannot_be_written_does_not_change_the_result(home: Path) -> None:
    run, verdict = fabricate(home)
    (run.directory / "report.html").mkdir()
    out = io.StringIO()
    finish(run, verdict, out)
    assert "PASSED on cpu" in out.getvalue()
    assert "no report.html" in out.getvalue()


def test_the_commands_list_runs_and_show_a_course(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history"]) == 0
    assert "no runs in" in capsys.readouterr().out
    assert main(["trend", "ips"]) == 2
    assert "there is no run" in capsys.readouterr().err
    assert list(home.iterdir()) == []  # looking leaves nothing behind
    for number in range(6):
        add(home, Recipe(name=f"r{number}", seed=number, noise=0.01, started=1000.0 * number))
    add(home, Recipe(name="g", machine=GPU_MACHINE, started=9000.0))
    assert main(["history", "-n", "3"]) == 0
    text = capsys.readouterr().out
    assert text.count("PASSED") == 3
    assert "gpu-1: Imaginary Xeon, 2 cores, 2 × Tesla V100" in text
    assert main(["trend", "ips", "-k", "gpu0-null"]) == 0
    text = capsys.readouterr().out
    assert text.count("norm_train-gpu0-null/train · ips") == 2  # once a machine
    assert re_course(text)
    assert main(["trend", "latency"]) == 0
    assert "inference_ms" in capsys.readouterr().out
    assert main(["trend", "speeed"]) == 2
    assert "one of acc1, acc5, cpu_s, inference_ms" in capsys.readouterr().err


def re_course(text: str) -> bool:
    return any(sum(sign in "▁▂▃▄▅▆▇█" for sign in line) == 6 for line in text.splitlines())


def test_a_run_that_is_only_a_directory_is_taken_into_the_history(home: Path) -> None:
    run = stored(*fabricate(home, Recipe(name="old")))
    newer = stored(*fabricate(home, Recipe(name="newer", started=run.started + 100)))
    assert main(["compare", str(run.directory), str(newer.directory)]) == 0
    with History(home) as history:
        assert {entry.id for entry in history.entries()} == {"old", "newer"}


def test_several_processes_can_add_runs_at_once(home: Path) -> None:
    entry = entry_of(view_of(*fabricate(home)))

    def put(number: int) -> None:
        with History(home) as history:
            history.put(replace(entry, id=f"r{number}"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, range(24)))
    with History(home) as history:
        entries = history.entries(limit=100)
        assert len(entries) == 24
        assert all(len(history.filled(one).figures) == len(entry.figures) for one in entries)


def test_a_report_brings_the_history_up_to_date_and_adds_no_strange_runs(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, verdict = fabricate(home, Recipe(name="judged-later"))
    stored(run, verdict)
    stored(*fabricate(home, Recipe(name="strange")))
    with History(home) as history:
        history.add(view_of(run, None))
    assert main(["history"]) == 0
    assert "NOT CHECKED" in capsys.readouterr().out
    assert main(["report", "judged-later"]) == 0
    assert main(["report", "strange"]) == 0
    capsys.readouterr()
    assert main(["history"]) == 0
    text = capsys.readouterr().out
    assert "PASSED" in text
    assert "strange" not in text


def test_the_history_names_some_models_and_counts_the_others(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(home, Recipe(models=[f"a_model_{number}" for number in range(7)]))
    assert main(["history"]) == 0
    assert "a_model_0, a_model_1, a_model_2 and 4 more" in capsys.readouterr().out


def test_on_a_narrow_terminal_a_run_keeps_its_name_in_one_line(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add(home, Recipe(name="20261118-035013-mobilenet_v3_small"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(["history"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert any("20261118-035013-mobilenet_v3_small" in line for line in told)
    assert all(len(line) <= 80 for line in told)
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["history"]) == 0
    assert "started" in capsys.readouterr().out


def test_of_earlier_runs_only_the_values_that_are_compared_are_read(home: Path) -> None:
    first, second = (
        view_of(
            *fabricate(
                home, Recipe(name=name, seed=seed, noise=0.02, batch_sizes=sizes, started=1000.0 + seed)
            )
        )
        for seed, (name, sizes) in enumerate((("a", ["1", "2"]), ("b", ["2"])))
    )
    with History(home) as history:
        history.add(first)
        history.add(second)
        now = history.find("b")
        assert now is not None
        whole = history.find("a")
        assert whole is not None
        [listed] = history.before(now)
        assert not listed.figures
        [entry] = history.valued([listed], now)
    assert not entry.figures
    assert entry.cells == whole.cells
    assert set(now.figures) < set(whole.figures)
    for key, figure in whole.figures.items():
        assert whole.value(key) == figure.value
        expected = None
        if key in now.figures:
            expected = figure.value
        assert entry.value(key) == expected
