"""A copy of a checkout to run in: with data, and with the row's config for a CPU."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from field.rows import REPOSITORIES, VARIABLES, Row, on_a_cpu
from tipc.errors import UsageError
from tipc.run.record.locks import take_lock

LEFT_OUT = shutil.ignore_patterns(".git", "*.pdf", "*.gif", "*.mp4")


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    code: int | None  # None: it was stopped after the time limit
    seconds: float


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a part of the work folder: a second call there would take this one's files for its own."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = take_lock(folder / ".lock", "another call of the field works here")
    except UsageError as error:
        raise SystemExit(f"{error}, or name another folder: --work DIR") from error
    try:
        yield
    finally:
        os.close(descriptor)


def copy_checkout(row: Row, checkouts: Path, place: Path) -> Path:
    """A fresh copy for one run of one row; returns the model repository's root in it."""
    repository = REPOSITORIES[row.repository]
    shutil.rmtree(place, ignore_errors=True)
    # A folder of the checkout's own name: what is in it may go by that.
    root = place / Path(repository.root).name
    shutil.copytree(checkouts / repository.root, root, symlinks=True, ignore=LEFT_OUT)
    for draw in repository.datasets:
        draw(root)
    if not row.found:
        for repair in (*repository.repairs, *row.repairs):
            _repair(root / repair.file, repair.old, repair.new)
    if repository.module and not row.found:
        # What an installation would do: the repository under the name by which its scripts import it.
        (place / "modules").mkdir()
        (place / "modules" / repository.module).symlink_to(root)
    config = root / "test_tipc/configs" / row.config
    text = config.read_text(encoding="utf-8")
    config.write_text(on_a_cpu(text, (*repository.edits, *row.edits)), encoding="utf-8")
    return root


def _repair(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise SystemExit(f"{path}: the fault that was to be repaired is not there; look at field/rows.py")
    path.write_text(text.replace(old, new), encoding="utf-8")


def environment(row: Row, env: Path, root: Path, first: Path | None = None) -> dict[str, str]:
    """The variables for a run: the repository's environment first, the checkout importable."""
    path = [str(env / "bin"), os.environ.get("PATH", "/usr/bin:/bin")]
    if first is not None:
        path.insert(0, str(first))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TIPC_"))}
    return {
        **kept,
        **({} if row.found else VARIABLES),
        "PATH": ":".join(path),
        "VIRTUAL_ENV": str(env),
        "PYTHONPATH": f"{root.parent / 'modules'}:{root}",
        "HOME": str(root.parent),
        "CUDA_VISIBLE_DEVICES": "",
    }


def run_to_end(argv: list[str], cwd: Path, env: dict[str, str], output: Path, limit: float) -> Ended:
    """Run a program with its output in a file; the whole group is stopped at the limit."""
    start = time.monotonic()
    with output.open("wb") as file:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
    return Ended(code, time.monotonic() - start)
