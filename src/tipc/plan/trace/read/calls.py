"""From raw records to calls: what ran, where, with which environment, and where its output went."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tipc.command import Command
from tipc.plan.trace.record.sandbox import ENVIRONMENT, Recording

# What bash keeps for itself, and what the tracer sets; none of it is the script's doing.
BOOKKEEPING = {"BASH_ENV", "PATH", "PWD", "OLDPWD", "SHLVL", "_", "BASHOPTS", "SHELLOPTS", "TIPC_NAME"}


@dataclass(frozen=True)
class Call:
    """One call of a program that is not a core utility."""

    time: float
    argv: tuple[str, ...]
    cwd: str  # relative to the repository where it is inside
    env: dict[str, str] = field(hash=False)  # what the script exported, CUDA_VISIBLE_DEVICES among it
    log: str = ""  # the file that its output goes to, if the script says so
    key: tuple[str, ...] = ()  # its directory and words as recorded: names the call when it runs again

    @cached_property
    def command(self) -> Command:
        """Its words taken apart."""
        return Command(self.argv)

    @property
    def cuda(self) -> str | None:
        """CUDA_VISIBLE_DEVICES, None where it is unset."""
        return self.env.get("CUDA_VISIBLE_DEVICES")


def inside(path: str, repo: Path, cwd: str = ".") -> str:
    """A path as seen from the repository's root, absolute only where it is outside."""
    full = os.path.normpath(os.path.join(repo, cwd, path))
    if full == str(repo):
        return "."
    return full.removeprefix(f"{repo}/")


def calls_of(recording: Recording, repo: Path) -> list[Call]:
    """The calls in the order in which they started."""
    tees = _tee_files(recording.tees, repo)
    return [_call(words, tees, repo) for words in recording.calls]


def results_log(tees: Sequence[Sequence[str]], repo: Path, logs: Collection[str]) -> str:
    """Where the script appends its status lines: the file that ``tee -a`` names most, no command's log."""
    named: dict[str, int] = {}
    for _, cwd, _, *words in tees:
        if "-a" not in words:
            continue
        for word in words:
            path = inside(word, repo, cwd)
            if not word.startswith("-") and path not in logs:
                named[path] = named.get(path, 0) + 1
    return max(named, key=lambda path: named[path], default="")


def _call(words: Sequence[str], tees: dict[str, str], repo: Path) -> Call:
    time, cwd, output, count, *rest = words
    argv, variables = rest[: int(count) + 1], rest[int(count) + 1 :]
    changed = {}
    for variable in variables:
        name, value = variable.split("=", 1)
        if name not in BOOKKEEPING and ENVIRONMENT.get(name) != value:
            changed[name] = value
    log = tees.get(output, "")
    if output.startswith(f"{repo}/"):
        log = inside(output, repo)
    return Call(float(time), tuple(argv), inside(cwd, repo), changed, log, (cwd, *argv))


def _tee_files(tees: Sequence[Sequence[str]], repo: Path) -> dict[str, str]:
    """From a pipe's name to the file that its ``tee`` writes."""
    files = {}
    for _, cwd, pipe, *words in tees:
        names = [word for word in words if not word.startswith("-")]
        if names and pipe.startswith("pipe:"):
            files[pipe] = inside(names[0], repo, cwd)
    return files
