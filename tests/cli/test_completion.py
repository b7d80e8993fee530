"""Completion in the shells themselves: commands, options, modes, names and paths."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tipc.cli.completion import SHELLS, described
from tipc.cli.main import COMMANDS, main


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The script of each shell in a file."""
    folder = tmp_path_factory.mktemp("completion")
    commands = [described(name) for name in COMMANDS]
    made = {}
    for shell, write in SHELLS.items():
        made[shell] = folder / f"tipc.{shell}"
        made[shell].write_text(write(commands), encoding="utf-8")
    return made


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    configs = tmp_path / "test_tipc" / "configs"
    configs.mkdir(parents=True)
    (configs / "a file.txt").write_text("")
    return tmp_path


def by_bash(script: Path, line: str, where: Path) -> list[str]:
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    quoted = " ".join(map(shlex.quote, words))
    asked = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _tipc"
    call = f'source {script}; {asked}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", call], cwd=where, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def by_fish(script: Path, line: str, where: Path) -> list[str]:
    call = f"source {script}; complete -C {shlex.quote(line)}"
    done = subprocess.run(["fish", "-c", call], cwd=where, capture_output=True, text=True, check=True)
    return [found.split("\t")[0] for found in done.stdout.splitlines()]


def by_zsh(script: Path, line: str, where: Path) -> list[str]:
    """A real zsh on a terminal: what it writes after the tabulator key, word by word."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(where)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "PS1": "", "COLUMNS": "300"})
    setup = "autoload -Uz compinit; compinit -u -D; setopt no_beep; LISTMAX=9999"
    os.write(terminal, f"{setup}; source {script}; print READY\n".encode())
    until(terminal, "\nREADY")
    os.write(terminal, f"{line}\t\t".encode())
    seen = until(terminal, "", quiet=1.5)
    os.close(terminal)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", " ", seen).split()


def until(terminal: int, mark: str, quiet: float = 20.0) -> str:
    """What a terminal shows until a mark, or until it has been quiet for a while."""
    seen, last = "", time.monotonic()
    while time.monotonic() - last < quiet:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                seen += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
            last = time.monotonic()
            if mark and mark in seen.replace("\r", ""):
                break
    return seen


ASK = {"bash": by_bash, "fish": by_fish, "zsh": by_zsh}
HERE = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"{name} is not installed"))
    for name in ASK
]


@pytest.mark.parametrize("shell", HERE)
@pytest.mark.parametrize(
    ("line", "wanted", "unwanted"),
    [
        ("tipc ", {"run", "lint", "completion"}, "--mode"),
        ("paddle-tipc com", {"compare", "completion"}, "run"),
        ("tipc run --re", {"--resume", "--rerun-failed", "--retries"}, "--junit"),
        ("tipc plan --dialect ", {"models", "seg"}, "run"),
        ("tipc run --mode whole", {"whole_infer", "whole_train_whole_infer"}, "lite_infer"),
        ("tipc check --level ", {"base", "amp", "pact"}, "run"),
        ("tipc explain TP30", {"TP301", "TP302"}, "TC001"),
        ("tipc completion ", {"bash", "zsh", "fish"}, "run"),
        ("tipc schema ver", {"verdict"}, "plan"),
    ],
)
def test_words_are_completed(
    shell: str, line: str, wanted: set[str], unwanted: str, scripts: dict[str, Path], repo: Path
) -> None:
    found = set(ASK[shell](scripts[shell], line, repo))
    if shell == "zsh" and len(wanted) == 1:  # it is written at once
        found = {word for word in wanted if any(word.endswith(one) or one in word for one in found)}
    assert wanted <= found
    assert unwanted not in found


@pytest.mark.parametrize("shell", HERE)
def test_configs_are_completed_as_paths_beside_modes(
    shell: str, scripts: dict[str, Path], repo: Path
) -> None:
    found = " ".join(ASK[shell](scripts[shell], "tipc run test_tipc/c", repo))
    assert "onfigs" in found
    if shell != "zsh":  # which writes the rest of the word at once
        assert {"lite_train_lite_infer"} <= set(ASK[shell](scripts[shell], "tipc run lite_train_l", repo))
    else:
        assert "lite_train_lite_infer" in " ".join(ASK[shell](scripts[shell], "tipc run x lite_train_", repo))


def test_a_path_with_a_blank_is_one_word_in_bash(scripts: dict[str, Path], repo: Path) -> None:
    assert by_bash(scripts["bash"], "tipc lint test_tipc/configs/", repo) == ["test_tipc/configs/a file.txt"]


def test_another_shell_is_refused_with_those_that_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["completion", "fisch"])
    assert stopped.value.code == 2
    assert "did you mean `fish`?" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_tells_its_options(name: str) -> None:
    command = described(name)
    names = [name for option in command.options for name in option.names]
    assert {"--help", "--lang"} <= set(names)
    assert all(option.help for option in command.options), name
