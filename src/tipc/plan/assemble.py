"""From the engine's commands to the Steps, Cells and Skips of a Plan."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from tipc.config.bash import NULL
from tipc.kinds import CONVERT, CPU, EVAL, EXPORT, GPU, INFER, PREPARE, QUANTISE, TRAIN, precision_word
from tipc.plan.arguments import BashStops, PlannedCommand, interpreter_word, planned_command, visible_of
from tipc.plan.cells import cell_id, file_name, make_cell, not_here, setting_word, unique_name
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
from tipc.plan.target.placement import MACHINES, Placement
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


class Assembly:
    """A plan in the making."""

    def __init__(self, variables: Variables, options: PlanOptions) -> None:
        self.variables = variables
        self.options = options
        self.machine = options.here
        self.device = options.target
        if options.as_upstream:
            self.device = GPU
        if self.device == CPU:
            variables.missing[GPU] = not_here(self.machine)
        self.cells: dict[Combination, Cell] = {}
        self.steps: list[Step] = []
        self.skipped: list[Skip] = []
        self.notes: list[str] = []
        self.seen: dict[tuple[object, ...], str] = {}  # command → the step that runs it
        self.cell_ids: set[str] = set()
        self.ids: set[str] = set()
        self.envs: dict[tuple[object, ...], Mapping[str, str | None]] = {}  # one for all steps that have it
        self.interpreter: Interpreter | None = None  # what runs for the one that the config names
        self.before = prepared_by(options)  # what every step needs
        self.last: dict[tuple[str, str], str] = {}  # (cell, kind) → the latest step's id

    def take(self, item: ScriptCommand | Left) -> None:
        """Put one command or one omission into the plan."""
        if item.device == GPU and self.device != CPU:
            # What the script says of a GPU holds for the device that is planned for, and is called by it.
            item = item._replace(device=self.device)
        if isinstance(item, Left):
            self._skip(self._cell_name(item.cell), item, item.reason)
            return
        folder = self.options.repo
        if item.cwd != ".":
            folder = f"{folder}/{item.cwd}"
        try:
            words = planned_command(item, self.variables, allow_shell=self.options.allow_shell, cwd=folder)
        except BashStops as why:
            self._skip(self._cell_name(item.cell), item, why.reason)
            return
        cell = self._cell(item, words)
        if self.options.as_upstream:
            self.steps.append(self._step(item, cell, words))
            return
        reason = self._reason_to_skip(item, cell, words)
        if reason:
            self._skip(cell.id, item, reason)
            return
        self.steps.append(self._step(item, cell, words))
        if item.kind == TRAIN and item.cell.placement.launch == MACHINES:
            self._name_other_machines(item, cell, words)

    def _skip(self, cell: str, item: ScriptCommand | Left, reason: Reason) -> None:
        self.skipped.append(Skip(cell, item.kind, reason, item.device, _named(item.settings)))

    def _name_other_machines(self, command: ScriptCommand, cell: Cell, words: PlannedCommand) -> None:
        """What the other machines of a training have to run: their commands, which do not run here."""
        placement = command.cell.placement
        device = self.device
        if placement.cpu:
            device = CPU
        argv = self._interpreted(TRAIN, for_device(words.argv, device))
        here = rank_here(placement.machines)
        for rank, address in enumerate(placement.machines):
            if rank != here:
                there = launched_on(argv, device, placement, rank)
                reason = because("other-machine", address=address)
                self.skipped.append(Skip(cell.id, TRAIN, reason, argv=there))

    def _cell_name(self, combination: Combination) -> str:
        if combination in self.cells:
            return self.cells[combination].id
        return cell_id(combination)

    def _cell(self, command: ScriptCommand, words: PlannedCommand) -> Cell:
        combination = command.cell
        if combination not in self.cells:
            identity = unique_name(cell_id(combination), self.cell_ids)
            self.cell_ids.add(identity)
            self.cells[combination] = make_cell(combination, identity, self.device, self.machine, words.argv)
        return self.cells[combination]

    def _reason_to_skip(self, command: ScriptCommand, cell: Cell, words: PlannedCommand) -> Reason | None:
        """Why a command is not in a plan of our own; None where it is."""
        placement = command.cell.placement
        if self._lacks_devices(placement):
            here = self.machine.count(self.device)
            return because("few-devices", device=self.device, asked=placement.gpu, here=here)
        rank = rank_here(placement.machines)
        if rank and command.kind != TRAIN:  # only the first machine keeps what was trained
            return because("other-machine", address=placement.machines[0])
        key = (words.argv, words.shell, command.cwd, command.visible, tuple(words.env.items()))
        if key in self.seen and not self.variables.fixed("TF009", upstream=True, ours=False):
            return because("same-command", step=self.seen[key])
        self.seen[key] = f"{cell.id}/{_suffix(command)}"
        return None

    def _lacks_devices(self, placement: Placement) -> bool:
        """Whether an entry names a device that this machine does not have; not where one was asked for."""
        if self.options.device or self.device == CPU or placement.cpu:
            return False
        here = self.machine.count(self.device)
        for part in placement.gpu.split(","):
            if part.isdecimal() and int(part) >= here:
                return True
        return False

    def _step(self, command: ScriptCommand, cell: Cell, words: PlannedCommand) -> Step:
        identity = unique_name(f"{cell.id}/{_suffix(command)}", self.ids)
        count = processes(command.cell.placement, command.kind)
        placed = self._placed(command, words, count)
        log = command.log
        if not log:
            log = f"{command.values['log_path']}/{file_name(identity)}.log"
        model_dir = ""
        if command.kind in (EXPORT, QUANTISE, INFER):
            model_dir = command.model_dir
        step = Step(
            id=identity,
            kind=command.kind,
            cell=cell.id,
            argv=tuple(sys.intern(str(word)) for word in placed.argv),  # thousands of steps share most words
            env=self.envs.setdefault(tuple(placed.env.items()), placed.env),
            cwd=command.cwd,
            log=log,
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
            model_dir=model_dir,
            line=self.variables.lines.get(command.row, 0),
            globs=tuple(str(word) for word in words.argv if isinstance(word, Pattern)),
            shell=words.shell,
        )
        self._remember(command, step)
        return step

    def _remember(self, command: ScriptCommand, step: Step) -> None:
        """Keep what later steps ask about this one."""
        self.ids.add(step.id)
        if step.kind == PREPARE:
            self.before = (*self.before, step.id)
        if command.static:
            self.last[step.cell, step.kind] = step.id
        if step.kind == TRAIN and command.cell.trainer == self.variables.keys.get("norm_train", ""):
            self.last[command.cell.entry, "norm"] = step.id

    def _placed(self, command: ScriptCommand, words: PlannedCommand, count: int) -> Placed:
        """The command as the script runs it; in a plan of our own, as it runs on this machine."""
        placement = command.cell.placement
        device = GPU
        if command.device == CPU or placement.cpu:
            device = CPU
        env = {"CUDA_VISIBLE_DEVICES": visible_of(command), **command.env, **words.env}
        placed = Placed(words.argv, env, device, _gpus(command, device))
        if self.options.as_upstream:
            return placed
        key = self._export_device_key()
        placed = on_device(placed, command.kind, count, placement, self.device, key)
        return placed._replace(argv=self._interpreted(command.kind, placed.argv))

    def _export_device_key(self) -> str:
        """The option that says the device to an export; empty where the dialect or the config has none."""
        key = self.variables.keys.get("train_use_gpu", "")
        if key == NULL or not self.variables.rules.export_device:
            return ""
        return key

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
        norm = self.last.get((command.cell.entry, "norm"))
        if norm and command.kind == TRAIN and command.values.get("inherits"):
            needs.append(norm)
        return tuple(needs)

    def _status(self, command: ScriptCommand, words: PlannedCommand, argv: tuple[str, ...]) -> str:
        """The script's status line; in a plan of our own, with the words that really run."""
        if self.options.as_upstream:
            printed = render(command.within or "{command}", {}, {"command": command.printed})
        else:
            printed = words.shell or " ".join([*words.argv[:1], *argv[1:]])
        values = {"model_name": command.values.get("model_name", ""), "command": printed, "log": command.log}
        line = render(self.variables.rules.status, {}, values)
        if self.options.as_upstream and "\\" in line:
            line = echoed(line)
        if words.fails:
            line = line.replace("Run successfully", "Run failed", 1)
        return line

    def _measures(self, command: ScriptCommand) -> bool:
        if command.kind != INFER or self.variables.keys.get("benchmark", NULL) == NULL:
            return False
        return command.values.get("benchmark", "").lower() == "true"


