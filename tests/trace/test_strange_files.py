"""Whatever lies in the place of a repository's files, looking ends, in little memory, without a traceback."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tipc.bounded import LARGEST, read_beginning, read_bounded, read_bounded_text
from tipc.certify import scaffold
from tipc.config.lint.fix import write_atomically
from tipc.errors import UsageError
from tipc.run.record.disk import write_text
from tipc.settings import read_settings

CONFIG = "test_tipc/configs/toy/train_infer_python.txt"
STRANGE = "test_tipc/configs/strange/own_python.txt"
# Files that one command or another reads beside the config.
BESIDE = (
    "README.md",
    "requirements.txt",
    "test_tipc/README.md",
    "test_tipc/models.json",
    "test_tipc/parity.py",
    "test_tipc/prepare.py",
    "test_tipc/common_func.sh",
    "test_tipc/docs/test_train_inference_python.md",
    "pictures/a.png",
    "lite_data.tar",
)
MEMORY = 1 << 30


def hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def nested(path: Path) -> None:
    path.write_text("a = " + "[" * 200_000)


KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a hole of a terabyte": hole,
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "a directory": lambda path: path.mkdir(),
    "a link to itself": lambda path: path.symlink_to(path),
    "random bytes": lambda path: path.write_bytes(bytes(range(256)) * 40),
    "deeply nested": nested,
    "very many lines": lambda path: path.write_text("a:b\n" * 300_000),
    "one long line": lambda path: path.write_text("/a" * 1_000_000),
}
CALLS = (
    ("lint", "test_tipc"),
    ("plan", CONFIG),
    ("plan", STRANGE),
    ("check",),
    ("docs",),
)


def write(root: Path) -> None:
    for path, text in {
        CONFIG: "model_name:toy\npython:python3\nnorm_train:train.py\n",
        STRANGE: "name:strange\ntrain:train.py\n",
        "test_tipc/strange.sh": "source test_tipc/common_func.sh\npython3 train.py --output-dir=out\n",
        "train.py": "print()\n",
        **dict.fromkeys(BESIDE, "![](pictures/a.png)\n"),
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def look(root: Path, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tipc", *words],
        cwd=root,
        env={**os.environ, "TIPC_HOME": str(root.parent / "tipc")},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=100,
        stdin=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_looking_ends_with_a_message_at_most(tmp_path: Path, kind: str) -> None:
    write(tmp_path / "repo")
    for name in BESIDE:
        (tmp_path / "repo" / name).unlink()
        KINDS[kind](tmp_path / "repo" / name)
    for words in CALLS:
        done = look(tmp_path / "repo", words)
        assert done.returncode in (0, 1, 2), (words, done.stderr)
        assert "Traceback" not in done.stderr, (words, done.stderr)
        assert "Error" not in done.stderr, (words, done.stderr)


@pytest.mark.parametrize("kind", KINDS)
def test_a_config_that_is_none_ends_with_a_message_at_most(tmp_path: Path, kind: str) -> None:
    write(tmp_path / "repo")
    (tmp_path / "repo" / CONFIG).unlink()
    KINDS[kind](tmp_path / "repo" / CONFIG)
    for words in (("plan", CONFIG), ("lint", CONFIG), ("check",)):
        done = look(tmp_path / "repo", words)
        assert done.returncode in (0, 1, 2), (words, done.stderr)
        assert "Traceback" not in done.stderr, (words, done.stderr)


def test_folders_deeper_than_a_path_can_be_long_are_not_looked_at(tmp_path: Path) -> None:
    write(tmp_path / "repo")
    place = os.open(tmp_path / "repo/test_tipc/configs", os.O_RDONLY)
    for _ in range(250):  # of 20 letters each: more than the 4,096 that a path may have
        os.mkdir("d" * 20, dir_fd=place)
        inside = os.open("d" * 20, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inside
    os.close(place)
    for words in (("plan", "test_tipc/configs"), ("lint", "test_tipc"), ("check",)):
        done = look(tmp_path / "repo", words)
        assert done.returncode in (0, 1, 2), (words, done.stderr[-1000:])
    subprocess.run(["rm", "-rf", str(tmp_path / "repo")], check=True)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "a directory"])
def test_settings_that_cannot_be_read_are_refused(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "tipc.toml")
    with pytest.raises(UsageError):
        read_settings(str(tmp_path / "tipc.toml"))


@pytest.mark.parametrize("text", ["tool.tipc = 3\n", "[[tool.tipc]]\nlang = 'en'\n"])
def test_settings_that_are_no_table_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError, match="must be a table"):
        read_settings(str(tmp_path / "pyproject.toml"))


def test_a_pyproject_about_other_tools_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("tool = 'of tool.tipc'\n")
    assert read_settings(str(tmp_path / "pyproject.toml")) is None


def test_a_file_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"a\r\nb\rc\xff" + b"d" * (LARGEST - 7))
    assert len(read_bounded(file)) == LARGEST
    assert read_bounded_text(file, "replace").startswith("a\nb\nc\ufffdd")
    assert read_beginning(file, 6) == "a\nb\nc"
    with file.open("ab") as more:
        more.write(b"x")
    with pytest.raises(OSError, match="larger than 4 MiB"):
        read_bounded(file)


def test_a_file_that_does_not_tell_its_size_is_read_whole_too() -> None:
    status = Path("/proc/self/status")
    assert status.stat().st_size == 0
    assert read_bounded(status).splitlines()[-1].startswith(b"nonvoluntary_ctxt_switches")
    with pytest.raises(OSError, match="larger than 1 KiB"):
        read_bounded("/proc/self/pagemap", 1024)


def replace_record(path: Path) -> None:
    write_text(path, "new\n")


def replace_config(path: Path) -> None:
    write_atomically(path, b"new\n")


def replace_template(path: Path) -> None:
    scaffold.write(path.parent, {path.name: "new\n"}, force=True)


@pytest.mark.parametrize(
    ("replace", "beside"),
    [
        (replace_record, ".{name}.{pid}.part"),
        (replace_config, ".{name}.{pid}"),
        (replace_template, ".{name}.new"),
    ],
)
def test_nothing_is_written_through_a_link_of_the_repository(
    tmp_path: Path, replace: Callable[[Path], None], beside: str
) -> None:
    outside, path = tmp_path / "outside", tmp_path / "repo" / "file"
    outside.write_text("mine\n")
    path.parent.mkdir()
    path.write_text("old\n")
    (path.parent / beside.format(name=path.name, pid=os.getpid())).symlink_to(outside)
    replace(path)
    assert path.read_text() == "new\n"
    assert not path.is_symlink()
    assert outside.read_text() == "mine\n"
