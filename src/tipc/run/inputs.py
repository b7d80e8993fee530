"""What a step depends on, as four digests. ``--resume`` runs a step again when one of them has changed.

- ``command``: argv, environment, directory, and the shell text if there is one;
- ``config``: the contents of the config file;
- ``scripts``: the contents of every source file of the repository (``SOURCES``) outside its output
  directories, and of each file of the repository, at most ``NAMED_LIMIT`` long, that the command names;
- ``artefacts``: the digests of what the needed steps produced.

Data sets and installed packages are not looked at: a run is about the code of a repository.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from tipc.plan.model import Plan, Step
from tipc.run.artefacts import digest
from tipc.run.record import StepResult

SOURCES = (".py", ".sh", ".yml", ".yaml", ".toml", ".cfg", ".ini")
NAMED_LIMIT = 16 << 20
_NOT_SOURCE = ("__pycache__", "node_modules")


class Inputs:
    """The digests of the steps of some plans. A repository is read once, when it is first asked for."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._repos = {
            repo: _Repo(repo, [plan for plan in plans if plan.repo == repo]) for repo in _repos(plans)
        }
        self._configs: dict[str, str] = {}

    def of(self, plan: Plan, step: Step, needed: Iterable[StepResult]) -> dict[str, str]:
        """The digests for one step, given the results of what it needs."""
        repo = self._repos[plan.repo]
        if plan.config not in self._configs:
            self._configs[plan.config] = _text_digest(_read(repo.root / plan.config))
        command = [[_program(word) for word in step.argv], dict(step.env), step.cwd, step.shell]
        artefacts = [sorted(result.artefacts.items()) for result in needed]
        return {
            "command": _text_digest(json.dumps(command, sort_keys=True)),
            "config": self._configs[plan.config],
            "scripts": _text_digest(repo.sources() + json.dumps(repo.named_by(step), sort_keys=True)),
            "artefacts": _text_digest(json.dumps(artefacts)),
        }


class _Repo:
    """The source files of one repository."""

    def __init__(self, repo: str, plans: Sequence[Plan]) -> None:
        self.root = Path(repo)
        steps = [step for plan in plans for step in plan.steps]
        self._outputs = _output_directories(self.root, plans, steps)
        self._produced = {_inside(self.root, place) for step in steps for place in _places(step)}
        self._sources = ""
        self._named: dict[tuple[str, str], str] = {}

    def sources(self) -> str:
        """One digest of the names and contents of all source files."""
        if not self._sources:
            total = hashlib.sha256()
            for path in self._walk(self.root):
                total.update(os.fsencode(path.relative_to(self.root)) + b"\0" + _read(path) + b"\0")
            self._sources = total.hexdigest()
        return self._sources

    def named_by(self, step: Step) -> dict[str, str]:
        """Digests of the files of the repository that a command names, other than what the plans produce."""
        found = {}
        for word in step.argv:
            if _program(word) != word:
                continue  # an interpreter inside the repository is part of the command, not a source
            name = word.rpartition("=")[2]
            key = (step.cwd, name)
            if key not in self._named:
                self._named[key] = self._digest_named(step.cwd, name)
            if self._named[key]:
                found[name] = self._named[key]
        return found

    def _digest_named(self, cwd: str, name: str) -> str:
        path = Path(os.path.normpath(self.root / cwd / name))
        inside = bool(name) and path.is_relative_to(self.root) and not self._is_produced(path)
        return digest(path) if inside and path.is_file() and path.stat().st_size <= NAMED_LIMIT else ""

    def _walk(self, folder: Path) -> Iterator[Path]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        if any(entry.name == "pyvenv.cfg" for entry in entries):
            return
        for entry in entries:
            path = folder / entry.name
            if entry.name.startswith(".") or entry.name in _NOT_SOURCE:
                continue
            if entry.is_dir(follow_symlinks=False):
                if path.relative_to(self.root).as_posix() not in self._outputs:
                    yield from self._walk(path)
            elif entry.name.endswith(SOURCES) and entry.is_file() and not self._is_produced(path):
                yield path

    def _is_produced(self, path: Path) -> bool:
        relative = PurePosixPath(path.relative_to(self.root).as_posix())
        return str(relative) in self._produced or any(relative.is_relative_to(out) for out in self._outputs)


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Which inputs differ, for people: "scripts", "command and config"; empty if none does."""
    return " and ".join(name for name, value in now.items() if before.get(name) != value)


def _repos(plans: Sequence[Plan]) -> list[str]:
    return list(dict.fromkeys(plan.repo for plan in plans))


def _places(step: Step) -> list[str]:
    return [choice for item in step.produces for choice in item.split("|")]


def _output_directories(root: Path, plans: Sequence[Plan], steps: Sequence[Step]) -> frozenset[str]:
    """Directories that steps write into, but never one that holds a script which a step names."""
    named = {os.path.dirname(plan.results_log) for plan in plans} | {step.model_dir for step in steps}
    for step in steps:
        named.update(os.path.dirname(place) for place in (step.log, step.weights, *_places(step)))
    found = {_inside(root, place) for place in named}
    scripts = [
        PurePosixPath(_inside(root, os.path.join(step.cwd, word)))
        for step in steps
        for word in step.argv
        if word.endswith(SOURCES) and not word.startswith("-")
    ]
    return frozenset(
        output for output in found - {"", "."} if not any(script.is_relative_to(output) for script in scripts)
    )


def _program(word: str) -> str:
    """One name for an interpreter: ``bin/python`` and ``bin/python3`` of an environment are the same."""
    if word.startswith("/") and os.path.basename(word).startswith("python"):
        return f"{os.path.dirname(word)}:{os.path.realpath(word)}"
    return word


def _inside(root: Path, place: str) -> str:
    path = Path(os.path.normpath(root / place))
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b"\0not there"


def _text_digest(text: str | bytes) -> str:
    raw = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return hashlib.sha256(raw).hexdigest()[:16]
