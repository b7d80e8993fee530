"""From calls to links: which training each command belongs to, what it needs, what it leaves and reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tipc.plan.trace.read import paths
from tipc.plan.trace.read.calls import Call
from tipc.plan.trace.read.purposes import Purpose, PythonCall, dissect, is_python, kind_of, purpose_of
from tipc.reasons import Reason, because

_INSTALLERS = re.compile(r"(?:.*/)?(?:pip[\d.]*|conda|apt(?:-get)?|yum|dnf|uv|mamba|virtualenv)")
_MODEL_FILES = (".pdmodel", ".pdiparams", ".onnx", ".nb")
_SAVE_NAME = re.compile(r"([A-Za-z0-9]+(?:_[A-Za-z0-9]+)*?)_gpus_([^/]*?)_autocast_([^_/]+)")
_SAVE_NAME_SHORT = re.compile(r"/([A-Za-z0-9]+(?:_[A-Za-z0-9]+)*?)_gpus_([\d,-]+)")


@dataclass
class Link:
    """A command in its chain."""

    call: Call
    command: PythonCall
    kind: str
    purpose: Purpose | None
    paths: list[str]
    train: Link | None = None  # the training that it belongs to; itself for a training
    needs: list[Link] = field(default_factory=list)
    weights: str = ""
    model_dir: str = ""

    @property
    def options(self) -> list[tuple[str, str]]:
        """The options of the command, with their values."""
        return list(paths.options(self.command.arguments))


def setup_of(call: Call) -> Reason | None:
    """Why a call is no step of a plan: it prepares the environment or asks something. None for a step."""
    command = dissect(call.argv)
    if command.program.startswith("-m pip") or _INSTALLERS.fullmatch(call.argv[0]) or _installs(command):
        return because("sets-up-environment")
    if command.inline:
        return because("asks-only")
    if not is_python(call.argv[0]) and kind_of(command, None) == "prepare":
        return because("no-step")
    return None


def _installs(command: PythonCall) -> bool:
    return command.program.endswith("setup.py") and command.arguments[:1] in (("install",), ("develop",))


def link(calls: Sequence[Call], known: Sequence[Purpose], repo: Path) -> list[Link]:
    """The steps among the calls, tied to each other by the paths that they share, else by their order."""
    links: list[Link] = []
    for call in calls:
        command = dissect(call.argv)
        purpose = purpose_of(command, known, call.cwd)
        found = paths.paths(command.arguments, repo, call.cwd)
        here = Link(call, command, kind_of(command, purpose, call.cwd), purpose, found)
        _tie(here, links, repo)
        links.append(here)
    return links


def _tie(here: Link, earlier: list[Link], repo: Path) -> None:
    trains = [other for other in earlier if other.kind == "train"]
    here.needs = [other for other in earlier if other.kind == "prepare" and other is not here]
    owner = _owner(here, trains, repo)
    if here.kind == "train":
        here.train = here
        if owner:  # it starts from what another training left
            here.needs.append(owner)
        return
    here.train = owner or (trains[-1] if trains else None)
    exports = [other for other in earlier if other.kind == "export" and other.train is here.train]
    if here.kind == "infer":
        sharing = [other for other in exports if _shared(here, other, repo)]
        source = (sharing or exports or ([here.train] if here.train else []))[-1:]
        here.needs += source
    elif here.kind in ("eval", "export") and here.train:
        here.needs.append(here.train)
    if here.kind in ("eval", "export"):
        _name_weights(here, repo)
    if here.kind == "infer":
        _name_model(here, exports, repo)


def _owner(here: Link, trains: list[Link], repo: Path) -> Link | None:
    """The last training whose output directory, the deepest one first, holds a path of this command."""
    best: tuple[int, Link] | None = None
    for train in trains:
        for output in paths.outputs(train.paths, repo):
            inner = any(paths.below(path, output) for path in here.paths)
            inner = inner and not (here.kind == "train" and output in here.paths)
            if inner and (best is None or len(output) >= best[0]):
                best = (len(output), train)
    return best[1] if best else None


def _shared(here: Link, export: Link, repo: Path) -> bool:
    made = paths.outputs(export.paths, repo) or export.paths
    return any(paths.below(path, parent) for path in here.paths for parent in made)


def _name_weights(here: Link, repo: Path) -> None:
    """The file that an evaluation or an export reads of its training; the training then has to leave it."""
    outputs = paths.outputs(here.train.paths, repo) if here.train else []
    inner = [path for path in here.paths if any(paths.below(path, output) for output in outputs)]
    files = [path for path in inner if path not in outputs] or (inner if here.kind == "eval" else [])
    here.weights = files[0] if files else ""
    if here.weights and here.train and not here.train.weights:
        here.train.weights = here.weights


def _name_model(here: Link, exports: list[Link], repo: Path) -> None:
    """The directory that an inference reads; its export then is known to write there."""
    for export in reversed(exports):
        made = [path for path in paths.outputs(export.paths, repo) if path != export.weights]
        inner = [path for path in here.paths if any(paths.below(path, parent) for parent in made)]
        if inner:
            longest = max(inner, key=len)
            # Some name files of the model's directory: deploy.yaml, or its .pdmodel and .pdiparams.
            named = longest.endswith((*paths.CODE, *_MODEL_FILES))
            here.model_dir = longest.rpartition("/")[0] if named else longest
            export.model_dir = export.model_dir or here.model_dir
            return


def save_name(here: Link) -> tuple[str, str, str]:
    """Trainer, GPU item and autocast, as upstream scripts write them into the directory that is saved to."""
    for word in here.command.arguments:
        match = _SAVE_NAME.search(word)
        if match:
            return match[1], match[2], match[3]
        short = _SAVE_NAME_SHORT.search(word)
        if short:
            return short[1], short[2], ""
    return "", "", ""
