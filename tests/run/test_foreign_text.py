"""Names, values and logs of a stranger never reach a terminal as commands, nor GitHub's runner."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import toy_repo
from hypothesis import given
from hypothesis import strategies as st

from tipc.errors import UsageError
from tipc.visible import Visible, visible, visible_name, write_command

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
REPO = "re\n::error::pwned\r\x1b[31m\x9b32m\u202ex"
FOLDER = "to\n::stop-commands::x\x1b[0t\x07y"
TRAIN = """\
print('::error::from the log')
print('\\x1b]52;c;aGk=\\x07 \\x9b31m \\x1b[2J')
raise SystemExit('ValueError: ::error::x\\r::warning::y')
"""
COMMANDS = [
    ["lint", "CONFIG"],
    ["lint", "--format", "github", "CONFIG"],
    ["plan", "CONFIG"],
    ["plan", "--commands", "CONFIG"],
    ["plan", "--json", "CONFIG"],
    ["run", "--dry-run", "CONFIG"],
    ["run", "--cold", "--no-checks", "-v", "CONFIG"],
    ["report"],
    ["report", "--markdown"],
    ["report", "--junit"],
    ["history"],
    ["check", REPO],
    ["plan", REPO],
    ["explain", FOLDER],
    [FOLDER],
]
OURS = re.compile(r"::(?:error|warning|notice) file=[^\n:]*line=\d+[^\n:]*::[^\n]*")


def hostile(place: Path) -> Path:
    """A repository whose names and values are full of commands."""
    config = toy_repo.make(place / REPO)
    folder = config.parent.rename(config.parent.with_name(FOLDER))
    config = folder / config.name
    text = config.read_text().replace("model_name:toy", "model_name:to\x9b31my\x1b[5m")
    config.write_text(text.replace("./lite_data", "\x1b[0x\x07\x85::error::x"))
    (place / REPO / "train.py").write_text(TRAIN)
    return config


def test_no_command_prints_what_a_terminal_or_github_obeys(tmp_path: Path) -> None:
    config = str(hostile(tmp_path))
    env = {**os.environ, "GITHUB_ACTIONS": "true", "PYTHONIOENCODING": "utf-8"}
    env.pop("GITHUB_STEP_SUMMARY", None)
    annotations = 0
    for words in COMMANDS:
        argv = [config if word == "CONFIG" else word for word in words]
        done = subprocess.run(
            [sys.executable, "-m", "tipc", *argv], cwd=tmp_path, env=env, capture_output=True, check=False
        )
        for raw in (done.stdout, done.stderr):
            text = raw.decode()
            assert not CONTROL.search(text), (words, text)
            for line in text.split("\n"):
                if line.lstrip().startswith(("::", "##[")):
                    assert OURS.fullmatch(line), (words, line)
                    annotations += 1
        assert b"Traceback" not in done.stderr
    assert annotations >= 2  # those of lint and of the run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_our_colours_and_movements_and_nothing_else() -> None:
    terminal = Terminal()
    Visible(terminal, {}).styled().write(
        "\x1b[31mred\x1b[0m\r\x1b[2K \x1b]0;title\x07 \x9b31m \x1bPq\x1b\\ \u202e"
    )
    assert terminal.getvalue() == (
        "\x1b[31mred\x1b[0m\r\x1b[2K \\u001b]0;title\\u0007 \\u009b31m \\u001bPq\\u001b\\ \\u202e"
    )


def test_a_terminal_gets_no_colour_and_no_movement_that_is_not_ours() -> None:
    terminal = Terminal()
    Visible(terminal, {}).write("\x1b[31mred\x1b[0m\r\x1b[2K\x1b[1A\n")
    assert terminal.getvalue() == "\\u001b[31mred\\u001b[0m\\u000d\\u001b[2K\\u001b[1A\n"


# What tipc itself never writes: seven lines up, and a background.
MOVES = "\x1b[7A\x1b[45mx\x9b7A"
MOVED = re.compile(b"\x1b\\[7A|\x1b\\[45m|\xc2\x9b|\x1b\\]")
MOVING_TRAIN = """\
import time
for number in range(10):
    print(f'epoch: 1 iter: {number}/20 loss: 0.5 \\x1b[7A\\x1b[45mx \\x9b7A ips: 3.2 images/sec', flush=True)
    time.sleep(0.1)
