"""Logs of any size, with lines of any length: read in little memory, and what went wrong is found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import toy_repo

from tipc.certify.evidence import log_alarms, log_lines, log_readers, logs
from tipc.certify.evidence.log_lines import Wanted, lines
from tipc.certify.evidence.logs import read_log

SPEC = (
    "[Epoch 3/5, iter: 10] top1: 0.25, top5: 1.0, lr: 1e-3, loss: 2.31, avg_reader_cost: 0.01 sec, "
    "avg_batch_cost: 0.27 sec, avg_samples: 4.0, avg_ips: 14.8 images/sec.\n"
)
MOST = 150  # megabytes of memory that tipc may take, whatever a step prints
GIGABYTE = 1 << 30
PRINTED = {
    "a hole": "os.ftruncate(1, {size})",
    "one line": "for _ in range({size} >> 20): os.write(1, b'x' * (1 << 20))",
    "many lines": "for _ in range({size} >> 20): os.write(1, (b'x' * 63 + b'\\n') * (1 << 14))",
    "training lines": (
        "line = b'epoch: 1 iter: 0000007/9999999 loss: 0.25 ips: 3.25 images/sec\\n'\n"
        "for number in range({size} >> 20): os.write(1, line * (1 << 14))"
    ),
    "binary garbage": "block = os.urandom(1 << 20)\nfor _ in range({size} >> 20): os.write(1, block)",
    "a progress bar": (
        "state = b'\\r 12%|####      | 12/100 [00:01<00:00, loss=0.25, acc=1]'\n"
        "for _ in range({size} >> 20): os.write(1, state * (1 << 14))"
    ),
}


EDGE, MIDDLE = 1 << 16, 1 << 14  # here: a log is a giant sooner


@pytest.fixture
def small_giants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_lines, "EDGE", EDGE)
    for budget in ("FIGURES", "ERRORS", "COMPLAINTS"):
        monkeypatch.setattr(log_alarms, budget, MIDDLE)
    monkeypatch.setattr(log_alarms, "TRACEBACK_BYTES", 1000)
    monkeypatch.setattr(log_lines, "BLOCK", 10_000)
    monkeypatch.setattr(log_lines, "CHUNK", 5_000)


def write(tmp_path: Path, raw: bytes) -> Path:
    path = tmp_path / "a.log"
    path.write_bytes(raw)
    return path


def most_memory(argv: list[str], cwd: Path) -> tuple[int, int]:
    """Run a command; its exit code, and the most memory in megabytes that its own process took at once."""
    process = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    peak = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                peak = max(peak, int(line.split()[1]) >> 10)
        time.sleep(0.02)
    return process.returncode, peak


def run_and_report(place: Path, printed: str, size: int) -> list[int]:
    """A run with its checks whose training prints so much, and a report; the memory of both."""
    config = toy_repo.make(place / "repo")
    train = place / "repo/train.py"
    train.write_text(f"import os\n{PRINTED[printed].format(size=size)}\n{train.read_text()}")
    tipc = [sys.executable, "-m", "tipc"]
    code, run = most_memory([*tipc, "run", "--cold", str(config)], place)
    assert code == 1  # the checks have a lot to say about a training that trains nothing
    (log,) = place.glob(".tipc/runs/*/logs/*/*train.log")
    assert log.stat().st_size >= size // 2
    code, report = most_memory([*tipc, "report", "--junit", "a.xml", "--html", "a.html"], place)
    assert code in (0, 1)
    log.unlink()
    print(f"{printed}: tipc run {run} MB, tipc report {report} MB")
    return [run, report]


def test_a_step_that_leaves_a_log_of_a_gigabyte_costs_no_memory(tmp_path: Path) -> None:
    assert max(run_and_report(tmp_path, "a hole", GIGABYTE)) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("printed", [name for name in PRINTED if name != "a hole"])
def test_a_step_that_prints_a_gigabyte_costs_no_memory(tmp_path: Path, printed: str) -> None:
    assert max(run_and_report(tmp_path, printed, GIGABYTE)) <= MOST


@pytest.mark.usefixtures("small_giants")
def test_the_middle_of_a_giant_log_is_looked_through_for_what_went_wrong(tmp_path: Path) -> None:
    middle = b"y\n" * (EDGE // 4)
    death = b"WARNING: it goes on\nTraceback (most recent call last):\n  a\nValueError: far inside\n"
    data = [SPEC.encode() + b"x" * 2 * EDGE + b"\n", middle, death, middle, b"loss: nan\n", middle, middle]
    path = write(tmp_path, b"".join([*data, middle, middle, SPEC.encode()]))
    log = read_log(path)
    count = EDGE // 4
    assert [row.line for row in log.training] == [1, 6 * count + 8]
    assert log.lines == 6 * count + 8
    assert [(error.line, error.text) for error in log.errors] == [(count + 6, "ValueError: far inside")]
    assert log.errors[0].handled
    assert log.not_finite is not None
    assert log.not_finite.line == 2 * count + 7


@pytest.mark.usefixtures("small_giants")
def test_a_word_of_alarm_in_every_line_of_a_giant_log_ends_in_time(tmp_path: Path) -> None:
    path = write(tmp_path, b"Error in a line\n" * (3 * EDGE // 16) + b"Error: and no end " * (3 * EDGE // 18))
    wanted = Wanted(re.compile(b"Error"), MIDDLE)
    handed = list(lines(path, [wanted]))
    assert sum(len(text) for _, text in handed) < 2 * EDGE + 2 * MIDDLE
    assert handed[-1][0] == 3 * EDGE // 16 + 1
    assert wanted.missed


LOUD = {
    "errors that were handled": b"retrying after ConnectionError (told as a warning)\n",
    "the level ERROR": b"x ERROR: y\n",
    "a word with nan in it": b"UserWarning: nan_to_num is deprecated, info\n",
}


@pytest.mark.usefixtures("small_giants")
@pytest.mark.parametrize("loud", LOUD)
@pytest.mark.parametrize("cut", range(0, 10_000, 900))
def test_nothing_that_others_cry_hides_a_traceback_or_a_figure_that_is_none(
    loud: str, cut: int, tmp_path: Path
) -> None:
    noise = LOUD[loud] * (8 * EDGE // len(LOUD[loud]))
    death = b"Traceback (most recent call last):\n" + b"  a frame\n" * 40 + b"RuntimeError: far inside\n"
    path = write(tmp_path, noise + b"-" * cut + b"\n" + death + b"Aborted\nloss: nan\n" + noise)
    log = read_log(path)
    line = noise.count(b"\n") + 1 + 42
    assert [(error.line, error.text) for error in log.errors] == [
        (line, "RuntimeError: far inside"),
        (line + 1, "Aborted"),
    ]
    assert log.not_finite is not None
    assert log.not_finite.line == line + 2
    assert log.lines == 2 * noise.count(b"\n") + 1 + 44
    assert not log.errors_missed
    assert not log.figures_missed


@pytest.mark.usefixtures("small_giants")
def test_a_log_with_more_alarms_than_are_looked_at_says_so(tmp_path: Path) -> None:
    warned = b"WARNING: no server\nTraceback (most recent call last):\nImportError: x\n"
    errors = read_log(write(tmp_path, warned * (4 * EDGE // len(warned))))
    assert (errors.errors_missed, errors.figures_missed) == (True, False)
    figures = read_log(write(tmp_path, b"best_loss: inf\n" * (4 * EDGE // 15)))
    assert (figures.errors_missed, figures.figures_missed) == (False, True)


@pytest.mark.usefixtures("small_giants")
def test_what_lies_beyond_that_which_is_looked_through_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "LOOKED_THROUGH", EDGE)
    log = read_log(write(tmp_path, b"x\n" * 4 * EDGE))
    assert log.errors_missed
    assert log.figures_missed


@pytest.mark.usefixtures("small_giants")
@pytest.mark.parametrize("mark", [b" ", b"\n", b"\r"])
def test_no_figure_of_a_giant_log_is_cut_in_two(tmp_path: Path, mark: bytes) -> None:
    for place in range(12):
        path = write(tmp_path, b"-" * place + (b"loss=0.25," + mark) * (3 * EDGE // 11))
        for _, text in lines(path, [Wanted(re.compile(b"="), MIDDLE)]):
            assert text.count("loss=0.25,") == text.count("loss") == text.count(".")


def test_a_log_that_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/tty"), tmp_path, Path("a\0b")):
        assert not list(lines(path))
        assert read_log(path).training == ()


def test_of_many_giant_logs_only_some_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_readers, "KEPT", 100)
    monkeypatch.setattr(logs, "MOST_ROWS", 400)
    for number in range(5):
        path = tmp_path / f"{number}.log"
        path.write_text(SPEC * 250)
        assert len(read_log(path).training) == 200
    assert sum(len(log.training) for log in logs._memory.logs.values()) <= 400
