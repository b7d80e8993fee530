"""The cells of a plan: what was asked for, on what it runs here, in which precision it trains."""

from __future__ import annotations

from tipc.plan.devices import processes
from tipc.plan.draft import Cell, fields_of
from tipc.plan.machine import Machine
from tipc.plan.walk import Combination

SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,+~-")
LOW_PRECISION = ("fp16", "bf16", "float16", "bfloat16")
LEVELS = ("O1", "O2", "O3")


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


def _options(argv: tuple[str, ...]) -> list[tuple[str, str]]:
    """The options of a command, ``--x=1`` and ``--x 1`` alike; the value of a bare switch is empty."""
    found = []
    for index, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if (
            not equals
            and word.startswith("-")
            and index + 1 < len(argv)
            and not argv[index + 1].startswith("-")
        ):
            value = argv[index + 1]
        if equals or word.startswith("-"):
            found.append((name, value))
    return found


def precision_of(combination: Combination, argv: tuple[str, ...]) -> tuple[str, str]:
    """(precision, amp level) of a training, from its name, its autocast word and its arguments.

    An argument that switches AMP on or off says more than a name; of several the last holds.
    """
    quantises = any("pact" in word or "qat" in word for word in argv)
    if combination.quant or quantises or combination.trainer.startswith("pact"):
        return "pact", ""
    low = combination.autocast in ("amp", *LOW_PRECISION) or "amp" in combination.trainer.split("_")
    level, switch = "", None
    for name, value in _options(argv):
        if name.endswith(("amp_level", "AMP.level")):
            level = value if value in LEVELS else ""
        elif name.lstrip("-").rpartition(".")[2] in ("amp", "use_amp"):
            switch = value.lower() not in ("false", "none", "0", "null")
        elif name.lstrip("-").rpartition(".")[2] == "precision":
            low = low or value in LOW_PRECISION
    return ("amp", level or "O1") if (low or bool(level) if switch is None else switch) else ("fp32", "")


def draft_cell(
    combination: Combination, identity: str, device: str, machine: Machine, argv: tuple[str, ...]
) -> Cell:
    """The cell as it runs on ``device``."""
    precision, level = precision_of(combination, argv)
    placement = combination.placement
    count = processes(placement)
    reasons = []
    wants_gpu = not placement.cpu and combination.trainer != "whole_infer"
    if device == "cpu" or placement.cpu:
        runs_on = "cpu" if count == 1 else f"{count} × cpu (gloo)"
        if wants_gpu:
            reasons.append("no GPU on this machine" if not machine.gpus else "planned for the CPU")
    else:
        runs_on = f"{device}:{placement.gpu}" if placement.gpu else device
        if device != "gpu" and wants_gpu:
            reasons.append(f"planned for {device}, not for a GPU")
    if placement.nodes > 1:
        reasons.append(f"asked for {placement.nodes} machines, runs on one")
    return Cell(
        id=identity,
        trainer=combination.trainer,
        asked=combination.entry,
        runs_on=runs_on,
        autocast=combination.autocast,
        precision=precision,
        amp_level=level,
        not_certified="; ".join(reasons),
    )


def make_cell(
    combination: Combination, identity: str, device: str, machine: Machine, argv: tuple[str, ...]
) -> Cell:
    """The cell as it runs on ``device``."""
    from tipc.plan import model

    return model.Cell(**fields_of(draft_cell(combination, identity, device, machine, argv)))  # type: ignore[arg-type]
