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

from tipc.errors import EnvironmentProblem, UsageError, wording
from tipc.plan.trace.record import stubs
from tipc.plan.trace.record.snapshot import SKIPPED, Listing, TreeEntry, list_repository, read_contents

SECONDS = 60.0  # for the whole script
MOST_CALLS = 4000  # no script has that many; one that loops for ever soon has
QUIET = 8.0  # without a call, but with other commands: real work is stubbed, so this loops for ever
STUCK = 25.0  # without a call and without any other command
SLACK = 60.0  # for all but the script
ENVIRONMENT = {"HOME": "/root", "USER": "tipc", "LANG": "C.UTF-8", "TERM": "dumb", "SHELL": "/bin/bash"}
COMPILED = b"\x7fELF"  # how a compiled program begins
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from tipc.plan.trace.record.jail import main; main()"
PATH = re.compile(r"[\w./+-]+")
INTERPRETER = re.compile(r"(?:python|pip)[\d.]*")
# A repository's directory is shown at its own path: one of these would cover what bash needs.
SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/etc",
    "/proc",
    "/sys",
    "/dev",
    "/bin",
    "/sbin",
    "/nix",
    "/gnu",
    "/.tipc",
)


@dataclass(frozen=True)
class Recording:
    """What one run of the script left: raw records, see ``calls``."""

    calls: tuple[tuple[str, ...], ...]
    tees: tuple[tuple[str, ...], ...]
    xtrace: str
    stdout: str
    stderr: str
    exit: int | None  # None: it did not end by itself
    stopped: str  # "", "time", "quiet", "calls", "words" or "memory"
    made: frozenset[str]  # what the script made in the copy, as absolute paths of the repository


def time_limit() -> float:
    """Seconds a script may take: ``TIPC_TRACE_SECONDS``, or 60."""
    text = os.environ.get("TIPC_TRACE_SECONDS", "")
    if not text:
        return SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise UsageError(wording("TIPC_TRACE_SECONDS is `{text}`: not a number of seconds", text=text))
    return seconds


def isolation_waived() -> bool:
    """Whether the user has said that scripts are trusted: ``TIPC_TRACE_UNISOLATED=1``."""
    return os.environ.get("TIPC_TRACE_UNISOLATED", "") == "1"


