"""What one family of scripts does with a config, as data. ``tipc.plan`` has the one engine that reads it.

Texts with holes are templates: ``tipc.plan.template`` says how they are filled. A condition is
``(variable, operator, text)``: ``=`` and ``!=`` compare as ``[ ${x} = "text" ]`` does (an empty value is
neither equal nor unequal to anything), ``==`` and ``!==`` as ``[[ ]]`` does, ``~`` and ``!~`` ask whether the
text is in the value.
``key:row`` names the key of a line.
"""

from __future__ import annotations

from collections.abc import Mapping

from tipc.config.dialect import Layout
from tipc.config.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Condition = tuple[str, str, str]


class Choice(NamedTuple):
    """A variable that gets this text where the conditions hold; a later choice outdoes an earlier one."""

    name: str
    text: str
    when: tuple[Condition, ...] = ()
    fix: str = ""


class Trainer(NamedTuple):
    """One way to train: the line whose key is its name, and what it runs."""

    row: str
    train: str
    export: str
    quant: bool = False
    compare: str = "bare"  # how the script compares the names: bare, quoted or pattern
    sets: Mapping[str, str] = {}  # further variables


class SkipRule(NamedTuple):
    """A combination of inference settings that is left out."""

    device: str  # "cpu" or "gpu"
    when: tuple[Condition, ...]
    reason: str
    fix: str = ""  # the script skips it, the documentation does not: only ``--as-upstream`` follows


class Inference(NamedTuple):
    """The inference commands of one device."""

    command: str
    loops: tuple[str, ...]  # the lists, the outermost first
    log: str


class Export(NamedTuple):
    """An export command, and when it is made."""

    command: str
    when: tuple[Condition, ...] = ()
    log: str = ""  # where it differs from ``Rules.export_log``
    static: bool = True  # it makes the model that inference reads


class Whole(NamedTuple):
    """What the modes do that train nothing."""

    modes: tuple[str, ...] = ("whole_infer",)
    when: tuple[Condition, ...] = ()  # else nothing runs at all
    over: str = ""  # the list of models or of kinds; empty: one pass
    kinds: Mapping[str, Mapping[str, str]] = {}  # mode → item → its export script
    script: str = "{infer_export}"  # the export script; a ``|``-list is taken item by item
    scripts: str = ""  # the row of that list
    export_when: tuple[Condition, ...] = (("script", "!=", "null"),)
    export: str = ""
    export_log: str = ""
    saved: str = "{item}"  # where the export goes
    kept: str = "{item}"  # where the model is when nothing is exported
    model: str = "{saved}"  # where inference reads it
    quants: str = ""  # the row of the flags
    quant: str = ""  # the flag, where there is no such row
    cwd: str = "."


class Rules(NamedTuple):
    """A script's behaviour, line by line."""

    log_path: str
    trainers: tuple[Trainer, ...]
    train: tuple[str, str, str]  # one process, several GPUs, several machines
    eval: str
    exports: tuple[Export, ...]
    infer: Mapping[str, Inference]
    whole: Whole
    save_dir: tuple[str, str]  # on one machine, on several
    status: str
    train_log: str = ""
    eval_log: str = "{log_path}/{trainer}_gpus_{gpu}_autocast_{autocast}_nodes_{nodes}_eval.log"
    export_log: str = "{log_path}/{trainer}_gpus_{gpu}_autocast_{autocast}_nodes_{nodes}_export.log"
    weights: str = "{save_dir}/{train_model_name}"
    otherwise: Trainer | None = None  # an unknown trainer; None: it is left out
    autocast: bool = True  # it loops over the autocast line
    choices: tuple[Choice, ...] = ()
    options: tuple[tuple[str, str], ...] = ()  # (name, template): options whose key is their own name
    use_gpu: str = "item"  # of the training's device line: the item of this GPU entry, or the "whole" value
    cpu_use_gpu: str = ""  # what it becomes for a GPU entry of -1
    device_leaks: bool = False  # the inference loop overwrites the training's device
    gpu_rule: str = "length"  # how a GPU entry is understood
    threshold: int = 15  # an ips text longer than this means several machines
    machine_env: bool = False  # several machines: CUDA_VISIBLE_DEVICES is the first id (else left alone)
    visible: str = "leaky"  # how CUDA_VISIBLE_DEVICES goes from command to command
    env_at_gpu: bool = False  # exported once for each single-GPU entry
    env_at_eval: bool = False  # exported before eval
    unset_at_end: bool = False  # unset after every trainer (else only after inference)
    exported: tuple[tuple[str, str, tuple[Condition, ...]], ...] = ()  # further variables: name, text, when
    model_path: str = "{infer_dir}"  # what inference is given
    infer_cwd: str = "."
    image: str = "{train_infer_img_dir}"  # what inference reads after a training
    skips: tuple[SkipRule, ...] = ()
    norm_pretrain: str = (
        ""  # pact and fpgm start from the norm training: the "last" one, or of the same "entry"
    )
    lost_weights: str = ""  # the name that replaces a weights file which is not there
    shift_without_flag: bool = False  # a missing quantisation flag shifts the arguments of the inference
    live_pipe: tuple[str, ...] = ()  # the kinds of command in which ``|`` stays a pipe
    per_mode: str = "listed"  # how a per-mode line is read: "listed", or "nearest" entry
    colons: str = ""  # "kept": a value goes on after its second colon
    tidy: bool = False  # a carriage return and blanks around null are not part of a value
    logs: str = "named"  # "own": a log that has no name or was written before gets one of its own
    mistakes: bool = True  # what the script does against its own documentation is done, too
    time_limit: str = ""  # after which a training is ended
    status_of: str = "exit"  # "log": a training's status is that of copying its log


class Dialect(NamedTuple):
    """One family of upstream scripts and the files that it reads."""

    name: str
    title: str
    layout: Layout
    rules: Rules
    promise: Mapping[str, Any] = {}  # rules that the documentation states otherwise
    # Rules for configs with a word in their path: as the script has them, as they should be.
    files: tuple[tuple[str, Mapping[str, Any], Mapping[str, Any]], ...] = ()

    def rules_for(self, path: str, as_upstream: bool) -> Rules:
        """The rules of one config file."""
        rules = self.rules if as_upstream else self.rules._replace(**self.promise)
        for word, upstream, promise in self.files:
            if word in path:
                rules = rules._replace(**(upstream if as_upstream else {**upstream, **promise}))
        return rules
