"""``tipc run --resume`` and ``--rerun-failed``: what they honour, refuse, keep and say."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import toy_repo
from toy_repo import events, journals, states

from tipc.cli.main import main
from tipc.cli.run import parser
from tipc.report.history.history_store import History
from tipc.report.view import view_of
from tipc.run.record.run_store import load_run

PREPARE = 'echo prepared >> prepared; if [ "$2" = "lite_train_lite_infer" ]; then rm -rf lite_data; fi\n'


@pytest.fixture
def config(repo: Path) -> Path:
    return toy_repo.make(repo)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIPC_HOME", raising=False)
    return tmp_path


def run(*words: str | Path) -> int:
    return main(["run", "--cold", "--no-checks", *map(str, words)])


def test_another_interpreter_is_honoured_and_kept_for_later_calls(
    here: Path, repo: Path, config: Path
) -> None:
    assert run(config, "--only", "train") == 0
    (repo / "python").symlink_to("/usr/bin/env")  # `env train.py …` cannot be: the step must fail
    assert run("--resume", "--python", repo / "python") == 1
    assert str(repo / "python") in load_run(None).plans[0].steps[0].argv[0]
    assert run("--resume") == 1, "a later call keeps it"
    assert str(repo / "python") in load_run(None).plans[0].steps[0].argv[0]


def test_preparing_is_neither_repeated_nor_forced(
    here: Path, repo: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "test_tipc/prepare.sh").write_text(PREPARE)
    (repo / "lite_data").mkdir()
    (repo / "behave").write_text("fail")
    warning = "will remove lite_data (--no-prepare: it will not)"
    assert run(config, "--dry-run") == 0
    assert warning in capsys.readouterr().out
    assert run(config) == 1
    assert warning in capsys.readouterr().out
    (repo / "behave").unlink()
    (repo / "lite_data").mkdir()
    (repo / "other.py").write_text("")
    assert run("--rerun-failed") == 0
    assert "will remove" not in capsys.readouterr().out
    assert (repo / "prepared").read_text().count("prepared") == 1
    assert (repo / "lite_data").is_dir(), "the data is still there"
    assert run("--resume", "--no-prepare") == 0
    assert (repo / "prepared").read_text().count("prepared") == 1
    assert run("--resume", "--prepare") == 0
    assert (repo / "prepared").read_text().count("prepared") == 2


def test_a_failed_preparation_is_repeated_only_when_asked_for(
    here: Path, repo: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "test_tipc/prepare.sh").write_text("echo x >> prepared; exit 1\n")
    assert run(config) == 1
    assert "is it already there? tipc run --rerun-failed --no-prepare" in capsys.readouterr().out
    assert run("--rerun-failed") == 2
    assert "`--prepare` does it again; is the data already there? `--no-prepare`" in capsys.readouterr().err
    assert run("--rerun-failed", "--prepare") == 1
    assert (repo / "prepared").read_text() == "x\nx\n"
    assert run("--rerun-failed", "--no-prepare") == 0
    assert (repo / "prepared").read_text() == "x\nx\n"


def test_what_a_changed_script_makes_outdated_is_said_and_runs_when_asked_for(
    here: Path, repo: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = (repo / "export.py").read_text()
    (repo / "export.py").write_text("raise SystemExit(1)")
    assert run(config) == 1
    first = load_run(None)
    assert (first.directory / "report.html").is_file()
    (repo / "export.py").write_text(good)
    assert run("--rerun-failed") == 1, "something is outdated"
    shown = capsys.readouterr().out
    assert "NOT CERTIFIED: 2 of 6 steps are outdated" in shown
    assert "train ○ outdated" in shown
    assert "to go on: tipc run --resume" in shown
    (journal,) = journals(here)
    began = [event["step"].rpartition("/")[2] for event in events(journal) if event["event"] == "start"]
    assert began.count("train") == 1
    assert began.count("export") == 2
    assert run("--rerun-failed", "--outdated") == 0
    assert set(states(journal).values()) == {"passed"}
    assert load_run(None).ok
    # What the first call concluded is still there.
    assert "FAILED" in (first.directory / "report.1.html").read_text()
    with History(here / ".tipc") as history:
        told = {entry.id: entry.word for entry in history.entries()}
    assert told == {f"{first.id}~1": "FAILED", f"{first.id}~2": "NOT CERTIFIED", first.id: "NOT CHECKED"}


def test_a_dry_run_knows_that_what_was_outdated_may_hold_again(
    here: Path, repo: Path, config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another interpreter made the steps outdated; with the first one what they did counts again."""
    (repo / "infer.py").write_text("raise SystemExit(1)")
    first, other = tmp_path / "first/bin/python", tmp_path / "other/bin/python"
    for path in (first, other):
        path.parent.mkdir(parents=True)
        path.write_text(f'#!/bin/sh\n# {path}\nexec {sys.executable} "$@"\n')
        path.chmod(0o755)
    assert run(config, "--python", first) == 1
    assert run("--rerun-failed", "--python", other) == 1
    assert "train ○ outdated" in capsys.readouterr().out
    (journal,) = journals(here)
    before = len(events(journal))
    assert run("--rerun-failed", "--python", first, "--dry-run") == 0
    shown = re.findall(r"^# norm_train-cpu/(\S+) \(cpu\)$", capsys.readouterr().out, re.MULTILINE)
    assert run("--rerun-failed", "--python", first) == 1
    began = [event["step"] for event in events(journal)[before:] if event["event"] == "start"]
    ran = [step.rpartition("/")[2] for step in began]
    assert sorted(shown) == sorted(ran) == ["infer-cpu-bs1", "infer-cpu-bs2", "infer-cpu-bs4"]


def test_outdated_alone_and_both_ways_of_going_on_are_refused(here: Path, config: Path) -> None:
    assert run(config, "--outdated") == 2
    assert run(config, "--only", "train") == 0
    assert run("--resume", "--rerun-failed") == 2


def test_x_is_fail_fast() -> None:
    assert parser().parse_args(["-x"]).fail_fast


def test_an_interrupted_run_says_how_to_go_on_and_has_not_failed(
    here: Path, repo: Path, config: Path
) -> None:
    (repo / "behave").write_text("hang")
    process = subprocess.Popen(
        toy_repo.command(config),
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=toy_repo.hear_signals,
    )
    while not list(repo.glob("hangs/*")):
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert shown.count("stopping: every process is being ended") == 1
    assert "INTERRUPTED" in shown
    assert "FAILED" not in shown
    assert shown.rstrip().endswith(f"to go on: tipc run --resume {journals(here)[0].parent.name}")
    assert said == ""


def test_the_time_between_two_calls_is_no_time_of_the_run(here: Path, config: Path) -> None:
    assert run(config, "--only", "train") == 0
    (journal,) = journals(here)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:  # as if it had been an hour ago
        for holder in (line, line.get("result", {})):
            holder |= {name: holder[name] - 3600 for name in ("at", "started") if holder.get(name)}
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("--resume") == 0
    gone_on = load_run(None)
    assert gone_on.ended is not None
    assert gone_on.ended - gone_on.started > 3600
    assert view_of(gone_on, None).elapsed < 600
