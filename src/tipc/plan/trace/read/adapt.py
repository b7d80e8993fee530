"""A traced plan for the machine that is here, as native plans are made for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tipc.command import is_python
from tipc.kinds import CPU, GPU, INFER, TRAIN
from tipc.plan.cells import make_cell, not_here
from tipc.plan.matrix import Combination
from tipc.plan.model import Cell, Interpreter, Plan, Skip, Step
from tipc.plan.request import PlanOptions
from tipc.plan.target.devices import Placed, on_device, processes
from tipc.plan.target.interpreter import resolve
from tipc.plan.target.machine import Machine
from tipc.plan.trace.read.derive import placement_of, unique
from tipc.reasons import Reason, because


def adapted(plan: Plan, options: PlanOptions) -> Plan:
    """The same steps on the device that is there; what cannot run is left out with its reason."""
    device, machine = options.target, options.here
    cells = {cell.id: _cell(cell, plan.steps, device, machine) for cell in plan.cells}
    kept: dict[str, Step] = {}
    skipped = list(plan.skipped)
    interpreter: Interpreter | None = None
    seen: dict[tuple[object, ...], str] = {}
    for step in plan.steps:
        cell = cells[step.cell]
        reason = _left_out(step, cell, device, machine, kept, plan)
        key = (step.argv, step.cwd, tuple(sorted(step.env.items(), key=str)))
        if reason is None and key in seen:
            reason = because("same-command", step=seen[key])
        if reason is not None:
            skipped.append(_skip(step, reason))
            continue
        seen[key] = step.id
        asked = Placed(step.argv, step.env, step.device, step.gpus)
        placement = placement_of(cell.asked, launched=step.processes > 1)
        placed = on_device(asked, step.kind, step.processes, placement, device)
        here = replace(step, **placed._asdict())
        if is_python(here.argv[0]):
            interpreter = resolve(here.argv[0], options.python)
            here = replace(here, argv=(interpreter.program, *here.argv[1:]))
        log = _own_log(here.log, [other.log for other in kept.values()])
        kept[step.id] = replace(here, log=log)
    used = {step.cell for step in kept.values()}
    return replace(
        plan,
        as_upstream=False,
        cells=tuple(cell for cell in cells.values() if cell.id in used),
        steps=tuple(kept.values()),
        skipped=tuple(skipped),
        interpreter=interpreter,
    )


def _cell(cell: Cell, steps: Sequence[Step], device: str, machine: Machine) -> Cell:
    if cell.trainer == "prepare":
        return cell
    train = next((step for step in steps if step.cell == cell.id and step.kind == TRAIN), None)
    placement = placement_of(cell.asked or "-1", launched=bool(train and train.processes > 1))
    quant = cell.precision == "pact"
    combination = Combination(cell.trainer, cell.asked, cell.autocast, placement, quant)
    return make_cell(combination, cell.id, device, machine, train.argv if train else ())


def _left_out(
    step: Step, cell: Cell, device: str, machine: Machine, kept: dict[str, Step], plan: Plan
) -> Reason | None:
    if step.kind == INFER and step.settings.get("device") == GPU and device == CPU:
        return not_here(machine)
    wanted = processes(placement_of(cell.asked or "-1", launched=step.processes > 1))
    if device != CPU and cell.asked != "-1" and step.kind == TRAIN and wanted > machine.count(device):
        return because("few-devices", device=device, asked=wanted, here=machine.count(device))
    planned = {other.id for other in plan.steps}
    lost = [need for need in step.needs if need in planned and need not in kept]
    return because("needs-left-out", step=lost[0]) if lost else None


def _skip(step: Step, reason: Reason) -> Skip:
    if step.kind != "infer":
        return Skip(step.cell, step.kind, reason, argv=step.argv[1:])
    settings = {name: value for name, value in step.settings.items() if name != "device"}
    return Skip(step.cell, step.kind, reason, step.device, settings)


def _own_log(log: str, taken: Sequence[str]) -> str:
    """One log a command: ``x.log``, or ``x~2.log`` where another step has it."""
    stem = log.removesuffix(".log")
    ending = log[len(stem) :]
    return unique(stem, [other.removesuffix(ending) for other in taken if other.endswith(ending)]) + ending