raise SystemExit('ValueError: \\x1b[7A\\x1b[45mbad \\x9b7A')
"""
ON_A_TERMINAL = [
    ["lint", "CONFIG"],
    ["plan", "CONFIG"],
    ["plan", "--json", "CONFIG"],
    ["run", "--cold", "-v", "CONFIG"],
    ["report"],
    ["certify"],
    ["check", f"re{MOVES}"],
    ["align", "a.npz", "a.npz"],
    ["explain", MOVES],
]


def written_on_a_terminal(words: list[str], cwd: Path) -> bytes:
    """All bytes that a terminal gets of a command."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm-256color"}
    for name in ("NO_COLOR", "CI", "GITHUB_ACTIONS"):
        environ.pop(name, None)
    process = subprocess.Popen(words, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=environ)
    os.close(theirs)
    written = b""
    try:
        while block := os.read(ours, 65536):
            written += block
    except OSError:  # the last one has closed it
        pass
    os.close(ours)
    process.wait(100)
    return written


def test_no_name_and_no_log_moves_the_cursor_of_a_terminal(tmp_path: Path) -> None:
    config = toy_repo.make(tmp_path / f"re{MOVES}")
    config = config.parent.rename(config.parent.with_name(f"to{MOVES}")) / config.name
    text = config.read_text().replace("model_name:toy", f"model_name:to{MOVES}")
    config.write_text(text.replace("./lite_data", f"./lite{MOVES}"))
    (tmp_path / f"re{MOVES}" / "train.py").write_text(MOVING_TRAIN)
    np.savez(tmp_path / "a.npz", **{f"data/{MOVES}": np.ones(2)})
    for words in ON_A_TERMINAL:
        argv = [str(config) if word == "CONFIG" else word for word in words]
        written = written_on_a_terminal([sys.executable, "-m", "tipc", *argv], tmp_path)
        assert not MOVED.search(written), (words, written)
        assert b"Traceback" not in written
        assert b"[7A" in written or words == ["report"], (words, written)  # it was shown, harmless


@pytest.mark.parametrize(
    "parts", [["::error::a\n"], ["a\n", "  ::error::a\n"], ["a\n  ##[group]x"], ["\n\n::x"]]
)
def test_a_line_that_github_would_obey_is_none_any_more(parts: list[str]) -> None:
    stream = io.StringIO()
    out = Visible(stream, {"GITHUB_ACTIONS": "true"})
    for part in parts:
        out.write(part)
    write_command(out, "::error file=a::ours")  # type: ignore[arg-type]
    lines = stream.getvalue().split("\n")
    assert not any(line.lstrip().startswith(("::", "##[")) for line in lines[:-2])
    out.write("a")
    out.write("::b")  # in the middle of a line it is no command
    assert stream.getvalue().endswith("a::b")


@given(st.text())
def test_visible_text_has_nothing_that_is_obeyed(text: str) -> None:
    assert not CONTROL.search(visible(text))
    assert "\n" not in visible_name(text)
    assert str(UsageError(text, path=text, line=1, remedy=text)).count("\x1b") == 0
    stream = io.StringIO()
    Visible(stream, {}).write(text)
    Visible(stream, {}).writelines([text, text])
    assert not CONTROL.search(stream.getvalue())


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cf", "Cs"))))
def test_text_that_is_harmless_stays_as_it_is(text: str) -> None:
    assert visible(text) == visible_name(text) == text


def test_colours_that_are_wished_are_written_into_a_pipe_and_nothing_else_is() -> None:
    stream = io.StringIO()
    out = Visible(stream, {})
    out.write("\x1b[31mred\x1b[0m ")
    assert stream.getvalue() == "\\u001b[31mred\\u001b[0m "
    out.allow_colours()
    out.styled().write("\x1b[31mred\x1b[0m \x1b[2J\x1b]0;title\x07\r")
    assert stream.getvalue().endswith(" \x1b[31mred\x1b[0m \\u001b[2J\\u001b]0;title\\u0007\\u000d")


def test_color_always_reaches_a_pipe(tmp_path: Path) -> None:
    config = tmp_path / "train_infer_python.txt"
    config.write_text(toy_repo.CONFIG.replace("eval:train.py --test-only\n", ""))
    words = [sys.executable, "-m", "tipc", "lint", str(config)]
    plain = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    red = subprocess.run([*words, "--color", "always"], capture_output=True, text=True, check=False).stdout
    assert "error" in plain
    assert "\x1b" not in plain
    assert "\x1b[31;1merror\x1b[0m" in red
