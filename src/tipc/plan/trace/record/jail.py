"""The process that shuts a script in: ``sandbox`` gives it a job on stdin, it prints a JSON result.

Three processes, each with less than the one before::

    supervisor   the caller's rights; starts the builder, says which id it is, waits, prints the result
    builder      in namespaces of its own, as an id that is nobody's; lays out the world
    first        process 1 of that world: moves in, gives up every right, and only then writes what the
                 repository holds and starts its script. When it ends, the kernel kills all others.

Results come back through files in memory that have no name: there is no path that a script could redirect.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from tipc.plan.trace.record import namespaces as ns
from tipc.plan.trace.record import syscalls, watch, world
from tipc.plan.trace.record.snapshot import TreeEntry, lay_out

SLACK = 30.0  # seconds for all but the script itself
ROOM = 128 * 1024 * 1024  # for what the script writes into its copy
NAMES = 20_000
PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_RESULT = 256 * 1024 * 1024


def main() -> None:
    """Run the job of stdin and print what happened; ``refused`` if this machine cannot isolate."""
    job = json.load(sys.stdin)
    job["entries"] = [TreeEntry(*entry) for entry in job["entries"]]
    os.set_inheritable(job["memory"], False)  # the script has no business there
    ns.die_with_parent()
    os.umask(0o022)
    if job["isolate"]:
        sys.stdout.write(isolated(job))
    else:
        json.dump(in_the_open(job), sys.stdout)


def isolated(job: dict[str, Any]) -> str:
    """The result, as JSON, of the script in a world of its own; nothing that it does reaches the machine."""
    channels = watch.open_channels()
    result = os.memfd_create("result")
    ready, tell_ready = os.pipe()
    go_on, tell_go_on = os.pipe()
    builder = os.fork()
    if builder == 0:
        os.close(ready)
        os.close(tell_go_on)
        _answering(result, lambda: _build(job, channels, result, tell_ready, go_on))
    os.close(tell_ready)
    os.close(go_on)
    if os.read(ready, 1):  # nothing: the builder has ended, and its answer says why
        try:
            ns.map_ids(builder)
        except OSError as error:
            os.kill(builder, signal.SIGKILL)
            return json.dumps({"refused": str(error)})
        os.write(tell_go_on, b"1")
    if not _ended(builder, job["seconds"] + SLACK):
        os.kill(builder, signal.SIGKILL)  # and with it, the whole world that it made
        return json.dumps({"broken": "it did not end in time"})
    answer = os.pread(result, MOST_RESULT, 0).decode("utf-8", "replace")
    return answer or json.dumps({"broken": "it ended without a result"})


def _ended(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return True
        time.sleep(watch.PAUSE)
    return False


def _answering(result: int, action: Callable[[], Any]) -> None:
    """In a child: write what the action returns, or why it could not be done, and end. Never returns."""
    try:
        answer = action()
    except OSError as error:
        answer = {"refused": str(error)}
    except BaseException as error:  # noqa: BLE001 - told by the parent, which must not run on in two processes
        answer = {"broken": f"{type(error).__name__}: {error}"}
    if answer:
        os.write(result, json.dumps(answer).encode())
    os._exit(0)


def _build(job: dict[str, Any], channels: Mapping[str, int], result: int, ready: int, go_on: int) -> None:
    """The builder: becomes nobody in namespaces of its own, lays out the world, waits for its end."""
    os.setsid()
    if os.geteuid() == 0:
        os.setgroups([])
    ns.unshare()
    os.write(ready, b"1")
    os.close(ready)
    if not os.read(go_on, 1):
        return
    ns.become_inside_user()
    entries = job["entries"]
    size = ROOM
    for entry in entries:
        if entry.offset >= 0:
            size += _on_disk(entry.size)
    world.build(job["core"], job["repo"], size, len(entries) + NAMES)
    first = os.fork()
    if first == 0:
        _answering(result, lambda: _be_first(job, channels))
    ns.die_with_parent()
    os.waitpid(first, 0)


def _on_disk(size: int) -> int:
    return -(-size // PAGE) * PAGE


def _be_first(job: dict[str, Any], channels: Mapping[str, int]) -> dict[str, Any]:
    """Process 1 of the world: everything from here on happens in there, and without any right."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.path.clear()  # no module of the world is ever imported
    world.move_in()
    elsewhere = [path for path in job["programs"] if not _is_below(path, job["repo"])]
    install(job, world.BASE, elsewhere)
    for name in (*job["stubs"], "sh", *world.STUBBED):
        with suppress(FileExistsError):
            os.symlink(f"{world.BASE}/bin/{name}", f"/usr/bin/{name}")
    ns.memory(f"{world.BASE}/out", "32m", 4096)
    world.seal()
    ns.give_up_rights()
    syscalls.filter_self(ns.libc())
    ns.die_with_parent()
    try:
        return _run(job, channels)
    except OSError as error:
        return {"broken": str(error)}