class Sandbox:
    """A repository as it is now, in which its script can be run several times; each time as if anew."""

    def __init__(self, repo: Path, *, isolate: bool = True) -> None:
        self.repo = _tracable(repo)
        self.isolate = isolate
        self.listing: Listing = list_repository(str(repo))
        self.names = frozenset(f"{repo}/{name}" for name in self.listing.names())
        self._memory = -1
        self._entries: list[TreeEntry] = []

    def has(self, path: str) -> bool:
        """Whether the repository has this absolute path, perhaps by a link that stays inside."""
        if path in self.names or os.path.realpath(path) in self.names:
            return True
        inside = path[len(str(self.repo)) :]
        return not SKIPPED.isdisjoint(inside.split("/"))

    def has_script(self, path: str) -> bool:
        """Whether the repository has this program, and it is no compiled one: that is recorded, not run."""
        if not self.has(path):
            return False
        try:
            opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return True
        try:
            return os.read(opened, len(COMPILED)) != COMPILED
        except OSError:
            return True
        finally:
            os.close(opened)

    def close(self) -> None:
        """Let go of the contents."""
        if self._memory >= 0:
            os.close(self._memory)
            self._memory = -1

    def record(
        self,
        start: Path,
        argv: Sequence[str],
        texts: str,
        leave: Sequence[Sequence[str]] = (),
        programs: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> Recording:
        """Run ``bash argv…`` in the directory ``start`` of the repository's copy.

        ``texts`` (the script and the config) may name interpreters by absolute path: those become stubs, too.
        ``leave`` says what calls leave behind (see ``demand.Leaving``), ``programs`` which further paths are
        programs, ``variables`` what the caller of the script would have exported.
        """
        if self._memory < 0:
            self._memory, self._entries = read_contents(str(self.repo), self.listing)
        seconds = time_limit()
        with tempfile.TemporaryDirectory(prefix="tipc-trace-") as scratch:
            job = {
                "repo": str(self.repo),
                "memory": self._memory,
                "entries": self._entries,
                "scratch": scratch,
                "start": str(self.repo / start),
                "argv": list(argv),
                "isolate": self.isolate,
                "core": stubs.core_tools(),
                "stubs": [*stubs.STUBS.split(), *stubs.PYTHONS],
                "wrappers": list(stubs.WRAPPERS),
                "files": stubs.FILES,
                "leave": list(leave),
                "programs": sorted({*programs, *_absolute_programs(texts)}),
                "environment": {**ENVIRONMENT, **(variables or {})},
                "seconds": seconds,
                "most_calls": MOST_CALLS,
                "quiet": min(QUIET, seconds),
                "stuck": min(STUCK, seconds),
            }
            result = _checked(_start(job, seconds))
        return _recording(result, self.repo)


def _tracable(repo: Path) -> Path:
    """The repository, if it is one: not the whole system, nor a home with all that is in it."""
    text = str(repo)
    home = os.path.realpath(os.path.expanduser("~"))
    if text == "/" or text in SYSTEM or f"{home}/".startswith(f"{text}/"):
        raise UsageError(
            wording(
                "{repo} is part of the system or somebody's home, and no repository: no script is traced"
                " there",
                repo=repo,
            ),
            remedy="--repo DIR names the repository's root",
        )
    return repo


def _absolute_programs(texts: str) -> set[str]:
    """The interpreters that a text names by absolute path. Each part is looked at once: texts are long."""
    found = set()
    for run in PATH.findall(texts):
        parts = run[run.find("/") + 1 :].split("/")
        if "/" in run and ".." not in parts and INTERPRETER.fullmatch(parts[-1]):
            found.add("/" + "/".join(parts))
    return found


def _start(job: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    source = str(Path(__file__).parents[4])
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", BOOT, source],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=seconds + SLACK,
            cwd="/",
            env={},  # what the user has in the environment is not the script's to see
            pass_fds=[job["memory"]],
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentProblem("the traced script could not be stopped in time") from error
    if done.returncode != 0:
        raise EnvironmentProblem(
            wording(
                "the tracer broke (exit {returncode}): {stderr}",
                returncode=done.returncode,
                stderr=done.stderr.strip()[-800:],
            )
        )
    try:
        result = json.loads(done.stdout)
    except ValueError as error:
        raise EnvironmentProblem(
            wording("the tracer gave no answer that can be read ({error})", error=error)
        ) from error
    if not isinstance(result, dict):
        return {"broken": "its answer is empty"}
    return result


def _checked(result: dict[str, Any]) -> dict[str, Any]:
    if "refused" in result:
        raise EnvironmentProblem(
            wording(
                "the script cannot be isolated on this machine ({refused}), so it was not run",
                refused=result["refused"],
            ),
            remedy="allow user namespaces here (sysctl user.max_user_namespaces, "
            "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns, or docker "
            "--security-opt seccomp=unconfined --security-opt systempaths=unconfined), or, if you trust the "
            "script as you trust your own, --trace with TIPC_TRACE_UNISOLATED=1: then it runs with your "
            "rights, and only PATH keeps it from real programs",
        )
    if "broken" in result:
        raise EnvironmentProblem(wording("the tracer broke: {broken}", broken=result["broken"]))
    return result


def _recording(result: Mapping[str, Any], repo: Path) -> Recording:
    """The answer as a value. Process 1 gave it, which shared a world with the script: nothing is believed."""
    try:
        code = result["exit"]
        if code is not None:
            code = int(code)
        found = Recording(
            calls=tuple(map(_texts, result["calls"])),
            tees=tuple(map(_texts, result["tees"])),
            xtrace=_text(result["xtrace"]),
            stdout=_text(result["stdout"]),
            stderr=_text(result["stderr"]),
            exit=code,
            stopped=_text(result["stopped"]),
            made=frozenset(f"{repo}/{name}" for name in _texts(result["made"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise EnvironmentProblem(
            wording("the tracer gave no answer that can be read ({error!r})", error=error)
        ) from error
    if "moved" in result:
        return _moved(found, *result["moved"])
    return found


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _texts(values: Sequence[object]) -> tuple[str, ...]:
    return tuple(map(_text, values))


def _moved(recording: Recording, old: str, new: str) -> Recording:
    """The same recording as if the copy had stood where the repository stands."""

    def moved(records: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        replaced = []
        for words in records:
            replaced.append(tuple(word.replace(old, new) for word in words))
        return tuple(replaced)

    return Recording(
        calls=moved(recording.calls),
        tees=moved(recording.tees),
        xtrace=recording.xtrace.replace(old, new),
        stdout=recording.stdout.replace(old, new),
        stderr=recording.stderr.replace(old, new),
        exit=recording.exit,
        stopped=recording.stopped,
        made=recording.made,
    )
