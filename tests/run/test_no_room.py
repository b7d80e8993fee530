"""No room on the disk at any write of a run: a clear message, nothing half-written, and it goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import toy_repo
from toy_repo import events, journals, states

from tipc.certify.verdict_store import load_verdict
from tipc.run.record.run_store import load_run

# The nth thing that this process, and none that it starts, would put on the disk below $FULL_BELOW finds no
# room, and so does all that follows. Which it was is written to $FULL_TOLD.
FULL = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static long left = -1;
static char below[PATH_MAX], told[PATH_MAX];
__attribute__((constructor)) static void begin(void) {
    if (getenv("FULL_AT")) {
        left = atol(getenv("FULL_AT"));
        strcpy(below, getenv("FULL_BELOW"));
        strcpy(told, getenv("FULL_TOLD"));
    }
    unsetenv("LD_PRELOAD");
}
static int full(const char *path, const char *what) {
    if (left < 0 || strncmp(path, below, strlen(below)) || !strcmp(path, told)) return 0;
    if (left > 0) left--;
    if (left > 0) return 0;
    ssize_t (*put)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    int (*make)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    int file = make(told, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file >= 0) {
        char line[PATH_MAX + 32];
        put(file, line, snprintf(line, sizeof line, "%s %s\\n", what, path));
        close(file);
    }
    errno = ENOSPC;
    return 1;
}
static int full_file(int file, const char *what) {
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return full(path, what);
}
#define OPEN(name) \\
    int name(const char *path, int flags, ...) { \\
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \\
        if ((flags & O_CREAT) && access(path, F_OK) && full(path, "create")) return -1; \\
        int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, #name); \\
        return next(path, flags, mode); \\
    }
OPEN(open)
OPEN(open64)
#define WRITE(name, offset) \\
    ssize_t name(int file, const void *data, size_t count, offset at) { \\
        if (full_file(file, "write")) return -1; \\
        ssize_t (*next)(int, const void *, size_t, offset) = dlsym(RTLD_NEXT, #name); \\
        return next(file, data, count, at); \\
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)
ssize_t write(int file, const void *data, size_t count) {
    if (full_file(file, "write")) return -1;
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    return next(file, data, count);
}
int mkdir(const char *path, mode_t mode) {
    if (access(path, F_OK) && full(path, "mkdir")) return -1;
    int (*next)(const char *, mode_t) = dlsym(RTLD_NEXT, "mkdir");
    return next(path, mode);
}
int link(const char *from, const char *path) {
    if (access(path, F_OK) && full(path, "link")) return -1;
    int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "link");
    return next(from, path);
}
"""
MOST = 200
STRIDE = 1 if os.environ.get("TIPC_SWEEP") else 5  # every write with TIPC_SWEEP=1 (`make sweep`)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no compiler for a disk without room")
    folder = tmp_path_factory.mktemp("full")
    (folder / "full.c").write_text(FULL)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "full.so", folder / "full.c"], check=True)
    return folder / "full.so"


def without_room(place: Path, library: Path, at: int) -> tuple[subprocess.CompletedProcess[str], str]:
    """A run that finds no room at one of its writes; what that was, empty if it came to its end before."""
    config = toy_repo.make(place / "repo")
    told = place / "told"
    env = {
        "LD_PRELOAD": str(library), "FULL_AT": str(at), "FULL_BELOW": str(place), "FULL_TOLD": str(told),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    done = toy_repo.tipc_run(place, config, "--only", "train,eval", env=env)
    first = told.read_text().splitlines()[0] if told.exists() else ""
    return done, first


def and_goes_on(place: Path) -> None:
    """With room again: what was begun goes on, what was not is started; what had passed is not done again."""
    known = journals(place)
    words: list[str | Path] = ["--resume"]
    if not known:
        words = [place / "repo/test_tipc/configs/toy/train_infer_python.txt", "--only", "train,eval"]
    passed = {step for step, state in states(known[0]).items() if state == "passed"} if known else set()
    count = len(events(known[0])) if known else 0
    done = toy_repo.tipc_run(place, *words)
    if known and done.returncode == 1:
        done = toy_repo.tipc_run(place, "--rerun-failed")
    assert done.returncode == 0, done.stdout + done.stderr
    (journal,) = journals(place)
    assert states(journal) == {"train": "passed", "eval": "passed"}
    later = [
        event["step"].rpartition("/")[2] for event in events(journal)[count:] if event["event"] == "start"
    ]
    assert not passed & set(later)


def try_at(place: Path, library: Path, at: int) -> str:
    done, what = without_room(place, library, at)
    print(f"{at}: {what.replace(str(place), '')}: exit {done.returncode}: {done.stderr.strip()[:100]}")
    assert "Traceback" not in done.stdout + done.stderr, (what, done.stderr)
    if what:
        assert done.returncode in (0, 1, 3), (what, done.stdout + done.stderr)
        assert "no room left" in done.stdout + done.stderr, (what, done.stdout + done.stderr)
    else:
        assert done.returncode == 0, done.stdout + done.stderr
    assert not list(place.rglob("*.part"))
    and_goes_on(place)
    return what


@pytest.mark.parametrize("at", [1, 8, 14, 20, 28, 33])
def test_no_room_at_a_write_loses_nothing(tmp_path: Path, library: Path, at: int) -> None:
    assert try_at(tmp_path, library, at)


def test_no_room_for_a_verdict_costs_no_step(tmp_path: Path, library: Path) -> None:
    assert toy_repo.tipc_run(tmp_path, toy_repo.make(tmp_path / "repo")).returncode == 0
    (journal,) = journals(tmp_path)
    env = {
        **os.environ, "LD_PRELOAD": str(library), "FULL_AT": "1",
        "FULL_BELOW": f"{journal.parent}/.verdict.json", "FULL_TOLD": str(tmp_path / "told"),
    }  # fmt: skip
    words = [sys.executable, "-m", "tipc", "certify"]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "no room left on the disk" in done.stderr
    assert f"tipc certify {journal.parent.name}" in done.stderr
    assert not list(tmp_path.rglob("*.part"))
    assert not (journal.parent / "verdict.json").exists()
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1  # the toy trains nothing
    assert load_verdict(load_run(journal.parent)) is not None


@pytest.mark.slow
def test_no_room_at_any_write_loses_nothing(tmp_path: Path, library: Path) -> None:
    for at in range(1, MOST, STRIDE):
        place = tmp_path / str(at)
        place.mkdir()
        if not try_at(place, library, at):
            break
    else:
        raise AssertionError(f"a run of two steps wrote more than {MOST} times")
    assert at > 20
