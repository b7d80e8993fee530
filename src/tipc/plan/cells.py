"""The cells of a plan: what was asked for, on what it runs here, in which precision it trains."""

from __future__ import annotations

from tipc.command import Command
from tipc.kinds import AMP, AMP_LEVELS, CPU, FP32, GPU, LOW_PRECISIONS, PACT
from tipc.plan.matrix import Combination
from tipc.plan.model import Cell
from tipc.plan.target.devices import processes, rank_here
from tipc.plan.target.machine import Machine
from tipc.reasons import Reason, because

SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,+~-")
LOW_PRECISION_WORDS = (*LOW_PRECISIONS, "float16", "bfloat16")


def file_name(text: str) -> str:
    """The text with everything replaced that would not do in a file's name."""
    if SAFE.issuperset(text):
        return text
    return "".join(char if char.isalnum() or char in SAFE else "_" for char in text)


def cell_id(combination: Combination) -> str:
    """A name that is stable from run to run: ``norm_train-gpu0-null``."""
    place = f"gpu{combination.placement.gpu}" if not combination.placement.cpu else "cpu"
    if combination.placement.nodes > 1:
        place += f"x{combination.placement.nodes}"
    parts = [combination.trainer, combination.entry if combination.trainer == "whole_infer" else place]
    return "-".join(file_name(part) for part in (*parts, combination.autocast) if part) or "cell"


def precision_of(combination: Combination, argv: tuple[str, ...]) -> tuple[str, str]:
    """(precision, amp level) of a training, from its name, its autocast word and its arguments.

    An argument that switches AMP on or off says more than a name; of several the last holds.
    """
    quantises = any("pact" in word or "qat" in word for word in argv)
    if combination.quant or quantises or combination.trainer.startswith("pact"):
        return PACT, ""
    low = combination.autocast in (AMP, *LOW_PRECISION_WORDS) or "amp" in combination.trainer.split("_")
    level, switch = "", None
    for option in Command(argv).options():
        if option.name.endswith(("amp_level", "AMP.level")):
            level = option.value if option.value in AMP_LEVELS else ""
        elif option.last_name in ("amp", "use_amp"):
            switch = option.value.lower() not in ("false", "none", "0", "null")
        elif option.last_name == "precision":
            low = low or option.value in LOW_PRECISION_WORDS
    if switch is None:
        switch = low or level != ""
    return (AMP, level or AMP_LEVELS[0]) if switch else (FP32, "")


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
    placement = combination.placement
    count = processes(placement)
    reasons = []
    wants_gpu = not placement.cpu and combination.trainer != "whole_infer"
    if device == CPU or placement.cpu:
        runs_on = CPU if count == 1 else f"{count} × cpu (gloo)"
        if wants_gpu:
            reasons.append(not_here(machine))
    else:
        runs_on = f"{device}:{placement.gpu}" if placement.gpu else device
        if device != GPU and wants_gpu:
            reasons.append(because("other-device", device=device, asked=GPU))
    if placement.nodes > 1 and rank_here(placement.machines) is None:
        reasons.append(because("one-machine", asked=placement.nodes))
    return Cell(
        id=identity,
        trainer=combination.trainer,
        asked=combination.entry,
        runs_on=runs_on,
        autocast=combination.autocast,
        precision=precision,
        amp_level=level,
        not_certified=tuple(reasons),
    )
