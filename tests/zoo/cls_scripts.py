"""Runs the scripts of zoo/classification as a user does: with arguments, in a folder, to an exit code and its
output."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "zoo" / "classification"
SMALL = ("--image-size=64", "--seed=3")  # a quarter of a second an epoch


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Scripts:
    """The scripts in this process, with ``folder`` as the current directory: no second import of paddle."""

    folder: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def run(self, script: str, *arguments: str) -> Done:
        self.monkeypatch.chdir(self.folder)
        self.monkeypatch.setattr(sys, "argv", [str(ROOT / script), *arguments])
        self.capsys.readouterr()
        try:
            runpy.run_path(str(ROOT / script), run_name="__main__")
            code: object = 0
        except SystemExit as error:
            code = error.code
        out, err = self.capsys.readouterr()
        return Done(code if isinstance(code, int) else 0 if code is None else 1, out, err)

    def train(self, *arguments: str) -> Done:
        return self.run("train.py", "--device=cpu", *SMALL, *arguments)


def start(folder: Path, script: str, *arguments: str, **options: object) -> subprocess.Popen[str]:
    """A script in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", str(ROOT / script), *arguments],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


def unpack(folder: Path) -> Path:
    with tarfile.open(ROOT / "lite_data.tar") as tar:
        tar.extractall(folder, filter="data")
    return folder / "lite_data"


def is_one_clear_line(done: Done) -> bool:
    """What bad input must lead to: an exit code, one line that says why, and no traceback."""
    lines = [line for line in done.err.splitlines() if line.startswith("error: ")]
    return done.code != 0 and len(lines) == 1 and "Traceback" not in done.err + done.out
