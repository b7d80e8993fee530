"""Whether a training script does anything with the precision that its command line asks for."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from tipc.certify.logs import lines
from tipc.certify.operators import LOW, operator_counts
from tipc.certify.scene import StepScene
from tipc.certify.sources import modules

# What paddle itself prints when auto_cast or a scaler is used where it can have no effect.
WARNING = re.compile(r"(amp_guard|AmpScaler) can only be enabled on|amp only support NVIDIA GPU")
EMULATED = re.compile(r"emulat", re.IGNORECASE)
WORDS = re.compile(r"\b(?:amp|fp16|bf16|float16|bfloat16|precision)\b", re.IGNORECASE)
OPTION = re.compile(r"^--?([\w-]*(?:amp|precision|fp16|autocast)[\w-]*)$", re.IGNORECASE)
CALLS = ("auto_cast", "GradScaler", "decorate", "amp_guard", "AmpScaler")


@dataclass(frozen=True)
class FlagUse:
    """What shows that the option is used: traces in the run, calls in the source, or that nothing reads
    it."""

    traces: tuple[str, ...] = ()
    source: tuple[str, ...] = ()  # "paddle.amp.auto_cast (train.py:41)"
    unread: str = ""  # "--amp_level is declared (train.py:12) and args.amp_level is used nowhere"
    emulated: bool = False


def flag_use(scene: StepScene) -> FlagUse:
    """What can be told about one training step with mixed precision."""
    counts = operator_counts(scene.ops_file(scene.step), scene.step_log)
    low = sum(row.get(kind, 0) for row in counts.by_type.values() for kind in LOW)
    traces, emulated = [], False
    if low:
        traces.append(f"{low} operator calls in fp16/bf16, {counts.low_casts} of them casts")
    for number, text in lines(scene.step_log):
        if len(traces) < 3 and WARNING.search(text):
            traces.append(f"paddle's warning {text.strip()[:160]!r} (log line {number})")
        emulated = emulated or bool(EMULATED.search(text) and WORDS.search(text))
    # That it emulates is the script's own word: believed only where casts to low precision were counted.
    emulated = emulated and low > 0
    script = next((word for word in scene.step.argv if word.endswith(".py")), "")
    calls, unread = read_source(scene.path(script, scene.step), scene.step.argv) if script else ((), "")
    return FlagUse(tuple(traces), calls, unread, emulated)


def read_source(script: Path, argv: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The AMP calls in the script and the repository's modules that it imports; and an option that nothing
    reads."""
    names = {OPTION.match(word.partition("=")[0]) for word in argv}
    options = [match[1].replace("-", "_") for match in names if match]
    calls: list[str] = []
    declared: dict[str, str] = {}
    read: set[str] = set()
    whole = False  # the options go somewhere as a whole: vars(args), **kwargs, a function that gets `args`
    for path, tree in modules(script):
        for node in ast.walk(tree):
            place = f"{path.name}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Call):
                name = called(node)
                if name in CALLS:
                    calls.append(f"{name} ({place})")
                elif name in ("vars", "asdict"):
                    whole = True
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                read.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                if node.value.startswith("--"):
                    declared.setdefault(node.value.lstrip("-").replace("-", "_"), place)
                else:
                    read.add(node.value)  # getattr(args, "amp_level"), cfg["amp_level"]
    for option in options:
        if option in declared and option not in read and not whole:
            return tuple(calls), f"--{option} is declared at {declared[option]}, and no code uses its value"
    if options and declared and not any(option in declared for option in options) and not calls:
        return (), f"--{options[0]} is not an option that {script.name} declares"
    return tuple(calls), ""


def called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""
