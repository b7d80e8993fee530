"""The process that runs a script in isolation: ``sandbox`` gives it a job on stdin, it prints a JSON result.

Outside, it prepares a root in memory with the copy of the repository at the very path of the repository, so
that ``$(pwd)`` is what it would be. Inside are the script, its stubs and the core utilities. When the script
has ended, or its time is up, the first process of the pid namespace goes, and the kernel kills the others.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tipc.plan.trace.copying import copy_tree
from tipc.plan.trace.namespaces import (
    COPY_LIMIT,
    bind,
    enter,
    limit_self,
    make_root,
    memory,
    seal,
    unshare_all,
)

BASE = "/.tipc"
END = "\x1etipc\x1e"  # of a record
UNREDIRECTED = 219  # the script's own stdout: a stub that still has it writes into no log
CHANNELS = {"stdout": 1, "stderr": 2, "xtrace": 217, "calls": 218}  # and their descriptors in the script
LOOPING = 4000  # bytes of commands without a call: a script that waits for something in a loop
GRACE = 4.0  # for background jobs after the script has ended
MOST_NEW = 20_000
MOST_TEXT = 4 * 1024 * 1024


def main() -> None:
    """Run the job of stdin and print what happened; ``refused`` if this machine cannot isolate."""
    job = json.load(sys.stdin)
    if not job["isolate"]:
        json.dump(open_run(job), sys.stdout)
        return
    try:
        unshare_all()
        make_root(job["scratch"])
    except OSError as error:
        json.dump({"refused": str(error)}, sys.stdout)
        return
    json.dump(isolated(job), sys.stdout)


def isolated(job: dict[str, Any]) -> dict[str, Any]:
    """In namespaces and a root of its own; nothing that the script does reaches the machine."""
    root = job["scratch"]
    memory(root + job["repo"], COPY_LIMIT)
    left_out = copy_tree(job["repo"], root + job["repo"])
    for name, path in job["core"].items():
        for place in (f"{root}{BASE}/core/{name}", f"{root}/usr/bin/{name}"):
            if name in ("tee", "sleep") and place.startswith(f"{root}/usr"):
                continue  # stubs stand before these two
            os.makedirs(os.path.dirname(place), exist_ok=True)
            Path(place).touch()
            bind(os.path.realpath(path), place)
    install(job, root, BASE)
    for name in (*job["stubs"], "sh", "tee", "sleep"):
        place = f"{root}/usr/bin/{name}"
        if not os.path.lexists(place):
            os.symlink(f"{BASE}/bin/{name}", place)
    memory(f"{root}{BASE}/out", "64m")
    seal(root)
    channels = open_channels()
    first = os.fork()
    if first == 0:
        enter(root)
        be_first_process(job, BASE, channels)
    ended = watch(first, f"{root}{BASE}", job, channels)
    made = new_paths(job["repo"], root + job["repo"])
    return {**ended, "left_out": left_out, "made": made}


def open_run(job: dict[str, Any]) -> dict[str, Any]:
    """The user's own risk: only PATH keeps the script from real programs. For machines without namespaces."""
    base, repo = f"{job['scratch']}/.tipc", f"{job['scratch']}/repo"
    left_out = copy_tree(job["repo"], repo)
    os.makedirs(f"{base}/core")
    for name, path in job["core"].items():
        os.symlink(path, f"{base}/core/{name}")
    moved = json.loads(json.dumps(job).replace(json.dumps(job["repo"])[1:-1], json.dumps(repo)[1:-1]))
    moved["programs"] = [path for path in moved["programs"] if path.startswith(f"{repo}/")]
    install(moved, "", base)
    channels = open_channels()
    first = os.fork()
    if first == 0:
        os.setsid()
        be_first_process(moved, base, channels)
    ended = watch(first, base, job, channels, group=True)
    made = new_paths(job["repo"], repo)
    moved_back = [repo, job["repo"]]
    return {**ended, "left_out": left_out, "made": made, "moved": moved_back}


def install(job: dict[str, Any], root: str, base: str) -> None:
    """Write the stubs, and what each call is to leave behind, below ``root``."""
    real = root + base
    for directory in ("bin", "core", "out"):
        os.makedirs(f"{real}/{directory}", exist_ok=True)
    for name, content in job["files"].items():
        path = f"{real}/{name}"
        Path(path).write_text(content.replace("@BASE@", base).replace("@END@", END), encoding="utf-8")
        os.chmod(path, 0o755)
    for name in (*job["stubs"], "sleep"):
        os.symlink(f"{base}/stub", f"{real}/bin/{name}")
    for name in ("sh", "tee"):
        os.symlink(f"{base}/{name}", f"{real}/bin/{name}")
    for name in job["wrappers"]:
        os.symlink(f"{base}/wrapper", f"{real}/bin/{name}")
    Path(f"{real}/leave").write_bytes(terminated([word for item in job["leave"] for word in item]))
    for program in job["programs"]:
        if not os.path.lexists(root + program):
            os.makedirs(os.path.dirname(root + program), exist_ok=True)
            os.symlink(f"{base}/stub", root + program)


