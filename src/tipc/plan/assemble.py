"""From the engine's commands to the Steps, Cells and Skips of a Plan."""

from __future__ import annotations

from tipc.config.parse import NULL
from tipc.config.records import NamedTuple
from tipc.plan.cells import cell_id, draft_cell, file_name
from tipc.plan.devices import for_device, launched, processes
from tipc.plan.draft import Cell, Skip, Step
from tipc.plan.interpreter import resolve
from tipc.plan.machine import Machine
from tipc.plan.scope import Scope
from tipc.plan.shellwords import echoed
from tipc.plan.template import render
from tipc.plan.walk import Combination, Command, Left
from tipc.plan.words import CannotStart, Words, visible_of, words_of

WEIGHT_ENDINGS = (".pdparams", ".pdopt", ".pdmodel", ".pth", ".params")
_SHORT = {"cpu_threads": "threads_{}", "batch_size": "bs{}", "precision": "{}", "use_trt": "trt_{}"}


class Target(NamedTuple):
    """For what a plan is made."""

    device: str
    machine: Machine
    repo: str
    as_upstream: bool
    python: str | None
    allow_shell: bool
    elsewhere: bool = False  # the device was asked for: whether this machine has it does not matter


class Assembly:
    """A plan in the making."""

    def __init__(self, scope: Scope, target: Target) -> None:
        self.scope = scope
        self.target = target
        if not target.as_upstream and target.device == "cpu":
            scope.missing["gpu"] = "planned for the CPU" if target.machine.gpus else "no GPU on this machine"
        self.cells: dict[Combination, Cell] = {}
        self.steps: list[Step] = []
        self.skipped: list[Skip] = []
        self.notes: list[str] = []
        self.seen: dict[tuple[object, ...], str] = {}  # command → the step that runs it
        self.ids: set[str] = set()
        self.program = ""  # what runs for the interpreter of the config
        self.last: dict[tuple[str, str], str] = {}  # (cell, kind) → the latest step's id

    def take(self, item: Command | Left) -> None:
        """Put one command or one omission into the plan."""
        if isinstance(item, Left):
            self.skipped.append(Skip(self._cell_name(item.cell), item.kind, item.what, item.reason))
            return
        try:
            words = words_of(
                item, self.scope, allow_shell=self.target.allow_shell, cwd=self._directory(item.cwd)
            )
        except CannotStart as why:
            self.skipped.append(Skip(self._cell_name(item.cell), item.kind, _what(item), str(why)))
            return
        cell = self._cell(item, words)
        reason = "" if self.target.as_upstream else self._reason_to_skip(item, cell, words)
        if reason:
            self.skipped.append(Skip(cell.id, item.kind, _what(item), reason))
            return
        self.steps.append(self._step(item, cell, words))

    def _cell_name(self, combination: Combination) -> str:
        return self.cells[combination].id if combination in self.cells else cell_id(combination)

    def _directory(self, cwd: str) -> str:
        return self.target.repo if cwd == "." else f"{self.target.repo}/{cwd}"

    def _cell(self, command: Command, words: Words) -> Cell:
        combination = command.cell
        if combination not in self.cells:
            identity, taken = cell_id(combination), {cell.id for cell in self.cells.values()}
            device = "gpu" if self.target.as_upstream else self.target.device
            self.cells[combination] = draft_cell(
                combination, _unique(identity, taken), device, self.target.machine, words.argv
            )
        return self.cells[combination]

    def _reason_to_skip(self, command: Command, cell: Cell, words: Words) -> str:
        """Why a command is not in a plan of our own; empty where it is."""
        target, placement = self.target, command.cell.placement
        if not target.elsewhere and target.device != "cpu" and not placement.cpu:
            here = target.machine.count(target.device)
            ids = [int(part) for part in placement.gpu.split(",") if part.isdecimal()]
            if ids and max(ids) >= here:
                return f"asks for {target.device} {placement.gpu}, this machine has {here}"
        key = (words.argv, words.shell, command.cwd, command.visible, tuple(words.env.items()))
        if key in self.seen:
            self.scope.fixes.add("TF009")
            return f"exactly the command of {self.seen[key]}"
        self.seen[key] = f"{cell.id}/{_suffix(command)}"
        return ""

    def _step(self, command: Command, cell: Cell, words: Words) -> Step:
        target, placement = self.target, command.cell.placement
        identity = _unique(f"{cell.id}/{_suffix(command)}", self.ids)
        self.ids.add(identity)
        argv, env = words.argv, {"CUDA_VISIBLE_DEVICES": visible_of(command), **command.env, **words.env}
        device, gpus = self._device(command)
        count = processes(placement) if command.kind == "train" else 1
        if not target.as_upstream:
            argv = self._interpreted(argv)
            if command.kind != "infer" or device != "cpu":
                argv = for_device(argv, "cpu" if placement.cpu else target.device)
            if command.kind == "train" and count > 1:
                argv = launched(argv, device, placement)
            if device == "cpu" and (target.device != "gpu" or command.kind != "infer"):
                env["CUDA_VISIBLE_DEVICES"] = None
            if device == "cpu" and count > 1:
                env["OMP_NUM_THREADS"] = "1"
        step = Step(
            id=identity,
            kind=command.kind,
            cell=cell.id,
            argv=argv,
            env=env,
            cwd=command.cwd,
            log=command.log or f"{command.values['log_path']}/{file_name(identity)}.log",
            needs=self._needs(command, cell),
            produces=_produces(command),
            status_line=self._status(command, words, argv),
            device=device,
            gpus=gpus,
            threads=self._threads(command, count),
            processes=count,
            measures=self._measures(command),
            settings=_settings(command),
            weights=command.weights,
            model_dir=command.model_dir if command.kind in ("export", "infer") else "",
            line=self.scope.lines.get(command.row, 0),
            shell=words.shell,
        )
        if command.static:
            self.last[cell.id, command.kind] = identity
        if command.kind == "train" and command.cell.trainer == self.scope.keys.get("norm_train", ""):
            self.last[command.cell.entry, "norm"] = identity
        return step

    def _interpreted(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The argv with the interpreter that is there."""
        name = self.scope.values.get("python", "").split()[:1]
        if not argv or argv[:1] != tuple(name):
            return argv
        if not self.program:
            self.program, note = resolve(argv[0], self.target.python)
            self.notes += [note] if note else []
        return (self.program, *argv[1:])

    def _device(self, command: Command) -> tuple[str, tuple[str, ...]]:
        """Where a step runs, and the device ids that it holds."""
        placement = command.cell.placement
        device = "gpu" if self.target.as_upstream else self.target.device
        if command.device == "cpu" or placement.cpu or device == "cpu":
            return "cpu", ()
        ids = tuple(part for part in placement.gpu.split(",") if part) or ("0",)
        return device, ids if command.kind == "train" else ids[:1]

    def _needs(self, command: Command, cell: Cell) -> tuple[str, ...]:
        wanted = {"eval": "train", "export": "train", "infer": "export"}.get(command.kind)
        needs = [self.last[cell.id, wanted]] if wanted and (cell.id, wanted) in self.last else []
        if command.kind == "train" and command.values.get("inherits"):
            norm = self.last.get((command.cell.entry, "norm"))
            needs += [norm] if norm else []
        return tuple(needs)

    def _status(self, command: Command, words: Words, argv: tuple[str, ...]) -> str:
        """The script's status line; in a plan of our own, with the words that really run."""
        own = words.shell or " ".join([*words.argv[:1], *argv[1:]])
        printed = command.printed if self.target.as_upstream else own
        values = {"model_name": command.values.get("model_name", ""), "command": printed, "log": command.log}
        line = render(self.scope.rules.status, {}, values)
        line = echoed(line) if self.target.as_upstream and "\\" in line else line
        return line.replace("Run successfully", "Run failed", 1) if words.fails else line

    def _threads(self, command: Command, count: int) -> int:
        asked = command.settings.get("cpu_threads", "")
        return int(asked) if command.device == "cpu" and asked.isdecimal() and int(asked) else count

    def _measures(self, command: Command) -> bool:
        key = self.scope.keys.get("benchmark", NULL)
        return (
            command.kind == "infer" and key != NULL and command.values.get("benchmark", "").lower() == "true"
        )


def _unique(name: str, taken: set[str]) -> str:
    """The name, or with the first number that makes it one of its own."""
    number = 2
    unique = name
    while unique in taken:
        unique, number = f"{name}~{number}", number + 1
    return unique


def _suffix(command: Command) -> str:
    if command.kind != "infer":
        return command.kind if command.static else f"{command.kind}-onnx"
    parts = [_SHORT.get(name, name + "_{}").format(value) for name, value in command.settings.items()]
    return file_name("-".join(["infer", command.device, *parts]))


def _what(command: Command) -> str:
    settings = [f"{name}={value}" for name, value in command.settings.items()]
    return " ".join([command.kind, *([command.device] if command.device else []), *settings])


def _settings(command: Command) -> dict[str, str]:
    renamed = {"cpu_threads": "threads"}
    settings = {renamed.get(name, name): value for name, value in command.settings.items()}
    return {"device": command.device, **settings} if command.kind == "infer" else settings


def _produces(command: Command) -> tuple[str, ...]:
    """The files that must be new after a step; ``a|b`` is one of them, ``*`` any file that matches."""
    if command.kind == "train" and command.weights:
        weights = command.weights
        return (weights,) if weights.endswith(WEIGHT_ENDINGS) else (f"{weights}.pdparams|{weights}",)
    if command.kind == "export" and command.static and command.model_dir:
        directory = command.model_dir.rstrip("/")
        return (f"{directory}/*.pdmodel|{directory}/*.json", f"{directory}/*.pdiparams")
    return ()
