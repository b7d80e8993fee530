"""What stands on a real terminal of 80 columns: a pseudo-terminal, drawn by a terminal emulator."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import toy_repo

pyte = pytest.importorskip("pyte")
WIDE, HIGH = 80, 50


@dataclass
class Seen:
    """How a command ended, what it left on the screen, and what stood there meanwhile."""

    code: int
    rows: list[str]
    meanwhile: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.rows)


def on_a_terminal(cwd: Path, words: Sequence[str], *, stop_at: str = "", go: Path | None = None) -> Seen:
    """Run it as the foreground job of a terminal; press Ctrl-C, or make ``go``, when a text is there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", HIGH, WIDE, 0, 0))
    environ = {**os.environ, "TERM": "xterm-256color"}
    for name in ("NO_COLOR", "CI", "COLUMNS", "LINES"):
        environ.pop(name, None)
    process = subprocess.Popen(
        words, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, preexec_fn=_own_terminal
    )
    os.close(theirs)
    screen = pyte.HistoryScreen(WIDE, HIGH, history=1000)
    stream = pyte.ByteStream(screen)
    meanwhile = []
    waiting = bool(stop_at)
    try:
        while block := os.read(ours, 65536):
            stream.feed(block)
            meanwhile.append("\n".join(screen.display))
            if waiting and re.search(stop_at, meanwhile[-1]):
                waiting = False
                if go:
                    go.touch()
                else:
                    os.write(ours, b"\x03")
    except OSError:  # the other side has closed
        pass
    os.close(ours)
    above = ["".join(row[column].data for column in range(WIDE)) for row in screen.history.top]
    rows = [row.rstrip() for row in (*above, *screen.display)]
    return Seen(process.wait(60), rows, meanwhile)


def _own_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    toy_repo.hear_signals()


def two_configs(repo: Path, behaviour: str) -> list[Path]:
    first = toy_repo.make(repo)
    (repo / "behave").write_text(behaviour)
    second = first.parent.parent / "second" / first.name
    second.parent.mkdir()
    second.write_text(first.read_text().replace("model_name:toy", "model_name:second"))
    return [first, second]


def test_ctrl_c_leaves_no_stale_line_and_says_how_to_go_on(repo: Path) -> None:
    configs = two_configs(repo, "hang")
    seen = on_a_terminal(repo.parent, toy_repo.command(*configs), stop_at="● second")
    assert seen.code == 130
    assert "●" not in seen.text
    assert "to come" not in seen.text
    assert "INTERRUPTED · 12 steps, 2 interrupted, 10 not run" in seen.text
    assert "FAILED" not in seen.text
    (run,) = re.findall(r"^to go on: tipc run --resume (\S+)$", seen.text, re.MULTILINE)
    (repo / "behave").write_text("")
    done = toy_repo.tipc_run(repo.parent, "--resume", run)
    assert done.returncode == 0, done.stdout


def test_running_steps_of_several_configs_are_told_apart(repo: Path) -> None:
    configs = two_configs(repo, "wait")
    words = toy_repo.command("--only", "train", *configs)
    seen = on_a_terminal(repo.parent, words, stop_at="● second", go=repo / "go")
    assert seen.code == 0
    live = [text for text in seen.meanwhile if text.count("●") == 2]
    assert live
    assert "● toy · norm_train-cpu/train" in live[-1]
    assert "● second · norm_train-cpu/train" in live[-1]


@pytest.mark.parametrize("checks", [False, True])
def test_at_80_columns_no_word_is_cut_and_nothing_of_the_live_lines_stays(repo: Path, checks: bool) -> None:
    words = toy_repo.command(toy_repo.make(repo))
    if checks:
        words.remove("--no-checks")
    seen = on_a_terminal(repo.parent, words)
    assert "●" not in seen.text
    assert "checking" not in seen.text
    assert any("checking: " in text for text in seen.meanwhile) == checks
    (steps,) = [row for row in seen.rows if row.startswith("  norm_train ")]
    assert re.search(r"infer cpu \S+ [0-9.]+s$", steps), "the row of steps is on one line"
    if checks:
        place = next(number for number, row in enumerate(seen.rows) if "call loss.backward()" in row)
        assert seen.rows[place].endswith("learning rate")
        assert seen.rows[place + 1].startswith(" " * 13 + "above 0"), "broken between words, below its column"
