"""From the engine's commands to the Steps, Cells and Skips of a Plan."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tipc.config.bash import NULL
from tipc.kinds import CONVERT, CPU, EVAL, EXPORT, GPU, INFER, PREPARE, QUANTISE, TRAIN, precision_word
from tipc.plan.arguments import BashStops, PlannedCommand, interpreter_word, planned_command, visible_of
from tipc.plan.cells import cell_id, file_name, make_cell, not_here
from tipc.plan.matrix import Combination, Left, ScriptCommand
from tipc.plan.model import Cell, Interpreter, Skip, Step
from tipc.plan.prepare import prepared_by
from tipc.plan.request import PlanOptions
from tipc.plan.shell_words import Pattern, echoed
from tipc.plan.target.devices import (
    Placed,
    for_device,
    launched_on,
    on_device,
    processes,
    rank_here,
    threads_of,
)
from tipc.plan.target.interpreter import resolve
from tipc.plan.target.placement import MACHINES
from tipc.plan.template import render
from tipc.plan.variables import Variables
from tipc.reasons import Reason, because

WEIGHT_ENDINGS = (".pdparams", ".pdopt", ".pdmodel", ".pth", ".params")
# What a kind of step reads is made by the first of these that its cell has.
READS_FROM = {
    PREPARE: (QUANTISE, EXPORT),  # links to its files
    EVAL: (TRAIN,),
    QUANTISE: (TRAIN,),
    EXPORT: (TRAIN,),
    CONVERT: (EXPORT, QUANTISE),
    INFER: (CONVERT, QUANTISE, EXPORT),
}
_SHORT = {"cpu_threads": "threads_{}", "batch_size": "bs{}", "precision": "{}", "use_trt": "trt_{}"}


class Assembly:
    """A plan in the making."""

    def __init__(self, variables: Variables, options: PlanOptions) -> None:
        self.variables = variables
        self.options = options
        self.machine = options.here
        self.device = GPU if options.as_upstream else options.target
        if self.device == CPU:
            variables.missing[GPU] = not_here(self.machine)
        self.cells: dict[Combination, Cell] = {}
        self.steps: list[Step] = []
        self.skipped: list[Skip] = []
        self.notes: list[str] = []
        self.seen: dict[tuple[object, ...], str] = {}  # command → the step that runs it
        self.ids: set[str] = set()
        self.interpreter: Interpreter | None = None  # what runs for the one that the config names
        self.before = prepared_by(options)  # what every step needs
        self.last: dict[tuple[str, str], str] = {}  # (cell, kind) → the latest step's id

    def take(self, item: ScriptCommand | Left) -> None:
        """Put one command or one omission into the plan."""
        if isinstance(item, Left):
            name = self._cell_name(item.cell)
            self.skipped.append(Skip(name, item.kind, item.reason, item.device, _named(item.settings)))
            return
        try:
            words = planned_command(
                item, self.variables, allow_shell=self.options.allow_shell, cwd=self._directory(item.cwd)
            )
        except BashStops as why:
            reason = because("cannot-start", problem=str(why))
            self.skipped.append(_skip(self._cell_name(item.cell), item, reason))
            return
        cell = self._cell(item, words)
        left_out = None if self.options.as_upstream else self._reason_to_skip(item, cell, words)
        if left_out:
            self.skipped.append(_skip(cell.id, item, left_out))
            return
        self.steps.append(self._step(item, cell, words))
        if item.kind == TRAIN and not self.options.as_upstream:
            self._name_other_machines(item, cell, words)

    def _name_other_machines(self, command: ScriptCommand, cell: Cell, words: PlannedCommand) -> None:
        """What the other machines of a training have to run: their commands, which do not run here."""
        placement = command.cell.placement
        machines = placement.machines
        if placement.launch != MACHINES:
            return
        device = CPU if placement.cpu else self.device
        argv = self._interpreted(TRAIN, for_device(words.argv, device))
        here = rank_here(machines)
        for rank, address in enumerate(machines):
            if rank != here:
                there = launched_on(argv, device, placement, rank)
                reason = because("other-machine", address=address)
                self.skipped.append(Skip(cell.id, TRAIN, reason, argv=there))

    def _cell_name(self, combination: Combination) -> str:
        return self.cells[combination].id if combination in self.cells else cell_id(combination)

    def _directory(self, cwd: str) -> str:
        return self.options.repo if cwd == "." else f"{self.options.repo}/{cwd}"

    def _cell(self, command: ScriptCommand, words: PlannedCommand) -> Cell:
        combination = command.cell
        if combination not in self.cells:
            identity, taken = cell_id(combination), {cell.id for cell in self.cells.values()}
            self.cells[combination] = make_cell(
                combination, _unique(identity, taken), self.device, self.machine, words.argv
            )
        return self.cells[combination]

    def _reason_to_skip(self, command: ScriptCommand, cell: Cell, words: PlannedCommand) -> Reason | None:
        """Why a command is not in a plan of our own; None where it is."""
        placement = command.cell.placement
        if not self.options.device and self.device != CPU and not placement.cpu:
            here = self.machine.count(self.device)
            ids = [int(part) for part in placement.gpu.split(",") if part.isdecimal()]
            if ids and max(ids) >= here:
                return because("few-devices", device=self.device, asked=placement.gpu, here=here)
        rank = rank_here(placement.machines)
        if rank and command.kind != TRAIN:  # only the first machine keeps what was trained
            return because("other-machine", address=placement.machines[0])
        key = (words.argv, words.shell, command.cwd, command.visible, tuple(words.env.items()))
        if key in self.seen and not self.variables.fixed("TF009", upstream=True, ours=False):
            return because("same-command", step=self.seen[key])
        self.seen[key] = f"{cell.id}/{_suffix(command)}"
        return None

    def _step(self, command: ScriptCommand, cell: Cell, words: PlannedCommand) -> Step:
        placement = command.cell.placement
        identity = _unique(f"{cell.id}/{_suffix(command)}", self.ids)
        self.ids.add(identity)
        count = processes(placement, command.kind)
        env = {"CUDA_VISIBLE_DEVICES": visible_of(command), **command.env, **words.env}
        device = CPU if command.device == CPU or placement.cpu else GPU
        placed = Placed(words.argv, env, device, _gpus(command))
        if not self.options.as_upstream:
            key = self._export_device_key()
            placed = on_device(placed, command.kind, count, placement, self.device, key)
            placed = placed._replace(argv=self._interpreted(command.kind, placed.argv))
        step = Step(
            id=identity,
            kind=command.kind,
            cell=cell.id,
            argv=tuple(str(word) for word in placed.argv),
            env=placed.env,
            cwd=command.cwd,
            log=command.log or f"{command.values['log_path']}/{file_name(identity)}.log",
            needs=self._needs(command, cell),
            produces=_produces(command, self.variables.rules.model_files),
            status_line=self._status(command, words, placed.argv),
            device=placed.device,
            gpus=placed.gpus,
            threads=threads_of(command.device, command.settings.get("cpu_threads", ""), count),
            processes=count,
            measures=self._measures(command),
            settings=_settings(command),
            weights=command.weights,
            model_dir=command.model_dir if command.kind in (EXPORT, QUANTISE, INFER) else "",
            line=self.variables.lines.get(command.row, 0),
            globs=tuple(str(word) for word in words.argv if isinstance(word, Pattern)),
            shell=words.shell,
        )
        if command.kind == PREPARE:
            self.before = (*self.before, identity)
        if command.static:
            self.last[cell.id, command.kind] = identity
        if command.kind == TRAIN and command.cell.trainer == self.variables.keys.get("norm_train", ""):
            self.last[command.cell.entry, "norm"] = identity
        return step

    def _export_device_key(self) -> str:
        """The option that says the device to an export; empty where the dialect or the config has none."""
        key = self.variables.keys.get("train_use_gpu", "")
        return key if self.variables.rules.export_device and key != NULL else ""

    def _interpreted(self, kind: str, argv: tuple[str, ...]) -> tuple[str, ...]:
        """A step's words with the interpreter that is there, or with a program of its environment."""
        word = interpreter_word(self.variables.values.get("python", ""))
        if self.interpreter is None:
            self.interpreter = resolve(word, self.options.python)
        if kind == CONVERT:
            beside = os.path.join(os.path.dirname(self.interpreter.program), argv[0])
            if os.access(beside, os.X_OK):
                return (beside, *argv[1:])
        if argv[0] != word:
            return argv
        return (self.interpreter.program, *argv[1:])

    def _needs(self, command: ScriptCommand, cell: Cell) -> tuple[str, ...]:
        needs = list(self.before)
        for wanted in READS_FROM.get(command.kind, ()):
            if (cell.id, wanted) in self.last:
                needs.append(self.last[cell.id, wanted])
                break
        if command.kind == TRAIN and command.values.get("inherits"):
            norm = self.last.get((command.cell.entry, "norm"))
            needs += [norm] if norm else []
        return tuple(needs)

    def _status(self, command: ScriptCommand, words: PlannedCommand, argv: tuple[str, ...]) -> str:
        """The script's status line; in a plan of our own, with the words that really run."""
        own = words.shell or " ".join([*words.argv[:1], *argv[1:]])
        printed = own
        if self.options.as_upstream:
            printed = render(command.within or "{command}", {}, {"command": command.printed})
        values = {"model_name": command.values.get("model_name", ""), "command": printed, "log": command.log}
        line = render(self.variables.rules.status, {}, values)
        line = echoed(line) if self.options.as_upstream and "\\" in line else line
        return line.replace("Run successfully", "Run failed", 1) if words.fails else line

    def _measures(self, command: ScriptCommand) -> bool:
        key = self.variables.keys.get("benchmark", NULL)
        return command.kind == INFER and key != NULL and command.values.get("benchmark", "").lower() == "true"


