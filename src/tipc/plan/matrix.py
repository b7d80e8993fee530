"""One pass through a config: the state that goes from command to command, and the inference matrix.

It knows no dialect. What differs between the scripts, their mistakes included, is in ``Rules``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from posixpath import basename
from typing import NamedTuple, TypeVar

from tipc.config.rules import Inference, Rules, Template
from tipc.errors import UsageError, wording
from tipc.kinds import CPU, GPU, INFER, TRAIN
from tipc.plan.target.placement import MACHINES, SINGLE, Placement
from tipc.plan.template import divided
from tipc.plan.variables import Variables
from tipc.reasons import Reason, because

MOST_COMMANDS = 20_000  # of a config: real ones have some hundred
Planned = TypeVar("Planned")
# What the device list of the inference says, and what the scripts take it for.
DEVICE_WORDS = {"False": CPU, CPU: CPU, "True": GPU, GPU: GPU}


class Combination(NamedTuple):
    """One cell as the script meets it."""

    trainer: str
    entry: str  # the GPU entry as it stands in the config
    autocast: str
    placement: Placement
    quant: bool = False


class ScriptCommand(NamedTuple):
    """One command of the script, still as text."""

    kind: str
    cell: Combination
    template: str
    text: str  # what is run: without its redirection into the log
    printed: str  # with it, as the script prints it
    log: str
    row: str  # the line that names its script
    visible: str | None = None  # CUDA_VISIBLE_DEVICES
    cwd: str = "."
    env: Mapping[str, str] = {}
    device: str = ""  # infer: "cpu" or "gpu"
    settings: Mapping[str, str] = {}
    weights: str = ""
    model_dir: str = ""
    static: bool = True
    within: str = ""  # what the script prints around it: ``cd x && {command}``
    values: Mapping[str, str] = {}  # the variables at that moment


class Left(NamedTuple):
    """A combination that the script leaves out."""

    cell: Combination
    kind: str
    reason: Reason
    device: str = ""
    settings: Mapping[str, str] = {}


class ScriptState:
    """The engine's state: CUDA_VISIBLE_DEVICES, the logs that are taken, what was trained."""

    def __init__(self, variables: Variables) -> None:
        self.variables = variables
        self.rules: Rules = variables.rules
        self.visible: str | None = None
        self.norm_weights: tuple[str, str] | None = None  # of the last norm training: its entry, its option
        self.logs: set[str] = set()
        self.weights_name = variables.values.get("train_model_name", "")  # as the script has it by now
        self.trained: set[Combination] = set()
        self.exported: set[str] = set()  # variables that were exported once
        for name, template in self.rules.options:
            variables.keys[name] = name
            variables.values[name] = variables.render(template)

    def exports(self) -> dict[str, str]:
        """The variables that the script has exported by now."""
        for name, _, when in self.rules.exported:
            if self.variables.holds(when):
                self.exported.add(name)
        env = {}
        for name, text, _ in self.rules.exported:
            if name in self.exported:
                env[name] = self.variables.render(text)
        return env

    def log(self, template: str, own: str = "") -> str:
        """The log of the next command; in a plan of our own it has a name that no other command has."""
        named = self.variables.render(template)
        log = self.variables.fixed("TF008", upstream=named, ours=self._own_log(named, own))
        self.logs.add(log)
        self.variables.values["log"] = log
        return log

    def _own_log(self, named: str, own: str) -> str:
        """The script's name for a log, where it is one; else a name that no other command has."""
        if named and own and named not in self.logs:
            return named
        log = f"{self.variables.values['log_path']}/{self.name()}_{own or basename(named)}"
        stem = log.removesuffix(".log")
        number = 2
        while log in self.logs:
            log = f"{stem}_{number}.log"
            number += 1
        return log

    def name(self) -> str:
        """What names the cell in a file name: its output directory; where nothing is trained, the config."""
        values = self.variables.values
        trained = basename(values.get("save_dir", "")).removesuffix(".log")
        if trained:
            return trained
        config = basename(self.variables.config.source.path).removesuffix(".txt")
        return f"{config}_{values.get('index', '0')}"

    def _results(self, log: str) -> str:
        """Where PaddleSeg's inference puts its pictures: beside the log, and named without the GPU."""
        own = log.removesuffix(".log") + "_results"
        shared = own.replace(f"_gpu_{self.variables.values['infer_gpu']}_", "_", 1)
        if "infer1" not in self.variables.keys:
            return own
        return self.variables.fixed("TF008", upstream=shared, ours=own)

    def visible_for(self, kind: str, cell: Combination) -> str | None:
        """CUDA_VISIBLE_DEVICES for the next command."""
        own = cell.placement.visible
        if cell.placement.launch == MACHINES or (kind == TRAIN and cell.placement.launch != SINGLE):
            own = None
        return self.variables.fixed("TF007", upstream=self.visible, ours=own)

    def command(
        self,
        kind: str,
        cell: Combination,
        command: Template,
        log: str,
        row: str,
        **more: object,
    ) -> ScriptCommand:
        main, redirection = divided(self.variables.template(command))
        text = self.variables.render(main)
        printed = text + self.variables.render(redirection)
        values = self.variables.values.copy()
        return ScriptCommand(kind, cell, main, text, printed, log, row, values=values, **more)  # type: ignore[arg-type]

    def inference(self, cell: Combination, env: dict[str, str], cwd: str) -> Iterator[ScriptCommand | Left]:
        variables, rules = self.variables, self.rules
        devices = [CPU]
        if "use_gpu" in variables.config.rows:
            devices = variables.walked("use_gpu")
        kept = {}
        for name in _loop_names(rules):
            kept[name] = variables.values.get(name, "")
        variables.values["model_path"] = variables.render(rules.model_path)
        for word in devices:
            device = DEVICE_WORDS.get(word, "")
            if not device or (rules.device_words and word not in rules.device_words):
                yield Left(cell, INFER, because("unknown-device-word", word=word), word)
                continue
            variables.values["use_gpu"] = word
            yield from self._matrix(cell, device, rules.infer[device], env, cwd)
        variables.values.update(kept)
        if rules.device_leaks and devices:
            variables.values["train_use_gpu"] = devices[-1]

    def _matrix(
        self, cell: Combination, device: str, inference: Inference, env: dict[str, str], cwd: str
    ) -> Iterator[ScriptCommand | Left]:
        variables, values = self.variables, self.variables.values
        lists = [variables.walked(name) for name in inference.loops]
        for combination in product(*lists):
            settings = dict(zip(inference.loops, combination, strict=True))
            values.update(settings)
            reason = self._reason_to_skip(device)
            if reason is not None:
                yield Left(cell, INFER, reason, device, settings)
                continue
            log = self.log(inference.log)
            values["results"] = self._results(log)
            visible = None
            if device == GPU or self.rules.mistakes:
                visible = self.visible_for(INFER, cell)
            yield self.command(
                INFER, cell, inference.command, log, "inference", visible=visible, env=env, cwd=cwd,
                device=device, settings=settings, model_dir=values["infer_dir"],
                within=inference.printed,
            )  # fmt: skip

    def _reason_to_skip(self, device: str) -> Reason | None:
        """Why the inference with the settings of this moment is left out: by the script, or as no device."""
        variables = self.variables
        for rule in self.rules.skips:
            if rule.device == device and variables.holds(rule.when):
                if not rule.fix or variables.fixed(rule.fix, upstream=True, ours=False):
                    return because(rule.reason)
                break  # the first rule decides
        return variables.missing.get(device)


def bounded(items: Iterable[Planned], path: str, most: int = MOST_COMMANDS) -> Iterator[Planned]:
    """The commands of a config, unless its lists multiply to more than anybody means."""
    for number, item in enumerate(items):
        if number >= most:
            raise UsageError(
                wording("the lists of this config multiply to more than {most} commands", most=most),
                path=path,
            )
        yield item


def values_of(items: list[str], index: int) -> str:
    """``${items[index]}``: empty beyond the end."""
    if index >= len(items):
        return ""
    return items[index]


def _loop_names(rules: Rules) -> set[str]:
    """The variables that the loops of the inference set."""
    names = {"use_gpu"}
    for inference in rules.infer.values():
        names.update(inference.loops)
    return names
