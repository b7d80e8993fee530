"""The journal: append-only, whole lines only, one writer."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipc.errors import EnvironmentProblem, UsageError
from tipc.run import journal as journals
from tipc.run.journal import NAME, Journal, is_running, read_events, result_from_json
from tipc.run.record import FAILED, PASSED, StepResult


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    result = StepResult("p", "s", PASSED, attempts=1, wall=1.5, artefacts={"a": "1"}, exit_code=0)
    with Journal(tmp_path) as journal:
        journal.opened("id", ["a"], {"mode": "x"}, 1.0)
        journal.started("p", "s", 1, "/log", {"command": "c"})
        journal.ended(result)
        journal.finished("passed")
    events = read_events(tmp_path)
    assert [event["event"] for event in events] == ["run", "start", "end", "finish"]
    assert result_from_json(events[2]) == result


@given(st.binary(max_size=60))
def test_any_bytes_after_the_last_newline_are_dropped(
    tmp_path_factory: pytest.TempPathFactory, torn: bytes
) -> None:
    directory = tmp_path_factory.mktemp("run")
    with Journal(directory) as journal:
        journal.ended(StepResult("p", "s", PASSED))
    with open(directory / NAME, "ab") as file:
        file.write(torn.replace(b"\n", b""))
    assert len(read_events(directory)) == 1
    with Journal(directory) as journal:
        journal.ended(StepResult("p", "t", PASSED))
    assert [event["step"] for event in read_events(directory)] == ["s", "t"]


def test_a_torn_line_longer_than_a_block_is_dropped_whole(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.ended(StepResult("p", "s", PASSED))
    with open(tmp_path / NAME, "ab") as file:
        file.write(b"x" * 200_000)
    Journal(tmp_path).close()
    assert (tmp_path / NAME).read_bytes().endswith(b"}\n")


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.ended(StepResult("p", "s", PASSED))
    text = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(text + b"{broken\n" + text)
    with pytest.raises(EnvironmentProblem, match=r"journal\.jsonl:2"):
        read_events(tmp_path)


def test_a_directory_without_a_journal_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a run"):
        read_events(tmp_path)


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
    with Journal(tmp_path) as journal:
        journal.ended(StepResult("p", name, PASSED))
    assert read_events(tmp_path)[0]["step"] == name
