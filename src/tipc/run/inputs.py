"""What a step depends on, as five digests. ``--resume`` runs a step again when one of them has changed.

- ``command``: argv, the step's own environment, directory, and the shell text if there is one;
- ``environment``: the variables of the caller that change what paddle and Python do (``VARIABLES``);
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
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tipc.command import is_python
from tipc.plan.model import Plan, Step
from tipc.run.artefacts import digest
from tipc.run.record.results import StepResult

SOURCES = (".py", ".sh", ".yml", ".yaml", ".toml", ".cfg", ".ini")
SCRIPTS = (".py", ".sh")  # which no honest step changes; a settings file may be one that it writes
LOOKING = 0.02  # of the time between two looks at the sources, that a look may take
NAMED_LIMIT = 16 << 20
# Variables by how their names begin: paddle's and its libraries', the devices', the threads', Python's.
_VARIABLES = """
    FLAGS_ PADDLE_ GLOG_ ONEDNN_ DNNL_
    CUDA_ CUDNN_ NCCL_ NVIDIA_ HIP_ ROCR_ ASCEND_ XPU_ MLU_
    OMP_ MKL_ KMP_ OPENBLAS_
    LD_ PYTHON
"""
VARIABLES = tuple(_VARIABLES.split())
_NOT_SOURCE = ("__pycache__", "node_modules")


@dataclass(frozen=True)
class SourceChanges:
    """What became of the source files while the steps ran: absolute paths."""

    sources: tuple[str, ...] = ()  # scripts, configs and what commands name, that changed or went
    settings: tuple[str, ...] = ()  # other settings that changed: some are written by the steps themselves
    new_scripts: tuple[str, ...] = ()  # outside of the outputs


@dataclass
class _Held:
    """A file as it was when it was read."""

    digest: str
    state: tuple[int, ...]
    decides: bool  # a script, a config, or a file that a command names


class Inputs:
    """The digests of the steps of some plans. A repository is read once, when it is first asked for, and
    again after its data was prepared."""

    def __init__(self, plans: Sequence[Plan], environ: Mapping[str, str] | None = None) -> None:
        by_repo: dict[str, list[Plan]] = {}
        for plan in plans:
            by_repo.setdefault(plan.repo, []).append(plan)
        self._repos = {repo: _Repo(repo, own) for repo, own in by_repo.items()}
        self._environ = {}
        for name, value in sorted((environ or {}).items()):
            if name.startswith(VARIABLES):
                self._environ[name] = value

    def of(self, plan: Plan, step: Step, needed: Iterable[StepResult]) -> dict[str, str]:
        """The digests for one step, given the results of what it needs."""
        repo = self._repos[plan.repo]
        argv = [_program(word) for word in step.argv]
        command = [argv, dict(step.env), step.cwd, step.shell]
        environment = dict(self._environ)
        for name in step.env:
            environment.pop(name, None)
        artefacts = []
        for result in needed:
            if result.artefacts:
                artefacts.append(sorted(result.artefacts.items()))
        return {
            "command": _text_digest(json.dumps(command, sort_keys=True)),
            "environment": _text_digest(json.dumps(environment)),
            "config": repo.config(plan),
            "scripts": _text_digest(repo.sources() + json.dumps(repo.named_by(step), sort_keys=True)),
            "artefacts": _text_digest(json.dumps(artefacts)),
        }

    def preparing(self, plan: Plan) -> None:
        """What changes from here on is no step's doing: preparing may rewrite what it likes."""
        self._repos[plan.repo].begin_preparing()

    def prepared(self, plan: Plan) -> None:
        """From here on the sources are as preparing has left them."""
        self._repos[plan.repo].read_again()

    def step_ended(self, plan: Plan) -> None:
        """A later step may put back what this one has changed: look now, if it is quickly done."""
        self._repos[plan.repo].look_if_cheap()

    def changes(self) -> SourceChanges:
        """What became of the source files since they were first read."""
        sources: list[str] = []
        settings: list[str] = []
        new: list[str] = []
        for repo in self._repos.values():
            repo.look()
            sources += map(str, repo.changed(decides=True))
            settings += map(str, repo.changed(decides=False))
            new += map(str, repo.new_scripts())
        return SourceChanges(tuple(sources), tuple(settings), tuple(new))


