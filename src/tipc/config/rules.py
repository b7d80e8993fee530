"""What one family of scripts does with a config, as data. ``tipc.plan`` has the one engine that reads it.

Texts with holes are templates: ``tipc.plan.template`` says how they are filled. A condition is
``(variable, operator, text)``: ``=`` and ``!=`` compare as ``[ ${x} = "text" ]`` does (an empty value is
neither equal nor unequal to anything), ``==`` and ``!==`` as ``[[ ]]`` does, ``~`` and ``!~`` ask whether the
text is in the value.
``key:row`` names the key of a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tipc.config.layout import Layout
from tipc.kinds import EXPORT, MODEL_FORMATS, Chain

Condition = tuple[str, str, str]
# The two files of an exported model, each in one of paddle's own formats.
MODEL_FILES = (
    tuple(f"*{one.structure}" for one in MODEL_FORMATS.values()),
    tuple(dict.fromkeys(f"*{one.parameters}" for one in MODEL_FORMATS.values())),
)


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


class Fixed(NamedTuple):
    """A command that the script gets wrong: as it has it, as it should be, and the names of the fixes."""

    fixes: tuple[str, ...]
    upstream: str
    ours: str


Template = str | Fixed


class Conversion(NamedTuple):
    """A command that makes another format of a model, and when it is made."""

    command: Template
    made: str  # the file that it makes
    log: str
    when: tuple[Condition, ...] = ()


class SkipRule(NamedTuple):
    """A combination of inference settings that is left out."""

    device: str  # "cpu" or "gpu"
    when: tuple[Condition, ...]
    reason: str  # a code of ``tipc.reasons``
    fix: str = ""  # the script skips it, the documentation does not: only ``--as-upstream`` follows


class Inference(NamedTuple):
    """The inference commands of one device."""

    command: str
    loops: tuple[str, ...]  # the lists, the outermost first
    log: str
    printed: str = ""  # how the script prints it, where it runs more than the command: ``cd x && {command}``


class Export(NamedTuple):
    """An export command, and when it is made."""

    command: str
    when: tuple[Condition, ...] = ()
    log: str = ""  # where it differs from ``Rules.export_log``
    static: bool = True  # it makes the model that inference reads


class Whole(NamedTuple):
    """What the modes do that train nothing."""

    modes: tuple[str, ...] = ("whole_infer",)
    reads_mode: bool = True  # False: the script runs in the first of them, whatever it is told
    when: tuple[Condition, ...] = ()  # else nothing runs at all
    over: str = ""  # the list of models or of kinds; empty: one pass
    kinds: Mapping[str, Mapping[str, str]] = {}  # mode → item → its export script
    script: str = "{infer_export}"  # the export script; a ``|``-list is taken item by item
    scripts: str = ""  # the row of that list
    export_when: tuple[Condition, ...] = (("script", "!=", "null"),)
    kind: str = EXPORT  # what the export script does: QUANTISE where it makes 8 bits of a model
    export: Template = ""
    export_log: str = ""
    commented_out: str = ""  # the fix for a script that says it has run the export, and has not
    conversions: tuple[Conversion, ...] = ()
    infer_when: tuple[Condition, ...] = ()  # else there is no inference
    saved: str = "{item}"  # where the export goes
    kept: str = "{item}"  # where the model is when nothing is exported
    model: str = "{saved}"  # where inference reads it
    quants: str = ""  # the row of the flags
    quant: str = ""  # the flag, where there is no such row
    cwd: str = "."
    links: tuple[tuple[str, str], ...] = ()  # (file of the exported model, the name that inference looks for)


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
    export_device: bool = False  # on another device than a GPU, an export has to be told
    device_leaks: bool = False  # the inference loop overwrites the training's device
    threshold: int = 15  # an ips text longer than this means several machines
    machine_env: bool = False  # several machines: CUDA_VISIBLE_DEVICES is the first id (else left alone)
    env_at_gpu: bool = False  # exported once for each single-GPU entry
    env_at_eval: bool = False  # exported before eval
    unset_at_end: bool = False  # unset after every trainer (else only after inference)
    # Further variables: name, text, when. What was exported once stays so, with the value of the moment.
    exported: tuple[tuple[str, str, tuple[Condition, ...]], ...] = ()
    model_path: str = "{infer_dir}"  # what inference is given
    infer_cwd: str = "."
    image: str = "{train_infer_img_dir}"  # what inference reads after a training
    skips: tuple[SkipRule, ...] = ()
    norm_pretrain: str = (
        ""  # pact and fpgm start from the norm training: the "last" one, or of the same "entry"
    )
    lost_weights: str = ""  # the name that replaces a weights file which is not there
    # What a training leaves in its folder, where its script looks: (file, the beginning of the word that asks
    # for it).
    leaves: tuple[tuple[str, str], ...] = ()
    # A missing quantisation flag shifts the arguments of the inference: what these variables become.
    without_flag: Mapping[str, str] = {}
    nodes_when_launched: bool = False  # machines count only where the script launches on several
    device_words: tuple[str, ...] = ()  # the words of the inference's device list; empty: the usual ones
    # What is run before a training of models with a word in their name: (word, command, its folder).
    builds: tuple[tuple[str, str, str], ...] = ()
    live_pipe: tuple[str, ...] = ()  # the kinds of command in which ``|`` stays a pipe
    mistakes: bool = True  # what the script does against its own documentation is done, too
    # The files of an exported model, each one of several: where a family exports another format.
    model_files: tuple[tuple[str, ...], ...] = MODEL_FILES
    time_limit: str = ""  # after which a training is ended
    results_log: str = "results_python.log"  # where the script collects its status lines
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
        rules = self.rules
        if not as_upstream:
            rules = rules._replace(**self.promise)
        for word, upstream, promise in self.files:
            if word in path:
                rules = rules._replace(**upstream)
                if not as_upstream:
                    rules = rules._replace(**promise)
        return rules


class OwnChain(NamedTuple):
    """A chain that a plug-in brings: what it is, with the headers of its files, and its tables."""

    chain: Chain
    dialects: tuple[Dialect, ...]  # the first reads a file, unless --dialect names another
