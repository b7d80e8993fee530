"""From calls to links: which training each command belongs to, what it needs, what it leaves and reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tipc.command import Command
from tipc.kinds import EVAL, EXPORT, INFER, PREPARE, TRAIN
from tipc.plan.trace.read import paths
from tipc.plan.trace.read.calls import Call
from tipc.plan.trace.read.purposes import Purpose, kind_of, purpose_of
from tipc.reasons import Reason, because

_INSTALLERS = re.compile(r"(?:.*/)?(?:pip[\d.]*|conda|apt(?:-get)?|yum|dnf|uv|mamba|virtualenv)")
_MODEL_FILES = (".pdmodel", ".pdiparams", ".onnx", ".nb")
_SAVE_NAME = re.compile(r"([A-Za-z0-9]+(?:_[A-Za-z0-9]+)*?)_gpus_([^/]*?)_autocast_([^_/]+)")
_SAVE_NAME_SHORT = re.compile(r"/([A-Za-z0-9]+(?:_[A-Za-z0-9]+)*?)_gpus_([\d,-]+)")


@dataclass
class Link:
    """A command in its chain."""

    call: Call
    kind: str
    purpose: Purpose | None
    paths: list[str]
    train: Link | None = None  # the training that it belongs to; itself for a training
    needs: list[Link] = field(default_factory=list)
    weights: str = ""
    model_dir: str = ""

    @property
    def command(self) -> Command:
        """The words of its call taken apart."""
        return self.call.command


def setup_of(call: Call) -> Reason | None:
    """Why a call is no step of a plan: it prepares the environment or asks something. None for a step."""
    command = call.command
    if command.module == "pip" or _INSTALLERS.fullmatch(command.program) or _installs(command):
        return because("sets-up-environment")
    if not command.entry:
        return because("asks-only")
    if not command.interpreter and kind_of(command, None) == PREPARE:
        return because("no-step")
    return None


def _installs(command: Command) -> bool:
    return command.entry.endswith("setup.py") and command.arguments[:1] in (("install",), ("develop",))


def link(calls: Sequence[Call], known: Sequence[Purpose], repo: Path) -> list[Link]:
    """The steps among the calls, tied to each other by the paths that they share, else by their order."""
    tree = paths.Tree(repo, paths.folders_of([call.log for call in calls]))
    links: list[Link] = []
    for call in calls:
        command = call.command
        purpose = purpose_of(command, known, call.cwd)
        found = paths.paths(command, repo, call.cwd)
        here = Link(call, kind_of(command, purpose, call.cwd), purpose, found)
        _tie(here, links, tree)
        links.append(here)
    return links


def _tie(here: Link, earlier: list[Link], tree: paths.Tree) -> None:
    """Say which training a command belongs to, what it needs, and what it reads."""
    trains = [other for other in earlier if other.kind == TRAIN]
    here.needs = [other for other in earlier if other.kind == PREPARE]
    owner = _owner(here, trains, tree)
    if here.kind == TRAIN:
        here.train = here
        if owner:  # it starts from what another training left
            here.needs.append(owner)
        return
    if owner is None and trains:
        owner = trains[-1]
    here.train = owner
    if here.kind in (EVAL, EXPORT):
        if owner:
            here.needs.append(owner)
        _name_weights(here, tree)
    if here.kind == INFER:
        exports = []
        for other in earlier:
            if other.kind == EXPORT and other.train is owner:
                exports.append(other)
        _tie_to_export(here, exports, tree)
        _name_model(here, exports, tree)


def _tie_to_export(here: Link, exports: list[Link], tree: paths.Tree) -> None:
    """An inference needs the last export that shares a path with it, else the last one, else its training."""
    for export in reversed(exports):
        if _shared(here, export, tree):
            here.needs.append(export)
            return
    if exports:
        here.needs.append(exports[-1])
    elif here.train:
        here.needs.append(here.train)


def _owner(here: Link, trains: list[Link], tree: paths.Tree) -> Link | None:
    """The last training whose output directory, the deepest one first, holds a path of this command."""
    best: Link | None = None
    deepest = 0
    for train in trains:
        for output in tree.outputs(train.paths):
            if here.kind == TRAIN and output in here.paths:
                continue  # both save there: none starts from the other
            if len(output) >= deepest and paths.any_below(here.paths, [output]):
                best, deepest = train, len(output)
    return best


def _shared(here: Link, export: Link, tree: paths.Tree) -> bool:
    return paths.any_below(here.paths, tree.outputs(export.paths) or export.paths)


def _name_weights(here: Link, tree: paths.Tree) -> None:
    """The file that an evaluation or an export reads of its training; the training then has to leave it."""
    if here.train is None:
        return
    outputs = tree.outputs(here.train.paths)
    inner = paths.those_below(here.paths, outputs)
    files = [path for path in inner if path not in outputs]
    if files:
        here.weights = files[0]
    elif inner and here.kind == EVAL:
        here.weights = inner[0]
    if not here.train.weights:
        here.train.weights = here.weights


def _name_model(here: Link, exports: list[Link], tree: paths.Tree) -> None:
    """The directory that an inference reads; its export then is known to write there."""
    for export in reversed(exports):
        made = [path for path in tree.outputs(export.paths) if path != export.weights]
        inner = paths.those_below(here.paths, made)
        if inner:
            here.model_dir = _model_directory(max(inner, key=len))
            export.model_dir = export.model_dir or here.model_dir
            return


def _model_directory(path: str) -> str:
    """Some commands name files of the model's directory: deploy.yaml, or its .pdmodel and .pdiparams."""
    if path.endswith((*paths.CODE, *_MODEL_FILES)):
        return path.rpartition("/")[0]
    return path


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
