"""What a terminal shows, through a real pseudo-terminal."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import toy_repo
from run_plans import plan_of, step

from tipc.run.show.progress import header_lines
from tipc.run.show.progress_live import LiveProgress


def run_on_a_terminal(
    cwd: Path, *words: str | Path, term: str = "xterm-256color", when: tuple[str, Path] | None = None
) -> tuple[int, str]:
    """Run it on a terminal; make the file of ``when`` as soon as its text is seen."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": term, "COLUMNS": "150", "LINES": "40"}
    for name in ("NO_COLOR", "CI"):
        environ.pop(name, None)
    process = subprocess.Popen(
        toy_repo.command(*words), cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=environ
    )
    os.close(theirs)
    seen = b""
    try:
        while block := os.read(ours, 65536):
            seen += block
            if when and re.search(when[0].encode(), seen):
                when[1].touch()
    except OSError:  # the other side has closed
        pass
    os.close(ours)
    return process.wait(60), seen.decode("utf-8", "replace")


@pytest.fixture
def config(repo: Path) -> Path:
    (repo.parent / "place").mkdir()
    return toy_repo.make(repo)


def test_a_terminal_shows_what_runs_and_what_is_left(repo: Path, config: Path) -> None:
    (repo / "behave").write_text("wait")
    line = r"● norm_train-cpu/train  cpu  \d\d:\d\d  training"
    words = ("-v", "--only", "train,export")
    code, seen = run_on_a_terminal(repo.parent, config, *words, when=(line, repo / "go"))
    assert code == 0
    assert "0 of 2 done, 1 to come" in seen
    assert "\x1b[33m Run successfully with command - toy" in seen
    assert seen.count("\x1b[?25l") == seen.count("\x1b[?25h")  # the cursor is back


def test_a_dumb_terminal_gets_plain_lines(repo: Path, config: Path) -> None:
    code, seen = run_on_a_terminal(repo.parent, config, "--only", "train", term="dumb")
    assert code == 0
    assert "✔ [1/1] norm_train-cpu/train" in seen
    assert "\x1b[?25l" not in seen


def test_rich_is_imported_for_a_terminal_only(repo: Path, config: Path) -> None:
    code = (
        "import sys\nfrom tipc.cli.run import _progress\n"
        "_progress(sys.stdout, 1, 0)\nprint('rich' in sys.modules or 'psutil' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_notes_that_many_configs_share_are_told_once(tmp_path: Path) -> None:
    plans = [
        replace(plan_of(tmp_path, step("a")), model=f"m{number}", notes=("the same",)) for number in range(3)
    ]
    lines = header_lines([*plans, replace(plans[0], model="m3", notes=("another",))], "cpu", 4)
    assert lines[0] == "4 configs · lite_train_lite_infer · dialect models · 4 steps · cpu"
    assert lines[1] == "  m0, m1, m2, m3"
    assert lines[2:] == ["  the same (3 configs)", "  another (1 config)"]


def test_a_part_of_the_steps_is_told_as_one(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, step("a"), step("b"), step("c"))
    assert " · 2 of 3 steps · " in header_lines([plan], "cpu", 2)[0]
    assert " · 3 steps · " in header_lines([plan], "cpu", 3)[0]


def test_a_long_line_goes_on_below_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = io.StringIO()
    progress = LiveProgress(out, 1)
    progress.write("  " + "word " * 12)
    progress.close()
    lines = [line for line in out.getvalue().splitlines() if "word" in line]
    assert len(lines) > 1
    assert all(len(line) <= 40 for line in lines)
    assert lines[0].startswith("  word")
    assert all(line.startswith("    word") for line in lines[1:])


def test_the_clock_of_a_step_runs_from_when_its_program_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in its result: the import of paddle by a warm server is none of the step's time."""
    monkeypatch.setenv("COLUMNS", "80")
    plan = plan_of(tmp_path, step("a"))
    progress = LiveProgress(io.StringIO(), 1)
    progress.started(plan, plan.steps[0], 1, tmp_path / "log")
    (waiting,) = progress._now.values()
    assert progress._line(waiting, now=1000.0) == "  ● a  cpu  waiting to start"
    progress.begun(plan, plan.steps[0], 1000.0)
    (running,) = progress._now.values()
    assert progress._line(running, now=1065.0) == "  ● a  cpu  01:05"
    progress.close()
