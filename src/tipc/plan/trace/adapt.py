"""A traced plan for the machine that is here, as native plans are made for it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from tipc.plan.cells import make_cell
from tipc.plan.devices import for_device, launched, processes
from tipc.plan.interpreter import resolve
from tipc.plan.machine import Machine
from tipc.plan.model import Cell, Plan, Skip, Step
from tipc.plan.trace.derive import WHOLE, placement_of, unique
from tipc.plan.trace.kinds import is_python
from tipc.plan.walk import Combination

_WILDCARD = re.compile(r"[*?\[]")


def adapted(plan: Plan, *, device: str, machine: Machine, python: str | None, allow_shell: bool) -> Plan:
    """The same steps on ``device``: what cannot run there is left out with its reason, no command twice."""
    cells = {cell.id: _cell(cell, plan.steps, device, machine) for cell in plan.cells}
    kept: dict[str, Step] = {}
    skipped, notes = list(plan.skipped), list(plan.notes)
    seen: dict[tuple[object, ...], str] = {}
    for step in plan.steps:
        cell = cells[step.cell]
        reason = _left_out(step, cell, device, machine, kept, plan)
        key = (step.argv, step.cwd, tuple(sorted(step.env.items(), key=str)))
        if not reason and key in seen:
            reason = f"exactly the command of {seen[key]}"
        if reason:
            skipped.append(Skip(step.cell, step.kind, _what(step), reason))
            continue
        seen[key] = step.id
        here, note = _step(step, cell, device, python)
        if note and note not in notes:
            notes.append(note)
        log = _own_log(here.log, [other.log for other in kept.values()])
        shell = _with_wildcards(here.argv) if allow_shell else ""
        kept[step.id] = replace(here, log=log, shell=shell)
    for cell in cells.values():
        note = f"{cell.asked or 'gpu'} → {cell.runs_on}: {cell.not_certified}"
        if cell.not_certified and note not in notes:
            notes.append(note)
    used = {step.cell for step in kept.values()}
    return replace(
        plan,
        as_upstream=False,
        cells=tuple(cell for cell in cells.values() if cell.id in used),
        steps=tuple(kept.values()),
        skipped=tuple(skipped),
        notes=tuple(notes),
    )


def _cell(cell: Cell, steps: Sequence[Step], device: str, machine: Machine) -> Cell:
    if cell.trainer == "prepare":
        return cell
    train = next((step for step in steps if step.cell == cell.id and step.kind == "train"), None)
    placement = placement_of(cell.asked or "-1", launched=bool(train and train.processes > 1))
    quant = cell.precision == "pact"
    combination = Combination(cell.trainer, cell.asked, cell.autocast, placement, quant)
    return make_cell(combination, cell.id, device, machine, train.argv if train else ())


def _left_out(
    step: Step, cell: Cell, device: str, machine: Machine, kept: dict[str, Step], plan: Plan
) -> str:
    if step.kind == "infer" and step.settings.get("device") == "gpu" and device == "cpu":
        return "planned for the CPU" if machine.gpus else "no GPU on this machine"
    wanted = processes(placement_of(cell.asked or "-1", launched=step.processes > 1))
    if device != "cpu" and cell.asked != "-1" and step.kind == "train" and wanted > machine.count(device):
        return f"asks for {wanted} devices, this machine has {machine.count(device)}"
    planned = {other.id for other in plan.steps}
    lost = [need for need in step.needs if need in planned and need not in kept]
    return f"{lost[0]} is left out" if lost else ""


def _step(step: Step, cell: Cell, device: str, python: str | None) -> tuple[Step, str]:
    """The step on this machine, and a note about its interpreter."""
    argv, env, note = step.argv, dict(step.env), ""
    if is_python(argv[0]):
        program, note = resolve(argv[0], python)
        argv = (program, *argv[1:])
    here = "cpu" if cell.asked == "-1" or step.device == "cpu" or device == "cpu" else device
    if step.kind != "infer" or here != "cpu":
        argv = for_device(argv, here)
    if step.processes > 1:
        argv = launched(argv, here, placement_of(cell.asked, launched=True))
    if here == "cpu":
        if device != "gpu" or step.kind != "infer":
            env["CUDA_VISIBLE_DEVICES"] = None
        if step.processes > 1:
            env["OMP_NUM_THREADS"] = "1"
    gpus = step.gpus if here != "cpu" else ()
    if cell.trainer == WHOLE and here != "cpu":
        gpus = gpus or ("0",)
    return replace(step, argv=argv, env=env, device=here, gpus=gpus), note


def _what(step: Step) -> str:
    """What is left out: ``infer gpu batch_size=1``, or the command where nothing else tells it."""
    settings = [f"{name}={value}" for name, value in step.settings.items() if name != "device"]
    return " ".join(
        [step.kind, step.device, *settings] if step.kind == "infer" else [step.kind, *step.argv[1:]]
    )


def _own_log(log: str, taken: Sequence[str]) -> str:
    """One log a command: ``x.log``, or ``x~2.log`` where another step has it."""
    stem = log.removesuffix(".log")
    ending = log[len(stem) :]
    return unique(stem, [other.removesuffix(ending) for other in taken if other.endswith(ending)]) + ending


def _with_wildcards(argv: tuple[str, ...]) -> str:
    """The command for a shell, if it has wildcards that only a shell fills in; else empty."""
    if not any(_WILDCARD.search(word) for word in argv):
        return ""
    return " ".join(
        word if _WILDCARD.search(word) and " " not in word else shlex.quote(word) for word in argv
    )
