"""The machine that a run happened on: versions, processor, devices, and the commit of each repository."""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from tipc import __version__

PACKAGES = (
    "paddlepaddle",
    "paddlepaddle-gpu",
    "paddleslim",
    "numpy",
    "opencv-python",
    "opencv-python-headless",
)
# Run by the interpreter of the configs, which need not have tipc. It reads metadata and imports no package.
_ASK = (
    "import sys, json, platform\n"
    "from importlib import metadata\n"
    "found = {}\n"
    "for name in sys.argv[1:]:\n"
    "    try: found[name] = metadata.version(name)\n"
    "    except metadata.PackageNotFoundError: pass\n"
    "print(json.dumps({'python': platform.python_version(), 'packages': found}))\n"
)
_PATIENCE = 20.0
ONEDNN_LIMIT = "ONEDNN_MAX_CPU_ISA"


def describe(repos: Iterable[str] = (), interpreters: Iterable[str] = ()) -> dict[str, Any]:
    """What can change a result on this machine, as JSON. What cannot be found out is left out."""
    return {
        "tipc": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host": socket.gethostname(),
        "cpu": _cpu(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "gpus": _gpus(),
        "interpreters": _told_of(interpreters, _interpreter),
        "repos": _told_of(repos, _commit),
    }


def _told_of(names: Iterable[str], ask: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """What is told of each; those of which nothing is are left out."""
    told = {}
    for name in dict.fromkeys(names):
        answer = ask(name)
        if answer:
            told[name] = answer
    return told


class Processor(TypedDict, total=False):
    """The processor, as Linux tells it."""

    cores: int
    model: str
    flags: list[str]
    onednn_limit: str  # the instructions that oneDNN was told to use at most


class InterpreterFacts(TypedDict):
    """An interpreter of configs."""

    python: str
    packages: dict[str, str]


class Commit(TypedDict):
    """Where a repository stands."""

    commit: str
    changed: bool


class Environment(TypedDict, total=False):
    """What ``describe`` tells."""

    tipc: str
    python: str
    platform: str
    host: str
    cpu: Processor
    memory: int
    gpus: list[dict[str, str]]
    interpreters: dict[str, InterpreterFacts]
    repos: dict[str, Commit]


def environment_from_json(data: object) -> Mapping[str, Any]:
    """What ``describe`` told, read from a file; ValueError for something else."""
    return cast("Mapping[str, Any]", _adapter().validate_python(data))


@cache
def _adapter() -> TypeAdapter[Environment]:
    return TypeAdapter(Environment)


def _cpu() -> dict[str, Any]:
    facts: dict[str, Any] = {"cores": len(os.sched_getaffinity(0))}
    limit = os.environ.get(ONEDNN_LIMIT)
    if limit:
        facts["onednn_limit"] = limit
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return facts
    for line in text.split("\n\n")[0].splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            facts["model"] = value.strip()
        elif name.strip() in ("flags", "Features"):
            facts["flags"] = value.split()
    return facts


def _gpus() -> list[dict[str, str]]:
    query = "name,driver_version,memory.total,compute_cap"
    told = _output(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"])
    gpus = []
    for line in told.splitlines():
        values = map(str.strip, line.split(","))
        gpus.append(dict(zip(query.split(","), values, strict=False)))
    return gpus


def _interpreter(path: str) -> dict[str, Any]:
    # Not here: with -c, Python would look into the current directory, a repository, for what it imports.
    if os.sep in path:
        path = os.path.abspath(path)
    told = _output([path, "-c", _ASK, *PACKAGES], cwd=os.sep)
    try:
        answer = json.loads(told)
    except ValueError:
        return {}
    if not isinstance(answer, dict):
        return {}
    return answer


def _commit(repo: str) -> dict[str, Any]:
    # A repository's own settings can name a program for git to run.
    git = ["git", "-c", "core.fsmonitor=false", "-C", repo]
    commit = _output([*git, "rev-parse", "HEAD"]).strip()
    if not commit:
        return {}
    changes = _output([*git, "status", "--porcelain", "--untracked-files=no"])
    return {"commit": commit, "changed": bool(changes.strip())}


def _output(argv: list[str], cwd: str | None = None) -> str:
    """What a program says, or nothing if it is not there, fails or hangs."""
    try:
        done = subprocess.run(
            argv, capture_output=True, timeout=_PATIENCE, check=True, stdin=subprocess.DEVNULL, cwd=cwd
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")
