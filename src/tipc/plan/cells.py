"""The cells of a plan: what was asked for, on what it runs here, in which precision it trains."""

from __future__ import annotations

from collections.abc import Container, Iterator

from tipc.command import Command
from tipc.kinds import AMP, AMP_LEVELS, CPU, FP32, GPU, LOW_PRECISIONS, PACT
from tipc.plan.matrix import Combination
from tipc.plan.model import Cell
from tipc.plan.target.devices import processes, rank_here
from tipc.plan.target.machine import Machine
from tipc.plan.target.placement import Placement
from tipc.reasons import Reason, because

SHORT_NAMES = {"cpu_threads": "threads", "use_trt": "trt"}  # of settings, in the ids of steps
SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,+~-")
LOW_PRECISION_WORDS = (*LOW_PRECISIONS, "float16", "bfloat16")


def file_name(text: str) -> str:
    """The text with everything replaced that would not do in a file's name."""
    if SAFE.issuperset(text):
        return text
    return "".join(char if char.isalnum() or char in SAFE else "_" for char in text)


def unique_name(name: str, taken: Container[str]) -> str:
    """The name, or with the first number that makes it one of its own."""
    number = 2
    unique = name
    while unique in taken:
        unique = f"{name}~{number}"
        number += 1
    return unique


def setting_word(name: str, value: str) -> str:
    """How the id of a step tells a setting: ``bs1``, ``fp32``, ``threads_6``."""
    if name == "batch_size":
        return f"bs{value}"
    if name == "precision":
        return value
    return f"{SHORT_NAMES.get(name, name)}_{value}"


def cell_id(combination: Combination) -> str:
    """A name that is stable from run to run: ``norm_train-gpu0-null``."""
    parts = []
    for part in (combination.trainer, _place(combination), combination.autocast):
        if part:
            parts.append(file_name(part))
    return "-".join(parts) or "cell"


def _place(combination: Combination) -> str:
    """Where a training runs; of what is not trained, the model."""
    if combination.trainer == "whole_infer":
        return combination.entry
    placement = combination.placement
    place = CPU
    if not placement.cpu:
        place = f"gpu{placement.gpu}"
    if placement.nodes > 1:
        place += f"x{placement.nodes}"
    return place


def precision_of(combination: Combination, argv: tuple[str, ...]) -> tuple[str, str]:
    """(precision, amp level) of a training, from its name, its autocast word and its arguments."""
    if combination.quant or combination.trainer.startswith("pact") or _quantises(argv):
        return PACT, ""
    switch, level = _amp_options(argv)
    if switch is None:
        autocast = combination.autocast
        named = autocast in (AMP, *LOW_PRECISION_WORDS) or "amp" in combination.trainer.split("_")
        switch = named or level != ""
    if not switch:
        return FP32, ""
    return AMP, level or AMP_LEVELS[0]


def _quantises(argv: tuple[str, ...]) -> bool:
    return any("pact" in word or "qat" in word for word in argv)


def _amp_options(argv: tuple[str, ...]) -> tuple[bool | None, str]:
    """Whether the arguments switch AMP on or off, None where they do not say; and its level.

    An argument that switches it says more than a type of number does; of several the last holds.
    """
    switch: bool | None = None
    low = False
    level = ""
    for option in Command(argv).options():
        if option.name.endswith(("amp_level", "AMP.level")):
            level = ""
            if option.value in AMP_LEVELS:
                level = option.value
        elif option.last_name in ("amp", "use_amp"):
            switch = option.value.lower() not in ("false", "none", "0", "null")
        elif option.last_name == "precision" and option.value in LOW_PRECISION_WORDS:
            low = True
    if switch is None and low:
        switch = True
    return switch, level


def not_here(machine: Machine) -> Reason:
    """Why something for a GPU is not run on one."""
    if machine.gpus:
        return because("planned-for", device=CPU)
    return because("no-device", device=GPU)


def make_cell(
    combination: Combination, identity: str, device: str, machine: Machine, argv: tuple[str, ...]
) -> Cell:
    """The cell as it runs on ``device``."""
    precision, level = precision_of(combination, argv)
    if combination.placement.cpu:
        device = CPU
    return Cell(
        id=identity,
        trainer=combination.trainer,
        asked=combination.entry,
        runs_on=_runs_on(combination.placement, device),
        autocast=combination.autocast,
        precision=precision,
        amp_level=level,
        not_certified=tuple(_not_certified(combination, device, machine)),
    )


def _runs_on(placement: Placement, device: str) -> str:
    if device == CPU:
        count = processes(placement)
        if count == 1:
            return CPU
        return f"{count} × cpu (gloo)"
    if not placement.gpu:
        return device
    return f"{device}:{placement.gpu}"


def _not_certified(combination: Combination, device: str, machine: Machine) -> Iterator[Reason]:
    """Why the cell proves nothing about what was asked for."""
    placement = combination.placement
    if not placement.cpu and combination.trainer != "whole_infer":
        if device == CPU:
            yield not_here(machine)
        elif device != GPU:
            yield because("other-device", device=device, asked=GPU)
    if placement.nodes > 1 and rank_here(placement.machines) is None:
        yield because("one-machine", asked=placement.nodes)
