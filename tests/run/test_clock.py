"""A clock that jumps by a day, also while a step runs: times stay times, the newest run the newest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import toy_repo
from run_plans import plan_of, step

from tipc.run.record import run_store
from tipc.run.record.results import StepResult
from tipc.run.record.run_store import create_run, find_run, load_run, runs

DAY = 86_400
# A clock that is off by as many seconds as the file $JUMP says, whenever it is asked.
JUMPING = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t which, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, which, now);
    char *name = getenv("JUMP");
    if (which == CLOCK_REALTIME && name) {
        char text[32] = {0};
        int file = open(name, O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            if (read(file, text, sizeof text - 1) > 0)
                now->tv_sec += atol(text);
            close(file);
        }
    }
    return result;
}
"""
# In the middle of the training the clock jumps; what it writes then is dated by the new one.
JUMPS = """\
import os
if os.path.exists("jump"):
    os.rename("jump", "jumped.part")
    os.replace("jumped.part", os.environ["JUMP"])
"""


@pytest.fixture
def clock(tmp_path: Path) -> dict[str, str]:
    """The environment in which the clock can be made to jump."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no compiler for a clock that jumps")
    (tmp_path / "clock.c").write_text(JUMPING)
    library = tmp_path / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "clock.c"], check=True)
    (tmp_path / "offset").write_text("0")
    return {"LD_PRELOAD": str(library), "JUMP": str(tmp_path / "offset")}


def repo_that_jumps(place: Path, seconds: int) -> Path:
    config = toy_repo.make(place / "repo")
    train = place / "repo/train.py"
    train.write_text(JUMPS + train.read_text())
    (place / "repo/jump").write_text(str(seconds))
    return config


@pytest.mark.parametrize("seconds", [-DAY, DAY])
def test_a_clock_that_jumps_in_a_step_spoils_nothing(
    tmp_path: Path, clock: dict[str, str], seconds: int
) -> None:
    done = toy_repo.tipc_run(tmp_path, repo_that_jumps(tmp_path, seconds), env=clock)
    assert done.returncode == 0, done.stdout + done.stderr
    run = load_run(toy_repo.journals(tmp_path)[0].parent)
    train = next(result for (_plan, name), result in run.results.items() if name.endswith("/train"))
    assert all(0 <= result.wall < DAY / 2 for result in run.results.values())
    assert abs(train.clock - seconds) < DAY / 100
    others = [result.clock for result in run.results.values() if result is not train]
    assert set(others) == {0.0}
    report = [sys.executable, "-m", "tipc", "report", "--junit"]
    told = subprocess.run(
        report, cwd=tmp_path, env={**os.environ, **clock}, capture_output=True, text=True, check=True
    )
    assert 'time="-' not in told.stdout


def test_a_run_goes_on_after_the_clock_has_jumped(tmp_path: Path, clock: dict[str, str]) -> None:
    config = toy_repo.make(tmp_path / "repo")
    (tmp_path / "repo/behave").write_text("fail")
    assert toy_repo.tipc_run(tmp_path, config, env=clock).returncode == 1
    (tmp_path / "offset").write_text(str(-DAY))
    (tmp_path / "repo/behave").unlink()
    done = toy_repo.tipc_run(tmp_path, "--rerun-failed", env=clock)
    assert done.returncode == 0, done.stdout + done.stderr
    (journal,) = toy_repo.journals(tmp_path)
    assert toy_repo.states(journal) == dict.fromkeys(toy_repo.STEPS, "passed")


def test_the_newest_run_is_the_last_that_was_started_whatever_the_clock_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(tmp_path, step("train"))
    made = []
    for now in (5e9, 5e9 - DAY, 1e9, 4e9):
        monkeypatch.setattr(run_store.time, "time", lambda now=now: now)
        with create_run([plan], {}, where=tmp_path) as journal:
            made.append(journal.directory)
        assert find_run(None, tmp_path) == made[-1]
    assert runs(tmp_path) == made


def test_files_of_a_step_are_dated_by_the_clock_that_it_saw() -> None:
    assert StepResult("p", "s", started=1000.0, wall=5.0).since == 1000.0
    assert StepResult("p", "s", started=1000.0, wall=5.0, clock=-300.0).since == 700.0
    assert StepResult("p", "s", started=1000.0, wall=5.0, clock=300.0).until == 1305.0
