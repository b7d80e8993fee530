"""One walk through a config: the state that goes from command to command, and the inference matrix.

It knows no dialect. What differs between the scripts, their mistakes included, is in ``Rules``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from posixpath import basename

from tipc.config.records import NamedTuple
from tipc.config.rules import Inference, Rules
from tipc.plan.gpus import MACHINES, SINGLE, Placement
from tipc.plan.scope import Scope
from tipc.plan.template import divided

NOTHING: Mapping[str, str] = {}
CPU_WORDS, GPU_WORDS = ("False", "cpu"), ("True", "gpu")


class Combination(NamedTuple):
    """One cell as the script meets it."""

    trainer: str
    entry: str  # the GPU entry as it stands in the config
    autocast: str
    placement: Placement
    quant: bool = False


class Command(NamedTuple):
    """One command of the script, still as text."""

    kind: str
    cell: Combination
    template: str
    text: str  # what is run: without its redirection into the log
    printed: str  # as the script prints it
    log: str
    row: str  # the line that names its script
    visible: str | None = None  # CUDA_VISIBLE_DEVICES
    cwd: str = "."
    env: Mapping[str, str] = NOTHING
    device: str = ""  # infer: "cpu" or "gpu"
    settings: Mapping[str, str] = NOTHING
    weights: str = ""
    model_dir: str = ""
    static: bool = True
    values: Mapping[str, str] = NOTHING  # the variables at that moment


class Left(NamedTuple):
    """A combination that the script leaves out."""

    cell: Combination
    kind: str
    what: str
    reason: str


class Walk:
    """The engine's state: CUDA_VISIBLE_DEVICES, the logs that are taken, what was trained."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.rules: Rules = scope.rules
        self.visible: str | None = None
        self.norm_weights: tuple[str, str] | None = None  # of the last norm training: its entry, its option
        self.logs: set[str] = set()
        self.trained: set[Combination] = set()
        for name, template in self.rules.options:
            scope.keys[name] = name
            scope.values[name] = scope.render(template)

    def log(self, template: str, own: str = "") -> str:
        """The log of the next command; with ``logs="own"`` it always has a name that no other command has."""
        log = self.scope.render(template)
        if self.rules.logs == "own" and (not log or not own or log in self.logs):
            log = f"{self.scope.values['log_path']}/{self.name()}_{own or basename(log)}"
            stem, number = log.removesuffix(".log"), 2
            while log in self.logs:
                log, number = f"{stem}_{number}.log", number + 1
            self.scope.fixes.add("TF008")
        self.logs.add(log)
        self.scope.values["log"] = log
        return log

    def name(self) -> str:
        """What names the cell in a file name: its output directory; where nothing is trained, the config."""
        values = self.scope.values
        stem = basename(self.scope.config.source.path).removesuffix(".txt")
        return (
            basename(values.get("save_dir", "")).removesuffix(".log") or f"{stem}_{values.get('index', '0')}"
        )

    def _results(self, log: str) -> str:
        """Where PaddleSeg's inference puts its pictures: beside the log, and named without the GPU."""
        own = log.removesuffix(".log") + "_results"
        shared = own.replace(f"_gpu_{self.scope.values['infer_gpu']}_", "_", 1)
        if self.rules.logs != "own":
            return shared
        if shared != own and "infer1" in self.scope.keys:
            self.scope.fixes.add("TF008")
        return own

    def visible_for(self, kind: str, cell: Combination) -> str | None:
        """CUDA_VISIBLE_DEVICES for the next command."""
        if self.rules.visible == "leaky":
            return self.visible
        launched = kind == "train" and cell.placement.launch != SINGLE
        own = None if launched or cell.placement.launch == MACHINES else cell.placement.visible
        if own != self.visible:
            self.scope.fixes.add("TF007")
        return own

    def command(
        self, kind: str, cell: Combination, template: str, log: str, row: str, **more: object
    ) -> Command:
        main, redirection = divided(template)
        text = self.scope.render(main)
        printed = text + self.scope.render(redirection) if redirection else text
        values = self.scope.values.copy()
        return Command(kind, cell, main, text, printed, log, row, values=values, **more)  # type: ignore[arg-type]

    def inference(self, cell: Combination, env: dict[str, str], cwd: str) -> Iterator[Command | Left]:
        scope, rules = self.scope, self.rules
        devices = scope.walked("use_gpu")
        kept = {name: scope.values.get(name, "") for name in ("use_gpu", *_loop_names(rules))}
        scope.values["model_path"] = scope.render(rules.model_path)
        for word in devices:
            device = "cpu" if word in CPU_WORDS else "gpu" if word in GPU_WORDS else ""
            if not device:
                yield Left(
                    cell, "infer", f"infer {word or '(empty)'}", "the device is neither a CPU nor a GPU"
                )
                continue
            scope.values["use_gpu"] = word
            yield from self._matrix(cell, device, rules.infer[device], env, cwd)
        scope.values.update(kept)
        if rules.device_leaks and devices:
            scope.values["train_use_gpu"] = devices[-1]

    def _matrix(
        self, cell: Combination, device: str, inference: Inference, env: dict[str, str], cwd: str
    ) -> Iterator[Command | Left]:
        scope, rules = self.scope, self.rules
        values = scope.values
        for combination in product(*(scope.walked(name) for name in inference.loops)):
            settings = dict(zip(inference.loops, combination, strict=True))
            values.update(settings)
            rule = next((r for r in rules.skips if r.device == device and scope.holds(r.when)), None)
            if rule is not None:
                if not rule.fix or rules.mistakes:
                    yield Left(cell, "infer", _described(device, settings), rule.reason)
                    continue
                scope.fixes.add(rule.fix)
            if device in scope.missing:
                yield Left(cell, "infer", _described(device, settings), scope.missing[device])
                continue
            log = self.log(inference.log)
            values["results"] = self._results(log)
            visible = self.visible_for("infer", cell) if device == "gpu" or rules.visible == "leaky" else None
            yield self.command(
                "infer", cell, inference.command, log, "inference", visible=visible, env=env, cwd=cwd,
                device=device, settings=settings, model_dir=values["infer_dir"],
            )  # fmt: skip


def values_of(items: list[str], index: int) -> str:
    """``${items[index]}``: empty beyond the end."""
    return items[index] if index < len(items) else ""


def _described(device: str, settings: Mapping[str, str]) -> str:
    return " ".join(["infer", device, *[f"{name}={value}" for name, value in settings.items()]])


def _loop_names(rules: Rules) -> set[str]:
    return {name for inference in rules.infer.values() for name in inference.loops}
