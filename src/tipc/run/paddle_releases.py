"""Releases of paddle: which can be had, and an environment for each, with what the repositories need.

An environment is kept, by the release, the interpreter's version and the text of the repositories'
requirements: what has not changed is not made again. ``uv`` makes it where it is there, else venv and pip.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tipc.errors import EnvironmentProblem, UsageError, wording
from tipc.run.record.locks import take_lock

PACKAGE = "paddlepaddle"
REQUIREMENTS = "requirements.txt"
BENCHMARK_LOG = "auto_log"
# Which paddle asks for in no upper version, and whose 7 its launcher cannot use until 3.4 (Paddle#78236).
PROTOBUF, LAST_WITHOUT_PROTOBUF_7 = "protobuf<7", (3, 3)
_ASK_SECONDS, _MAKE_SECONDS = 120, 1800
_INCLUDED = re.compile(r"^\s*(?:-r|-c|--requirement|--constraint)[\s=]+(\S+)", re.MULTILINE)
# A line that names a folder: the same text means something else in another checkout.
_OWN_PLACE = re.compile(r"^\s*(?:(?:-e|--editable)[\s=]+)?\.{1,2}(?:/|\s|$)", re.MULTILINE)


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
            remedy="is there a network?",
        )
    return tuple(map(str.strip, found[1].split(",")))


def resolve(asked: Sequence[str], versions: Sequence[str]) -> list[str]:
    """The exact version for each that was asked for: ``3.1`` is the newest 3.1.x."""
    chosen = []
    for name in asked:
        fitting = [version for version in versions if _fits(name, version)]
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
    names = []
    for name in text.split(","):
        if name.strip():
            names.append(name.strip())
    wrong = [name for name in names if not re.fullmatch(r"\d+(\.\d+){0,2}", name)]
    if wrong or not names:
        raise UsageError(
            wording("--paddle takes releases, not `{names}`", names=", ".join(wrong) or text),
            remedy="--paddle 3.1,3.2",
        )
    return names


def kept(asked: Sequence[str], repos: Sequence[Path], envs: Path) -> list[Release] | None:
    """The environments, if every one that was asked for is there already: then nothing needs a network."""
    there = _kept_by_name(asked, repos, envs)
    if len(there) < len(set(asked)):
        return None
    return list(dict.fromkeys(there[name] for name in asked))


def available_beside_kept(asked: Sequence[str], repos: Sequence[Path], envs: Path) -> tuple[str, ...]:
    """As ``available``; where the index cannot be asked, it is said what is kept and what is missing."""
    try:
        return available()
    except EnvironmentProblem as problem:
        there = _kept_by_name(asked, repos, envs)
        if not there:
            remedy = wording(
                "connect to the network: nothing for {asked} is kept in {envs}",
                asked=",".join(asked),
                envs=str(envs),
            )
            raise EnvironmentProblem(problem.told, remedy=remedy) from problem
        missing = [name for name in asked if name not in there]
        remedy = wording(
            "{missing} must be fetched, {kept} is kept in {envs}: connect to the network, or --paddle {kept}",
            missing=",".join(missing),
            kept=",".join(there),
            envs=str(envs),
        )
        raise EnvironmentProblem(problem.told, remedy=remedy) from problem


def _kept_by_name(asked: Sequence[str], repos: Sequence[Path], envs: Path) -> dict[str, Release]:
    """Those of the environments that are there."""
    found = {}
    for name in asked:
        fitting = []
        for mark in envs.glob(f"paddle-{name}*-{_key(repos)}/done"):
            version = mark.read_text(encoding="utf-8").strip()
            if _fits(name, version):
                fitting.append(Release(version, mark.parent))
        if fitting:
            found[name] = max(fitting, key=_numbers)
    return found


def planned(version: str, repos: Sequence[Path], envs: Path) -> Release:
    """The environment of one release for some repositories, whether it is there or not."""
    return Release(version, envs / f"paddle-{version}-{_key(repos)}")


def make(version: str, repos: Sequence[Path], envs: Path) -> Release:
    """The environment of one release for some repositories; made where it is not there."""
    release = planned(version, repos, envs)
    folder = release.folder
    envs.mkdir(parents=True, exist_ok=True)
    lock = take_lock(envs / f".{folder.name}.lock", "another tipc makes this environment")
    try:
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _fill(release, repos)
            (folder / "done").write_text(version + "\n", encoding="utf-8")
    except EnvironmentProblem:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        os.close(lock)
    return release


def _fill(release: Release, repos: Sequence[Path]) -> None:
    """Create an environment and install what is wanted; EnvironmentProblem for the command that failed."""
    uv = shutil.which("uv")
    if uv is None:
        create = [sys.executable, "-m", "venv", str(release.folder)]
        install = [release.python, "-m", "pip", "install", "-q"]
    else:
        create = [uv, "venv", "-q", "--python", sys.executable, str(release.folder)]
        install = [uv, "pip", "install", "-q", "--python", release.python]
    _must(release, create, repos[0])
    paddle = [f"{PACKAGE}=={release.version}"]
    if _numbers(release)[:2] <= LAST_WITHOUT_PROTOBUF_7:
        paddle.append(PROTOBUF)
    for repo in repos:
        if not (repo / REQUIREMENTS).exists():
            continue
        # Together, so that no other release is fetched first; apart, where the requirements pin another one.
        together = _run([*install, "-r", REQUIREMENTS, *paddle], _MAKE_SECONDS, cwd=repo)
        if together.returncode:
            _must(release, [*install, "-r", REQUIREMENTS], repo)
    # Last, whatever the requirements say of paddle: this release was asked for.
    _must(release, [*install, *paddle], repos[0])
    _bring_benchmark_log(release, install, repos[0])


def _bring_benchmark_log(release: Release, install: list[str], repo: Path) -> None:
    """``auto_log``, which inference scripts import: no index has it, so no requirements can name it."""
    ask = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({BENCHMARK_LOG!r}) is None)"
    theirs = _run([release.python, "-c", ask], _ASK_SECONDS)
    ours = importlib.util.find_spec(BENCHMARK_LOG)
    if theirs.returncode == 0 or ours is None or ours.origin is None:
        return
    _must(release, [*install, "psutil"], repo)  # which it imports
    for packages in release.folder.glob("lib/python3*/site-packages"):
        shutil.copytree(Path(ours.origin).parent, packages / BENCHMARK_LOG)


def _must(release: Release, argv: list[str], repo: Path) -> None:
    done = _run(argv, _MAKE_SECONDS, cwd=repo)
    if done.returncode:
        raise EnvironmentProblem(
            wording(
                "no environment for {package} {version}: {done}",
                package=PACKAGE,
                version=release.version,
                done=_last_line(done),
            ),
            remedy=wording("by hand: cd {repo} && {names}", repo=repo, names=" ".join(argv)),
        )


def _key(repos: Sequence[Path]) -> str:
    """Of the interpreter's version, what tipc adds and the requirements; of their place, where it matters."""
    parts = [".".join(map(str, sys.version_info[:2])), BENCHMARK_LOG, PROTOBUF]
    for repo in repos:
        text = requirements_text(repo / REQUIREMENTS)
        parts.append(text)
        if _OWN_PLACE.search(text):
            parts.append(str(repo.resolve()))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def requirements_text(path: Path, depth: int = 3) -> str:
    """The requirements, with those files that they include; empty where there are none."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    included = []
    if depth > 0:
        for name in _INCLUDED.findall(text):
            included.append(requirements_text(path.parent / name, depth - 1))
    return "\n".join([text, *included])


def _fits(name: str, version: str) -> bool:
    return version == name or version.startswith(f"{name}.")


def _numbers(release: Release) -> tuple[int, ...]:
    """By which of two releases is the newer."""
    return tuple(map(int, re.findall(r"\d+", release.version)))


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
    environment = dict(os.environ)
    environment.pop("VIRTUAL_ENV", None)
    try:
        return subprocess.run(
            argv, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, 124, "", f"no answer after {seconds:.0f} s")
    except OSError as error:
        return subprocess.CompletedProcess(argv, 127, "", str(error))


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    """What a command that failed says last: of a problem where it names one."""
    last = f"exit {done.returncode}"
    problem = ""
    for line in (done.stderr + "\n" + done.stdout).splitlines():
        line = line.strip()
        if line:
            last = line
        if re.match(r"(ERROR|error|cause|×|╰)", line):
            problem = line
    return problem or last