def _gpus(command: ScriptCommand, device: str) -> tuple[str, ...]:
    """The GPUs that the script gives to a command: all of its cell to a training, else the first."""
    if device == CPU:
        return ()
    ids = tuple(part for part in command.cell.placement.gpu.split(",") if part)
    if not ids:
        return ("0",)
    if command.kind == TRAIN:
        return ids
    return ids[:1]


def _suffix(command: ScriptCommand) -> str:
    if command.kind == INFER:
        words = [INFER, command.device]
        for name, value in _named(command.settings).items():
            words.append(setting_word(name, value))
        return file_name("-".join(words))
    if command.static:
        return command.kind
    return f"{command.kind}-onnx"


def _named(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings with the precision by its name."""
    named = dict(settings)
    if "precision" in named:
        named["precision"] = precision_word(named["precision"])
    return named


def _settings(command: ScriptCommand) -> dict[str, str]:
    settings = {}
    if command.kind == INFER:
        settings["device"] = command.device
    for name, value in _named(command.settings).items():
        if name == "cpu_threads":
            name = "threads"
        settings[name] = value
    return settings


def _produces(command: ScriptCommand, model_files: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """The files that must be new after a step; ``a|b`` is one of them, ``*`` any file that matches."""
    if command.kind == TRAIN and command.weights:
        return trained_files(command.weights)
    if command.kind == CONVERT:
        return (command.model_dir,)
    if command.kind in (EXPORT, QUANTISE) and command.static and command.model_dir:
        directory = command.model_dir.rstrip("/")
        files = []
        for names in model_files:
            files.append("|".join([f"{directory}/{name}" for name in names]))
        return tuple(files)
    return ()


def trained_files(weights: str) -> tuple[str, ...]:
    """What a training has to leave, so that what reads its weights finds them."""
    if weights.endswith(WEIGHT_ENDINGS):
        return (weights,)
    return (f"{weights}.pdparams|{weights}",)
