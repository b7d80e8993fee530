"""A traced plan for the machine that is here, as native plans are made for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from tipc.command import Command
from tipc.kinds import CPU, GPU, INFER, PACT, PREPARE, TRAIN
from tipc.plan.cells import make_cell, not_here, unique_name
from tipc.plan.matrix import Combination
from tipc.plan.model import Cell, Interpreter, Plan, Skip, Step
from tipc.plan.request import PlanOptions
from tipc.plan.target.devices import Placed, on_device, processes
from tipc.plan.target.interpreter import resolve
from tipc.plan.target.machine import Machine
from tipc.plan.trace.read.derive import placement_of
from tipc.reasons import Reason, because


def adapted(plan: Plan, options: PlanOptions) -> Plan:
    """The same steps on the device that is there; what cannot run is left out with its reason."""
    adaptation = Adaptation(plan, options)
    for step in plan.steps:
        adaptation.take(step)
    steps = tuple(adaptation.kept.values())
    used = {step.cell for step in steps}
    return replace(
        plan,
        as_upstream=False,
        cells=tuple(cell for cell in adaptation.cells.values() if cell.id in used),
        steps=steps,
        skipped=(*plan.skipped, *adaptation.skipped),
        interpreter=adaptation.interpreter,
    )


class Adaptation:
    """A traced plan on its way to another machine, step by step."""

    def __init__(self, plan: Plan, options: PlanOptions) -> None:
        self.options = options
        self.device = options.target
        self.machine = options.here
        self.planned = {step.id for step in plan.steps}
        self.cells: dict[str, Cell] = {}
        for cell in plan.cells:
            self.cells[cell.id] = _cell(cell, plan.steps, self.device, self.machine)
        self.kept: dict[str, Step] = {}  # by their ids
        self.skipped: list[Skip] = []
        self.interpreter: Interpreter | None = None
        self.seen: dict[tuple[object, ...], str] = {}  # command → the step that runs it

    def take(self, step: Step) -> None:
        """Keep a step as it runs here, or leave it out."""
        reason = self._left_out(step)
        if reason is not None:
            self.skipped.append(_skip(step, reason))
            return
        self.seen[_command_key(step)] = step.id
        self.kept[step.id] = self._adapted(step)

    def _left_out(self, step: Step) -> Reason | None:
        """Why a step does not run here; None where it does."""
        if self.device == CPU and step.kind == INFER and step.settings.get("device") == GPU:
            return not_here(self.machine)
        if self.device != CPU and step.kind == TRAIN:
            reason = self._too_few_devices(step)
            if reason is not None:
                return reason
        for need in step.needs:
            if need in self.planned and need not in self.kept:
                return because("needs-left-out", step=need)
        key = _command_key(step)
        if key in self.seen:
            return because("same-command", step=self.seen[key])
        return None

    def _too_few_devices(self, train: Step) -> Reason | None:
        asked = self.cells[train.cell].asked
        if asked == "-1":
            return None
        wanted = processes(placement_of(asked or "-1", launched=train.processes > 1))
        here = self.machine.count(self.device)
        if wanted <= here:
            return None
        return because("few-devices", device=self.device, asked=wanted, here=here)

    def _adapted(self, step: Step) -> Step:
        asked = Placed(step.argv, step.env, step.device, step.gpus)
        placement = placement_of(self.cells[step.cell].asked, launched=step.processes > 1)
        placed = on_device(asked, step.kind, step.processes, placement, self.device)
        command = Command(placed.argv)
        if command.interpreter:
            self.interpreter = resolve(command.interpreter, self.options.python)
            command = command.with_interpreter(self.interpreter.program)
        taken = {other.log for other in self.kept.values()}
        here = replace(
            step,
            argv=command.argv,
            env=placed.env,
            device=placed.device,
            gpus=placed.gpus,
            log=_own_log(step.log, taken),
        )
        return _renamed(here)


def _command_key(step: Step) -> tuple[object, ...]:
    """What makes two steps the same command."""
    return (step.argv, step.cwd, tuple(sorted(step.env.items(), key=str)))


def _cell(cell: Cell, steps: Sequence[Step], device: str, machine: Machine) -> Cell:
    if cell.trainer == PREPARE:
        return cell
    argv: tuple[str, ...] = ()
    launched = False
    for step in steps:
        if step.cell == cell.id and step.kind == TRAIN:
            argv = step.argv
            launched = step.processes > 1
            break
    placement = placement_of(cell.asked or "-1", launched=launched)
    combination = Combination(cell.trainer, cell.asked, cell.autocast, placement, cell.precision == PACT)
    return make_cell(combination, cell.id, device, machine, argv)


def _renamed(step: Step) -> Step:
    """The step called by the device that it runs on, where its script names a GPU."""
    if step.kind != INFER or step.device == CPU or step.settings.get("device") != GPU:
        return step
    name = step.id.replace(f"/{INFER}-{GPU}", f"/{INFER}-{step.device}", 1)
    return replace(step, id=name, settings={**step.settings, "device": step.device})


def _skip(step: Step, reason: Reason) -> Skip:
    if step.kind != INFER:
        return Skip(step.cell, step.kind, reason, argv=step.argv[1:])
    settings = dict(step.settings)
    settings.pop("device", None)
    return Skip(step.cell, step.kind, reason, step.device, settings)


def _own_log(log: str, taken: Collection[str]) -> str:
    """One log a command: ``x.log``, or ``x~2.log`` where another step has it."""
    if log.endswith(".log"):
        stems = set()
        for other in taken:
            if other.endswith(".log"):
                stems.add(other.removesuffix(".log"))
        return unique_name(log.removesuffix(".log"), stems) + ".log"
    return unique_name(log, taken)
