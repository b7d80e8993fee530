"""Two at once: runs, a run and one that goes on with it, a run and a report; and no locks to tell."""

from __future__ import annotations

import errno
import fcntl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_repo
from toy_repo import STEPS, journals, states, tipc_run

from tipc.cli.main import main
from tipc.run.record.locks import is_locked
from tipc.run.record.run_store import load_run


@pytest.fixture
def working(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run whose training waits for the file ``go``."""
    config = toy_repo.make(tmp_path / "repo")
    (tmp_path / "repo/behave").write_text("wait")
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(toy_repo.command(config), cwd=tmp_path, stdout=quiet, stderr=quiet)
    while not any(b'"start"' in journal.read_bytes() for journal in journals(tmp_path)):
        assert process.poll() is None
        time.sleep(0.02)
    yield process
    process.kill()
    process.wait()


def let_it_end(process: subprocess.Popen[bytes], place: Path) -> None:
    (place / "repo/go").touch()
    assert process.wait(100) == 0
    (journal,) = journals(place)
    assert states(journal) == dict.fromkeys(STEPS, "passed")
    assert load_run(journal.parent).tampered == ()


def test_a_second_run_in_the_same_output_directory_is_refused(
    tmp_path: Path, working: subprocess.Popen[bytes]
) -> None:
    config = tmp_path / "repo/test_tipc/configs/toy/train_infer_python.txt"
    for home in (tmp_path / ".tipc", tmp_path / "another"):
        done = tipc_run(tmp_path, config, env={"TIPC_HOME": str(home)})
        assert done.returncode == 2
        assert "another tipc run works in this directory" in done.stderr
    assert not (tmp_path / "another").exists()
    let_it_end(working, tmp_path)


@pytest.mark.parametrize("word", ["--resume", "--rerun-failed"])
def test_a_run_that_still_runs_cannot_be_gone_on_with(
    tmp_path: Path, working: subprocess.Popen[bytes], word: str
) -> None:
    (journal,) = journals(tmp_path)
    before = journal.read_bytes()
    done = tipc_run(tmp_path, word)
    assert done.returncode == 2
    assert "another tipc" in done.stderr
    assert journal.read_bytes() == before
    let_it_end(working, tmp_path)


def test_a_report_of_a_run_that_still_runs_claims_nothing_and_disturbs_nothing(
    tmp_path: Path, working: subprocess.Popen[bytes]
) -> None:
    for words in (["report"], ["report", "--html", "a.html"], ["report", "--junit"], ["history"]):
        done = subprocess.run(
            [sys.executable, "-m", "tipc", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 1, 2), done.stderr
        if words == ["report"]:
            assert "passed" not in done.stdout
    let_it_end(working, tmp_path)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL])
def test_a_file_system_without_locks_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    def no_locks(*_arguments: object) -> None:
        raise OSError(number, "No locks available")

    config = toy_repo.make(tmp_path / "repo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIPC_HOME", raising=False)
    monkeypatch.setattr(fcntl, "lockf", no_locks)
    assert main(["run", "--cold", "--no-checks", str(config)]) == 3
    assert "this file system has no locks" in capsys.readouterr().err
    assert journals(tmp_path) == []
    assert not list(tmp_path.rglob("*.log"))


def test_a_home_without_locks_is_refused_and_leaves_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = fcntl.lockf

    def only_elsewhere(descriptor: int, *arguments: int) -> None:
        if "/.tipc/" in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            raise OSError(errno.ENOLCK, "No locks available")
        real(descriptor, *arguments)

    config = toy_repo.make(tmp_path / "repo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIPC_HOME", raising=False)
    monkeypatch.setattr(fcntl, "lockf", only_elsewhere)
    assert main(["run", "--cold", "--no-checks", str(config)]) == 3
    error = capsys.readouterr().err
    assert "this file system has no locks" in error
    assert "TIPC_HOME" in error
    assert list((tmp_path / ".tipc/runs").iterdir()) == []


def test_whether_a_run_still_runs_is_not_known_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_arguments: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    (tmp_path / "lock").touch()
    monkeypatch.setattr(fcntl, "lockf", no_locks)
    assert not is_locked(tmp_path / "lock")
