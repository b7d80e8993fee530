"""Releases of paddle: which can be had, and an environment for each, with what the repository needs.

An environment is kept, by the release, the interpreter's version and the text of the repository's
requirements: what has not changed is not made again. ``uv`` makes it where it is there, else venv and pip.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tipc.errors import EnvironmentProblem, UsageError, wording

PACKAGE = "paddlepaddle"
REQUIREMENTS = "requirements.txt"
_ASK_SECONDS, _MAKE_SECONDS = 120, 1800


@dataclass(frozen=True)
class Release:
    """One release of paddle, and the environment that has it."""

    version: str
    folder: Path

    @property
    def python(self) -> str:
        """Its interpreter."""
        return str(self.folder / "bin" / "python")

    @property
    def label(self) -> str:
        """Names its output folder and its column."""
        return f"paddle-{self.version}"


def available() -> tuple[str, ...]:
    """The releases that the package index has for this interpreter, the newest first."""
    done = _run([*_pip(), "index", "versions", PACKAGE], _ASK_SECONDS)
    found = re.search(r"Available versions:\s*(.+)", done.stdout)
    if done.returncode or found is None:
        raise EnvironmentProblem(
            wording(
                "the releases of {package} cannot be listed: {done}", package=PACKAGE, done=_last_line(done)
            ),
            remedy="is there a network? Environments that were made before are in --envs",
        )
    return tuple(version.strip() for version in found[1].split(","))


def resolve(asked: Sequence[str], versions: Sequence[str]) -> list[str]:
    """The exact version for each that was asked for: ``3.1`` is the newest 3.1.x."""
    chosen = []
    for name in asked:
        fitting = [version for version in versions if version == name or version.startswith(f"{name}.")]
        if not fitting:
            raise UsageError(
                wording("there is no release {name} of {package}", name=name, package=PACKAGE),
                remedy=wording("one of {names}", names=", ".join(versions)),
            )
        if fitting[0] not in chosen:
            chosen.append(fitting[0])
    return chosen


def parse(text: str) -> list[str]:
    """``3.1,3.2`` as a list; raises UsageError for what is no version."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    wrong = [name for name in names if not re.fullmatch(r"\d+(\.\d+){0,2}", name)]
    if wrong or not names:
        raise UsageError(
            wording("--paddle takes releases, not `{names}`", names=", ".join(wrong) or text),
            remedy="--paddle 3.1,3.2",
        )
    return names


def kept(asked: Sequence[str], repo: Path, envs: Path) -> list[Release] | None:
    """The environments, if every one that was asked for is there already: then nothing needs a network."""
    found = []
    for name in asked:
        marks = sorted(envs.glob(f"paddle-{name}*-{_key(repo)}/done"), key=_version_of, reverse=True)
        fitting = [mark for mark in marks if _fits(name, mark.read_text(encoding="utf-8").strip())]
        if not fitting:
            return None
        found.append(Release(fitting[0].read_text(encoding="utf-8").strip(), fitting[0].parent))
    return found


def planned(version: str, repo: Path, envs: Path) -> Release:
    """The environment of one release for one repository, whether it is there or not."""
    return Release(version, envs / f"paddle-{version}-{_key(repo)}")


def make(version: str, repo: Path, envs: Path) -> Release:
    """The environment of one release for one repository; made where it is not there."""
    release = planned(version, repo, envs)
    folder = release.folder
    mark = folder / "done"
    if mark.exists():
        return release
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    for argv in _commands(version, repo, folder):
        done = _run(argv, _MAKE_SECONDS, cwd=repo)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            raise EnvironmentProblem(
                wording(
                    "no environment for {package} {version}: {done}",
                    package=PACKAGE,
                    version=version,
                    done=_last_line(done),
                ),
                remedy=wording("by hand: cd {repo} && {names}", repo=repo, names=" ".join(argv)),
            )
    mark.write_text(version + "\n", encoding="utf-8")
    return release


def _commands(version: str, repo: Path, folder: Path) -> list[list[str]]:
    """The release comes last: it was asked for, whatever the requirements say of paddle."""
    uv = shutil.which("uv")
    python = str(folder / "bin" / "python")
    if uv is None:
        create = [sys.executable, "-m", "venv", str(folder)]
        install = [python, "-m", "pip", "install", "-q"]
    else:
        create = [uv, "venv", "-q", "--python", sys.executable, str(folder)]
        install = [uv, "pip", "install", "-q", "--python", python]
    commands = [create]
    if (repo / REQUIREMENTS).exists():
        commands.append([*install, "-r", REQUIREMENTS])
    commands.append([*install, f"{PACKAGE}=={version}"])
    return commands


def _key(repo: Path) -> str:
    """Of the interpreter's version and the requirements' text."""
    path = repo / REQUIREMENTS
    text = path.read_bytes() if path.exists() else b""
    version = ".".join(map(str, sys.version_info[:2]))
    return hashlib.sha256(version.encode() + b"\0" + text).hexdigest()[:12]


def _fits(name: str, version: str) -> bool:
    return version == name or version.startswith(f"{name}.")


def _version_of(mark: Path) -> tuple[int, ...]:
    numbers = re.findall(r"\d+", mark.read_text(encoding="utf-8"))
    return tuple(int(number) for number in numbers)


def _pip() -> list[str]:
    """A pip to ask: this interpreter's, or one that uv lends."""
    here = _run([sys.executable, "-m", "pip", "--version"], _ASK_SECONDS)
    if here.returncode == 0:
        return [sys.executable, "-m", "pip"]
    uv = shutil.which("uv")
    if uv is None:
        raise EnvironmentProblem(
            "neither pip nor uv is there",
            remedy=wording("{executable} -m ensurepip", executable=sys.executable),
        )
    return [uv, "tool", "run", "-q", "pip"]


def _run(argv: list[str], seconds: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    try:
        return subprocess.run(
            argv, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, 124, "", f"no answer after {seconds:.0f} s")
    except OSError as error:
        return subprocess.CompletedProcess(argv, 127, "", str(error))


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (done.stderr + "\n" + done.stdout).splitlines() if line.strip()]
    problems = [line for line in lines if re.match(r"(ERROR|error|cause|×|╰)", line)]
    return (problems or lines or [f"exit {done.returncode}"])[-1]
