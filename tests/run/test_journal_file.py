"""The journal: append-only, whole lines only, one writer."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipc.errors import EnvironmentProblem, UsageError
from tipc.kinds import BLOCKED, FAILED, PASSED
from tipc.reasons import because
from tipc.run.record import journal as journals
from tipc.run.record.events import StepEnded
from tipc.run.record.journal import NAME, Journal, is_running, read_events, replay_of
from tipc.run.record.results import StepResult


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    result = StepResult("p", "s", PASSED, attempts=1, wall=1.5, artefacts={"a": "1"}, exit_code=0)
    with Journal(tmp_path) as journal:
        journal.opened("id", ["a"], {"mode": "x"}, 1.0)
        journal.started("p", "s", 1, "/log", {"command": "c"})
        journal.ended(result)
        journal.finished("passed")
    events = list(read_events(tmp_path))
    assert [event.event for event in events] == ["run", "start", "end", "finish"]
    assert isinstance(events[2], StepEnded)
    assert events[2].result == result


def begun(directory: Path, step: str = "s") -> Path:
    """A journal of a run with one step that passed."""
    with Journal(directory) as journal:
        journal.opened("id", [], {}, 1.0)
        journal.ended(StepResult("p", step, PASSED))
    return directory


def test_a_journal_of_another_format_is_refused_with_one_message(tmp_path: Path) -> None:
    for first in ('{"event":"run","format":1,"id":"x","at":1.0,"argv":[],"options":{}}', '{"event":"run"}'):
        (tmp_path / NAME).write_text(first + "\n")
        with pytest.raises(UsageError, match=r"a run of format .*; this tipc reads format 2"):
            replay_of(tmp_path)
    with pytest.raises(UsageError, match="this tipc reads format 2"):
        Journal(tmp_path)
    assert (tmp_path / NAME).read_text() == first + "\n"
    assert not is_running(tmp_path)


def test_a_journal_that_does_not_begin_with_a_call_is_damaged(tmp_path: Path) -> None:
    begun(tmp_path)
    lines = (tmp_path / NAME).read_bytes().splitlines(keepends=True)
    (tmp_path / NAME).write_bytes(b"".join(lines[1:]))
    with pytest.raises(EnvironmentProblem, match="does not begin with the call"):
        replay_of(tmp_path)


def test_the_writer_and_a_reader_come_to_the_same(tmp_path: Path) -> None:
    journal = Journal(begun(tmp_path))
    journal.resumed(["--resume"])
    journal.deselected("p", ["t", "u"])
    journal.started("p", "v", 1, "/log", {"scripts": "1"})
    journal.ended(StepResult("p", "v", FAILED, because("exit", status=1), artefacts={"a": "b"}))
    journal.outdated("p", "s", because("outdated", inputs="scripts"))
    journal.finished("failed", [because("file-rewritten", path="plan.jsonl")], ["/repo/train.py"])
    journal.close()
    assert replay_of(tmp_path) == journal.replay
    assert journal.replay.results["p", "s"].outdated


def test_what_was_blocked_is_open_again_in_the_next_call(tmp_path: Path) -> None:
    """Else a call that is broken off would say that it needs a step, which has passed by then."""
    journal = Journal(begun(tmp_path))
    journal.ended(StepResult("p", "eval", BLOCKED, because("needs", step="train")))
    journal.finished("failed")
    assert journal.replay.results["p", "eval"].state == BLOCKED
    journal.resumed(["--rerun-failed"])
    journal.close()
    assert ("p", "eval") not in replay_of(tmp_path).results


@given(st.binary(max_size=60))
def test_any_bytes_after_the_last_newline_are_dropped(
    tmp_path_factory: pytest.TempPathFactory, torn: bytes
) -> None:
    directory = begun(tmp_path_factory.mktemp("run"))
    with open(directory / NAME, "ab") as file:
        file.write(torn.replace(b"\n", b""))
    assert len(list(read_events(directory))) == 2
    with Journal(directory) as journal:
        journal.ended(StepResult("p", "t", PASSED))
    assert list(replay_of(directory).results) == [("p", "s"), ("p", "t")]


def test_a_torn_line_longer_than_a_block_is_dropped_whole(tmp_path: Path) -> None:
    begun(tmp_path)
    with open(tmp_path / NAME, "ab") as file:
        file.write(b"x" * 200_000)
    Journal(tmp_path).close()
    assert (tmp_path / NAME).read_bytes().endswith(b"}\n")


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    begun(tmp_path)
    text = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(text + b"{broken\n" + text)
    with pytest.raises(EnvironmentProblem, match=r"journal\.jsonl:3"):
        replay_of(tmp_path)


def test_a_directory_without_a_journal_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a run"):
        replay_of(tmp_path)


def test_a_full_disk_leaves_no_half_line_and_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    journal.ended(StepResult("p", "s", PASSED))
    before = (tmp_path / NAME).read_bytes()
    write = os.write
    calls = []

    def half(descriptor: int, data: bytes) -> int:
        calls.append(len(data))
        if len(calls) == 1:
            return write(descriptor, data[:7])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(journals.os, "write", half)
    with pytest.raises(EnvironmentProblem, match="no room left") as caught:
        journal.ended(StepResult("p", "t", FAILED))
    assert "--resume" in str(caught.value)
    assert (tmp_path / NAME).read_bytes() == before
    journal.close()


def test_a_run_has_one_writer_at_a_time(tmp_path: Path) -> None:
    with Journal(tmp_path):
        pid = os.fork()
        if pid == 0:
            try:
                Journal(tmp_path)
            except UsageError:
                os._exit(7 if is_running(tmp_path) else 8)
            os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    assert not is_running(tmp_path)


def test_a_child_that_outlives_the_writer_does_not_hold_the_run(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writable)
        os.read(readable, 1)
        os._exit(0)
    os.close(readable)
    journal.close()
    Journal(tmp_path).close()
    os.close(writable)
    os.waitpid(pid, 0)


def test_names_that_are_not_utf8_survive(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    begun(tmp_path, name)
    assert list(replay_of(tmp_path).results) == [("p", name)]