def terminated(words: list[str]) -> bytes:
    """The words as bash prints them with ``printf '%s\\0'``."""
    return b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in words)


def open_channels() -> dict[str, int]:
    """Files in memory that have no name: what the script says, does and calls goes there."""
    return {name: os.memfd_create(name) for name in CHANNELS}


def be_first_process(job: dict[str, Any], base: str, channels: dict[str, int]) -> None:
    """Start the script, reap what dies, wait a little for background jobs, and end. Never returns."""
    os.chdir(job["start"])
    path = f"{base}/bin:" + ("/usr/bin:/bin" if job["isolate"] else f"{base}/core")
    environment = {**job["environment"], "PATH": path, "BASH_ENV": f"{base}/bash_env"}
    appending = {
        name: os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_APPEND) for name, fd in channels.items()
    }
    script = os.fork()
    if script == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for name, number in CHANNELS.items():
            os.dup2(appending[name], number)
        os.dup2(1, UNREDIRECTED)
        limit_self()
        os.execve(f"{base}/core/bash", ["bash", *job["argv"]], environment)
    deadline = None
    while deadline is None or time.monotonic() < deadline:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid == script:
            Path(f"{base}/out/exit").write_text(str(os.waitstatus_to_exitcode(status)), encoding="ascii")
            deadline = time.monotonic() + GRACE
        elif pid == 0:
            time.sleep(0.005)
    os._exit(0)


def watch(
    first: int, base: str, job: dict[str, Any], channels: dict[str, int], group: bool = False
) -> dict[str, Any]:
    """Wait for the end, the time limit, a long silence or too many calls; then nothing of it stays alive."""
    started = changed = time.monotonic()
    size, traced, why = 0, 0, ""
    while not why:
        pid, _ = os.waitpid(first, os.WNOHANG)
        if pid:
            break
        now, written = time.monotonic(), os.fstat(channels["calls"]).st_size
        if written > size:
            size, changed, traced = written, now, os.fstat(channels["xtrace"]).st_size
            if len(records(channels["calls"])) > job["most_calls"]:
                why = "calls"
        if now - started > job["seconds"]:
            why = "time"
        elif now - changed > job["quiet"] and not os.path.exists(f"{base}/out/exit"):
            looping = os.fstat(channels["xtrace"]).st_size > traced + LOOPING
            why = "quiet" if looping or now - changed > job["stuck"] else ""
        time.sleep(0.01)
    if group:
        kill(os.killpg, first)
    if why:
        kill(os.kill, first)
        os.waitpid(first, 0)
    ordered = sorted(records(channels["calls"]), key=lambda words: words[1])
    return {
        "stopped": why,
        "calls": [words[1:] for words in ordered if words[0] == "call"],
        "tees": [words[1:] for words in ordered if words[0] == "tee"],
        "xtrace": text(channels["xtrace"], 3 * MOST_TEXT),
        "stdout": text(channels["stdout"]),
        "stderr": text(channels["stderr"]),
        "exit": read(f"{base}/out/exit"),
    }


def kill(how: Callable[[int, int], None], pid: int) -> None:
    """Kill it, if it is still there."""
    with suppress(ProcessLookupError):
        how(pid, signal.SIGKILL)


def text(channel: int, most: int = MOST_TEXT) -> str:
    """The beginning of a channel."""
    return os.pread(channel, most, 0).decode("utf-8", "surrogateescape")


def records(channel: int) -> list[list[str]]:
    """The records so far, each with its kind and its time first."""
    whole = text(channel, 16 * MOST_TEXT).split(f"{END}\0")[:-1]
    return [record.split("\0")[:-1] for record in whole]


def read(path: str, most: int = MOST_TEXT) -> str:
    """The beginning of a file as text; empty if it has gone."""
    try:
        with open(path, "rb") as file:
            return file.read(most).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def new_paths(repo: str, copy: str) -> list[str]:
    """What the script made in the copy, as paths of the repository."""
    found = []
    for directory, directories, files in os.walk(copy):
        here = repo + directory[len(copy) :]
        found += [
            f"{here}/{name}" for name in (*directories, *files) if not os.path.lexists(f"{here}/{name}")
        ]
    return found[:MOST_NEW]