class _Repo:
    """The source files of one repository."""

    def __init__(self, repo: str, plans: Sequence[Plan]) -> None:
        self.root = Path(repo)
        steps: list[Step] = []
        for plan in plans:
            steps += plan.steps
        self._outputs = _output_directories(self.root, plans, steps)
        self._produced: set[str] = set()  # as seen from the root
        self._named_paths: set[Path] = set()
        for step in steps:
            for place in _places(step):
                self._produced.add(_inside(self.root, place))
            self._named_paths.update(_named_paths(self.root, step))
        self._sources = ""
        self._files: dict[Path, _Held] = {}
        self._folders: dict[Path, int] = {}  # that sources were looked for in, and when each was changed
        self._named: dict[tuple[str, str], str] = {}
        self._changed: dict[Path, bool] = {}  # whether it decides
        self._preparing = 0  # steps that do
        self._next_look = 0.0

    def config(self, plan: Plan) -> str:
        """The digest of a config file."""
        path = self.root / plan.config
        if path not in self._files:
            self._hold(path, decides=True)
        return self._files[path].digest

    def sources(self) -> str:
        """One digest of the names and contents of all source files."""
        if not self._sources:
            total = hashlib.sha256()
            for path in self._walk(self.root):
                one = self._hold(path, decides=path.suffix in SCRIPTS or path in self._named_paths)
                total.update(os.fsencode(path.relative_to(self.root)) + b"\0" + one.encode() + b"\0")
            self._sources = total.hexdigest()
        return self._sources

    def _hold(self, path: Path, *, decides: bool) -> str:
        """The digest of a file, from now on as it is."""
        state = _state(path)  # before it is read: what is written meanwhile is seen later
        one = _text_digest(_read(path))
        self._files[path] = _Held(one, state, decides)
        return one

    def look(self) -> None:
        """Note what has changed or gone since it was read. A file that the kernel calls the same is."""
        if self._preparing:
            return
        for path, held in self._files.items():
            if path in self._changed:
                continue
            state = _state(path)
            if state == held.state:
                continue
            held.state = state
            if _text_digest(_read(path)) != held.digest:
                self._changed[path] = held.decides

    def look_if_cheap(self) -> None:
        """Look, unless that would take more than a small share of the time."""
        begun = time.monotonic()
        if begun < self._next_look:
            return
        self.look()
        ended = time.monotonic()
        self._next_look = ended + (ended - begun) / LOOKING

    def changed(self, *, decides: bool) -> list[Path]:
        """The files that were seen to be others than they were, in order."""
        return sorted(path for path, one in self._changed.items() if one is decides)

    def new_scripts(self) -> list[Path]:
        """Scripts outside of the outputs that were not there when the sources were read."""
        found: set[Path] = set()
        for folder, when in list(self._folders.items()):
            if _changed_at(folder) != when:
                found.update(self._walk(folder, again=True))
        return sorted(path for path in found if path.suffix in SCRIPTS and path not in self._files)

    def begin_preparing(self) -> None:
        """Remember what has changed until now."""
        self.look()
        self._preparing += 1

    def read_again(self) -> None:
        """Forget how the files were."""
        self._files.clear()
        self._folders.clear()
        self._named.clear()
        self._sources = ""
        self._preparing = max(0, self._preparing - 1)

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
        if not name or not path.is_relative_to(self.root) or self._is_produced(path):
            return ""
        if not path.is_file() or path.stat().st_size > NAMED_LIMIT:
            return ""
        return digest(path)

    def _walk(self, folder: Path, *, again: bool = False) -> Iterator[Path]:
        """The source files below a folder; a second time not those of folders that are known."""
        self._folders.setdefault(folder, _changed_at(folder))
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
                known = again and path in self._folders
                if not known and path.relative_to(self.root).as_posix() not in self._outputs:
                    yield from self._walk(path, again=again)
            elif entry.name.endswith(SOURCES) and entry.is_file() and not self._is_produced(path):
                yield path

    def _is_produced(self, path: Path) -> bool:
        relative = PurePosixPath(path.relative_to(self.root).as_posix())
        if str(relative) in self._produced:
            return True
        return any(relative.is_relative_to(output) for output in self._outputs)


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Which inputs differ: ``["command", "scripts"]``."""
    found = []
    for name, value in now.items():
        if before.get(name) != value:
            found.append(name)
    return found


def _named_paths(root: Path, step: Step) -> list[Path]:
    """What the words of a command could name."""
    return [Path(os.path.normpath(root / step.cwd / word.rpartition("=")[2])) for word in step.argv]


def _places(step: Step) -> list[str]:
    """The files that a step may leave: each choice of each."""
    places: list[str] = []
    for item in step.produces:
        places += item.split("|")
    return places


def _output_directories(root: Path, plans: Sequence[Plan], steps: Sequence[Step]) -> frozenset[str]:
    """Directories that steps write into, but never one that holds a script which a step names."""
    outputs = {_inside(root, os.path.dirname(plan.results_log)) for plan in plans}
    scripts: list[PurePosixPath] = []
    for step in steps:
        outputs.add(_inside(root, step.model_dir))
        for place in (step.log, step.weights, *_places(step)):
            outputs.add(_inside(root, os.path.dirname(place)))
        for word in step.argv:
            if word.endswith(SOURCES) and not word.startswith("-"):
                scripts.append(PurePosixPath(_inside(root, os.path.join(step.cwd, word))))
    outputs -= {"", "."}
    for script in scripts:
        outputs -= {str(parent) for parent in (script, *script.parents)}
    return frozenset(outputs)


def _program(word: str) -> str:
    """One name for an interpreter: ``bin/python`` and ``bin/python3`` of an environment are the same."""
    if word.startswith("/") and is_python(word):
        return f"{os.path.dirname(word)}:{os.path.realpath(word)}"
    return word


def _inside(root: Path, place: str) -> str:
    """A path as seen from the root; empty where it is outside."""
    path = Path(os.path.normpath(root / place))
    if not path.is_relative_to(root):
        return ""
    return path.relative_to(root).as_posix()


def _state(path: Path) -> tuple[int, ...]:
    """What the kernel changes whenever a file is written; empty: it is not there."""
    try:
        state = os.stat(path)
    except OSError:
        return ()
    return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _changed_at(folder: Path) -> int:
    """When a file was last added to a folder or taken from it."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b"\0not there"


def _text_digest(text: str | bytes) -> str:
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:16]