def _gpus(command: ScriptCommand) -> tuple[str, ...]:
    """The GPUs that the script gives to a command: all of its cell to a training, else the first."""
    placement = command.cell.placement
    if command.device == CPU or placement.cpu:
        return ()
    ids = tuple(part for part in placement.gpu.split(",") if part) or ("0",)
    return ids if command.kind == TRAIN else ids[:1]


def _unique(name: str, taken: set[str]) -> str:
    """The name, or with the first number that makes it one of its own."""
    number = 2
    unique = name
    while unique in taken:
        unique, number = f"{name}~{number}", number + 1
    return unique


def _suffix(command: ScriptCommand) -> str:
    if command.kind != INFER:
        return command.kind if command.static else f"{command.kind}-onnx"
    named = _named(command.settings)
    parts = [_SHORT.get(name, name + "_{}").format(value) for name, value in named.items()]
    return file_name("-".join([INFER, command.device, *parts]))


def _named(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings with the precision by its name."""
    if "precision" not in settings:
        return dict(settings)
    return {**settings, "precision": precision_word(settings["precision"])}


def _skip(cell: str, command: ScriptCommand, reason: Reason) -> Skip:
    return Skip(cell, command.kind, reason, command.device, _named(command.settings))


def _settings(command: ScriptCommand) -> dict[str, str]:
    renamed = {"cpu_threads": "threads"}
    settings = {renamed.get(name, name): value for name, value in _named(command.settings).items()}
    return {"device": command.device, **settings} if command.kind == INFER else settings


def _produces(command: ScriptCommand, model_files: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """The files that must be new after a step; ``a|b`` is one of them, ``*`` any file that matches."""
    if command.kind == TRAIN and command.weights:
        weights = command.weights
        return (weights,) if weights.endswith(WEIGHT_ENDINGS) else (f"{weights}.pdparams|{weights}",)
    if command.kind == CONVERT:
        return (command.model_dir,)
    if command.kind in (EXPORT, QUANTISE) and command.static and command.model_dir:
        directory = command.model_dir.rstrip("/")
        return tuple("|".join(f"{directory}/{name}" for name in names) for names in model_files)
    return ()