def _run(job: dict[str, Any], channels: Mapping[str, int]) -> dict[str, Any]:
    repo, entries = job["repo"], job["entries"]
    lay_out(job["memory"], entries, repo)
    for program in job["programs"]:
        if _is_below(program, repo):
            _stand_in(program, world.BASE)
    done = watch.run_script(job, world.BASE, f"{world.BASE}/bin:/usr/bin:/bin", channels)
    return {**done, "made": watch.new_names(repo, (entry.path for entry in entries))}


def in_the_open(job: dict[str, Any]) -> dict[str, Any]:
    """The user's own risk: only PATH keeps the script from real programs. For machines without namespaces."""
    scratch = job["scratch"]
    base, repo = f"{scratch}/.tipc", f"{scratch}/repo"
    lay_out(job["memory"], job["entries"], repo)
    os.makedirs(f"{base}/core")
    os.makedirs(f"{base}/out")
    for name, path in job["core"].items():
        os.symlink(path, f"{base}/core/{name}")
    known, job["entries"] = job["entries"], []
    moved = json.loads(json.dumps(job).replace(json.dumps(job["repo"])[1:-1], json.dumps(repo)[1:-1]))
    inside = [path for path in moved["programs"] if _is_below(os.path.realpath(path), repo)]
    install(moved, base, inside)
    ns.adopt_orphans()
    done = watch.run_script(moved, base, f"{base}/bin:{base}/core", watch.open_channels())
    made = watch.new_names(repo, (entry.path for entry in known))
    return {**done, "made": made, "moved": [repo, job["repo"]]}


def _is_below(path: str, parent: str) -> bool:
    return os.path.normpath(path).startswith(f"{parent}/")


def install(job: dict[str, Any], base: str, programs: list[str]) -> None:
    """Write the stubs, and what each call is to leave behind; put stubs where scripts name a program."""
    os.makedirs(f"{base}/bin", exist_ok=True)
    for name, content in job["files"].items():
        path = f"{base}/{name}"
        ns.write(path, content.replace("@BASE@", base).replace("@END@", watch.END))
        os.chmod(path, 0o755)
    for name in (*job["stubs"], "sleep"):
        os.symlink(f"{base}/stub", f"{base}/bin/{name}")
    for name in ("sh", "tee"):
        os.symlink(f"{base}/{name}", f"{base}/bin/{name}")
    for name in job["wrappers"]:
        os.symlink(f"{base}/wrapper", f"{base}/bin/{name}")
    leave: list[str] = []
    for item in job["leave"]:
        leave += item
    _write_words(f"{base}/leave", leave)
    inside = [program for program in job["programs"] if _is_below(program, job["repo"])]
    _write_words(f"{base}/programs", inside)
    for program in programs:
        _stand_in(program, base)


def _write_words(path: str, words: list[str]) -> None:
    """A file of words, each with a NUL behind it."""
    with open(path, "wb") as file:
        for word in words:
            file.write(os.fsencode(word) + b"\0")


def _stand_in(program: str, base: str) -> None:
    """A stub at the path of a program; a path that cannot be made stays without one."""
    with suppress(OSError):
        os.makedirs(os.path.dirname(program), exist_ok=True)
        with suppress(FileNotFoundError):
            os.unlink(program)  # of the copy: one that was compiled
        os.symlink(f"{base}/stub", program)
