"""Run a repository's script in isolation, and hand back what it called."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tipc.errors import EnvironmentProblem, UsageError
from tipc.plan.trace import stubs

SECONDS = 60.0  # for the whole script
MOST_CALLS = 4000  # no script has that many; one that loops for ever soon has
QUIET = 8.0  # without a call, but with other commands: real work is stubbed, so this loops for ever
STUCK = 25.0  # without a call and without any other command
ENVIRONMENT = {"HOME": "/root", "USER": "tipc", "LANG": "C.UTF-8", "TERM": "dumb", "SHELL": "/bin/bash"}
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from tipc.plan.trace.jail import main; main()"
INTERPRETER = re.compile(r"/(?:[\w.+-]+/)*(?:python|pip)[\d.]*(?![\w/.-])")


@dataclass(frozen=True)
class Recording:
    """What one run of the script left: raw records, see ``calls``."""

    calls: tuple[tuple[str, ...], ...]
    tees: tuple[tuple[str, ...], ...]
    xtrace: str
    stdout: str
    stderr: str
    exit: int | None  # None: it did not end by itself
    stopped: str  # "", "time", "quiet" or "calls"
    left_out: int
    made: frozenset[str]  # what the script made in the copy, as absolute paths of the repository


def time_limit() -> float:
    """Seconds a script may take: ``TIPC_TRACE_SECONDS``, or 60."""
    text = os.environ.get("TIPC_TRACE_SECONDS", "")
    try:
        seconds = float(text) if text else SECONDS
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise UsageError(f"TIPC_TRACE_SECONDS is `{text}`: not a number of seconds")
    return seconds


def record(
    repo: Path,
    start: Path,
    argv: Sequence[str],
    texts: str,
    leave: Sequence[Sequence[str]],
    programs: Sequence[str],
    variables: Mapping[str, str] | None = None,
) -> Recording:
    """Run ``bash argv…`` in the directory ``start`` of a scratch copy of ``repo``.

    ``texts`` (the script and the config) may name interpreters by absolute path: those become stubs, too.
    ``leave`` says what calls leave behind (see ``demand.Leaving``), ``programs`` which further paths are
    programs, ``variables`` what the caller of the script would have exported.
    """
    seconds = time_limit()
    with tempfile.TemporaryDirectory(prefix="tipc-trace-") as scratch:
        job = {
            "repo": str(repo),
            "scratch": scratch,
            "start": str(repo / start),
            "argv": list(argv),
            "isolate": os.environ.get("TIPC_TRACE_UNISOLATED", "") != "1",
            "core": stubs.core_tools(),
            "stubs": [*stubs.STUBS.split(), *stubs.PYTHONS],
            "wrappers": list(stubs.WRAPPERS),
            "files": {
                "stub": stubs.STUB,
                "wrapper": stubs.WRAPPER,
                "tee": stubs.TEE,
                "sh": stubs.SH,
                "bash_env": stubs.BASH_ENV,
            },
            "leave": [list(item) for item in leave],
            "programs": sorted({*programs, *INTERPRETER.findall(texts)}),
            "environment": {**ENVIRONMENT, **(variables or {})},
            "seconds": seconds,
            "most_calls": MOST_CALLS,
            "quiet": min(QUIET, seconds),
            "stuck": min(STUCK, seconds),
        }
        result = _checked(_start(job, seconds))
    return _recording(result)


def _start(job: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    source = str(Path(__file__).parents[3])
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", BOOT, source],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=seconds + 60,
            cwd="/",
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentProblem("the traced script could not be stopped in time") from error
    if done.returncode != 0:
        raise EnvironmentProblem(f"the tracer broke (exit {done.returncode}): {done.stderr.strip()[-800:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _checked(result: dict[str, Any]) -> dict[str, Any]:
    if "refused" in result:
        raise EnvironmentProblem(
            f"the script cannot be isolated on this machine ({result['refused']}), so it was not run",
            remedy="allow user namespaces here (sysctl user.max_user_namespaces, "
            "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns, or docker "
            "--security-opt seccomp=unconfined), or, if you trust the script, set TIPC_TRACE_UNISOLATED=1: "
            "then only PATH keeps it from real programs",
        )
    return result


def _recording(result: Mapping[str, Any]) -> Recording:
    def back(text: str) -> str:
        return text.replace(*result["moved"]) if "moved" in result else text

    return Recording(
        calls=tuple(tuple(back(word) for word in call) for call in result["calls"]),
        tees=tuple(tuple(back(word) for word in tee) for tee in result["tees"]),
        xtrace=back(result["xtrace"]),
        stdout=back(result["stdout"]),
        stderr=back(result["stderr"]),
        exit=int(result["exit"]) if result["exit"] else None,
        stopped=result["stopped"],
        left_out=result["left_out"],
        made=frozenset(result["made"]),
    )
