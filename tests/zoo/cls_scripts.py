"""Runs the scripts of zoo/classification as a user does: arguments in, exit code and output out."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).parents[2] / "zoo" / "classification"
SMALL = ("--device=cpu", "--image-size=64")  # about a second an epoch


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def run(folder: Path, script: str, *arguments: str) -> Done:
    """A script in this process, with ``folder`` as the current directory: no second import of paddle."""
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(folder)
    try:
        with (
            mock.patch.object(sys, "argv", [script, *arguments]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            runpy.run_path(str(ROOT / script), run_name="__main__")
        code: object = 0
    except SystemExit as error:
        code = error.code
    finally:
        os.chdir(before)
    return Done(code if isinstance(code, int) else 0 if code is None else 1, out.getvalue(), err.getvalue())


def train(folder: Path, *arguments: str) -> Done:
    """``train.py`` on small images."""
    return run(folder, "train.py", *SMALL, *arguments)


def unpack(folder: Path) -> Path:
    """The lite data in ``folder``."""
    with tarfile.open(ROOT / "lite_data.tar") as tar:
        tar.extractall(folder, filter="data")
    return folder / "lite_data"


def error_line(done: Done) -> str:
    """The one line that bad input must lead to; fails if there is a traceback, no line or more than one."""
    lines = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert done.code != 0, done.out
    assert len(lines) == 1, done.err
    assert "Traceback" not in done.out + done.err
    return lines[0]
