"""A disk without room: a clear message, the right exit code, nothing half-written, a run that can go on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import toy_repo

FILL = """\
import os, sys
if os.path.exists("behave"):
    with open("big", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError as error:
            if open("behave").read() == "tidy":
                os.remove("big")
            sys.exit(str(error))
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """A repository for a disk of 3 MB, which exists only inside ``on_small_disk``."""
    allowed = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
    if allowed.returncode:
        pytest.skip("a disk of its own cannot be mounted here")
    toy_repo.make(tmp_path / "source/repo")
    train = tmp_path / "source/repo/train.py"
    train.write_text(FILL + train.read_text())
    return tmp_path


def on_small_disk(place: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a directory of 3 MB that holds the repository; ``after`` is a copy of what is left."""
    (place / "disk").mkdir()
    whole = (
        f"mount -t tmpfs -o size=3m tmpfs {place}/disk && cd {place}/disk && cp -r {place}/source/. .\n"
        f"{script}\n"
        f"rm -f repo/big; cp -r . {place}/after\n"
    )
    return subprocess.run(
        ["unshare", "-rm", "bash", "-c", whole], capture_output=True, text=True, timeout=100, check=False
    )


RUN = f"{sys.executable} -m tipc run --cold --no-checks"
CONFIG = "repo/test_tipc/configs/toy/train_infer_python.txt"


def test_a_step_that_fills_the_disk_and_leaves_it_full(small_disk: Path) -> None:
    (small_disk / "source/repo/behave").write_text("leave")
    done = on_small_disk(
        small_disk,
        f"{RUN} {CONFIG}; echo code=$?\nrm -f repo/big repo/behave\n{RUN} --rerun-failed; echo code=$?",
    )
    codes = [line for line in done.stdout.splitlines() if line.startswith("code=")]
    assert codes[0] in ("code=1", "code=3"), done.stdout + done.stderr
    assert "no room left on the disk" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert codes[1] == "code=0", done.stdout + done.stderr
    (journal,) = toy_repo.journals(small_disk / "after")
    assert toy_repo.states(journal) == dict.fromkeys(toy_repo.STEPS, "passed")


def test_a_step_that_fills_the_disk_and_tidies_up_has_that_as_its_cause(small_disk: Path) -> None:
    (small_disk / "source/repo/behave").write_text("tidy")
    done = on_small_disk(small_disk, f"{RUN} {CONFIG}; echo code=$?")
    assert "code=1" in done.stdout, done.stdout + done.stderr
    assert "cause    no room left on the disk" in done.stdout


def test_a_disk_that_is_full_from_the_start_is_an_error_of_the_environment(small_disk: Path) -> None:
    fill = "head -c 10000000 /dev/zero > repo/big 2>/dev/null; ls -a > before"
    done = on_small_disk(small_disk, f"{fill}\n{RUN} {CONFIG}; echo code=$?")
    assert "code=3" in done.stdout, done.stdout + done.stderr
    assert "no room left" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_line_of_a_journal_that_met_a_full_disk_is_whole(small_disk: Path) -> None:
    (small_disk / "source/repo/behave").write_text("leave")
    on_small_disk(small_disk, f"{RUN} {CONFIG}")
    (journal,) = toy_repo.journals(small_disk / "after")
    assert journal.read_bytes().endswith(b"\n")
    assert all(json.loads(line)["event"] for line in journal.read_text().splitlines())
    shutil.rmtree(small_disk / "after")
