"""A run that came with a repository is shown as what it is; it shows nothing else of the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fabric import Recipe, fabricate, stored

from tipc.report.html.pictures import data_uri
from tipc.run.record.own_logs import own_log
from tipc.run.record.run_store import load_run

SECRET = "-----BEGIN OPENSSH PRIVATE KEY-----"


WAYS = ["elsewhere", "up and away", "a link to the folder", "links to files"]


def plant(place: Path, way: str) -> None:
    """A stored run with failed steps whose logs are, in some way, a secret of the user."""
    run, verdict = fabricate(place / ".tipc", Recipe(states={"train": "failed"}))
    stored(run, verdict)
    logs, home, journal = run.directory / "logs", place / "home", run.directory / "journal.jsonl"
    home.mkdir()
    for log in list(logs.iterdir()):
        (home / log.name).write_text(SECRET, encoding="utf-8")
        if way == "links to files":
            log.unlink()
            log.symlink_to(home / log.name)
    text = journal.read_text(encoding="utf-8")
    if way == "elsewhere":
        text = text.replace(f"{logs}/", f"{home}/")
    elif way == "up and away":
        text = text.replace(f"{logs}/", f"{logs}/../../../../home/")
    elif way == "a link to the folder":
        logs.rename(run.directory / "before")
        logs.symlink_to(home)
    journal.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("way", WAYS)
def test_a_report_shows_no_file_that_is_no_log_of_the_run(tmp_path: Path, way: str) -> None:
    plant(tmp_path, way)
    forms = ["--html", "a.html", "--junit", "a.xml", "--json", "a.json", "--markdown", "a.md"]
    shown = ""
    for call in ([], forms):
        words = [sys.executable, "-m", "tipc", "report", *call]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        shown += done.stdout + done.stderr
    for name in forms[1::2]:
        shown += (tmp_path / name).read_text(encoding="utf-8")
    assert "FAILED" in shown
    assert SECRET not in shown


def test_a_run_that_was_moved_keeps_its_logs(tmp_path: Path) -> None:
    run, verdict = fabricate(tmp_path / "here/.tipc", Recipe())
    stored(run, verdict)
    (tmp_path / "here").rename(tmp_path / "there")
    moved = tmp_path / "there" / run.directory.relative_to(tmp_path / "here")
    logs = [result.log for result in load_run(moved).results.values() if result.log]
    assert logs
    for log in logs:
        assert Path(log).is_file()
        assert log.startswith(f"{moved}/logs/")


def test_a_file_that_is_no_picture_is_not_put_into_a_page_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)  # with it a picture is decoded, and drawn anew
    (tmp_path / "key.png").write_text(SECRET, encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n and so on")
    assert data_uri(tmp_path / "key.png") == ""
    assert data_uri(tmp_path / "picture.png").startswith("data:image/png;base64,")


def test_a_log_that_is_gone_keeps_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    assert own_log(f"{folder}/0/train.log", str(folder)) == f"{folder}/0/train.log"
    assert own_log("", str(folder)) == ""
    assert own_log("train.log", str(folder)) == ""
