"""What a command is for: told from the config's own lines first, then from its words."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tipc.config.source import Source

LAUNCH_PROGRAMS = ("fleetrun", "mpirun", "mpiexec", "torchrun", "horovodrun", "srun")
LAUNCHERS = ("distributed.launch", "distributed.fleet.launch", "fleet.launch", "torch.distributed.run")
_LAUNCH_OPTION_VALUES = re.compile(
    r"--(?:gpus|devices|ips|nproc_per_node|nnodes|log_dir|xpus|npus|master|rank)"
)
_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*")
_PYTHON_OPTIONS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")

_LINE_KINDS = (
    (re.compile(r".*train(?:er)?\d*|trainer\d+"), "train"),
    (re.compile(r"(?:.*_)?(?:eval|evaluate|evaluation)"), "eval"),
    (re.compile(r"(?:.*_)?export\d*"), "export"),
    (re.compile(r"(?:.*_)?(?:inference|infer|predict)(?:_py)?"), "infer"),
)
_WORD_KINDS = (
    ("export", r"export|static|onnx|quant|convert|freeze|prune_model|save_inference"),
    ("infer", r"infer|inference|predict|predictor|deploy|serving|demo"),
    ("eval", r"eval|evaluate|evaluation|validate|val|test|metrics?|score"),
    ("train", r"train|trainer|training|finetune|pretrain|distill|fit|sft"),
)
_ONLY_EVAL = re.compile(r"--?(?:test|eval|evaluate|val)[-_]?only|--?only[-_](?:test|eval)|--evaluate|--test")
_MODE_OPTION = re.compile(r"-*(?:mode|task|phase|stage|action|cmd|command|run_mode)")


@dataclass(frozen=True)
class PythonCall:
    """A python call taken apart: launcher, script or module, arguments."""

    program: str  # the script, or "-m module"
    arguments: tuple[str, ...]
    launched: bool = False
    launch: Mapping[str, str] = field(default_factory=dict, hash=False)  # "--gpus" -> "0,1"
    inline: bool = False  # python -c, a script on stdin, --version: no step

    @property
    def words(self) -> tuple[str, ...]:
        """The program and its arguments, as a config line writes them."""
        return (*self.program.split(" "), *self.arguments)


@dataclass(frozen=True)
class Purpose:
    """Why a config names a command: from its line."""

    key: str
    kind: str
    words: tuple[str, ...]
    line: int


def is_python(name: str) -> bool:
    """Whether a program is a python interpreter."""
    return _PYTHON.fullmatch(name) is not None


def dissect(argv: Sequence[str]) -> PythonCall:
    """Take a command apart; for programs other than python the program is their own name."""
    if not is_python(argv[0]):
        return _launched(argv) if argv[0] in LAUNCH_PROGRAMS else PythonCall(argv[0], tuple(argv[1:]))
    words = list(argv[1:])
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c", "-"):
        option = words.pop(0)
        if option in ("--version", "-V", "--help", "-h"):
            return PythonCall("", (), inline=True)
        if option in _PYTHON_OPTIONS_WITH_VALUE and words:
            words.pop(0)
    if not words or words[0] in ("-c", "-"):
        return PythonCall("", tuple(words), inline=True)
    launched, launch = False, {}
    if words[0] == "-m" and len(words) > 1 and words[1].endswith(LAUNCHERS):
        launched, words = True, words[2:]
        while words and words[0].startswith("-"):
            name, _, value = words.pop(0).partition("=")
            if not value and words and _LAUNCH_OPTION_VALUES.fullmatch(name):
                value = words.pop(0)
            launch[name] = value
    if words[:1] == ["-m"]:
        return PythonCall(" ".join(words[:2]), tuple(words[2:]), launched, launch)
    return PythonCall(words[0] if words else "", tuple(words[1:]), launched, launch, inline=not words)


def _launched(argv: Sequence[str]) -> PythonCall:
    """``fleetrun --gpus=0,1 train.py …``: the script is the first word that is one."""
    at = next((n for n, word in enumerate(argv) if word.endswith(".py")), len(argv))
    launch = dict(word.partition("=")[::2] for word in argv[1:at] if word.startswith("--"))
    return PythonCall("".join(argv[at : at + 1]), tuple(argv[at + 1 :]), launched=True, launch=launch)


def purposes(source: Source) -> list[Purpose]:
    """The lines of a config that name a script, in whatever layout."""
    found = []
    for line in source.lines:
        key, _, value = line.text.rstrip("\r").partition(":")
        for pattern, kind in _LINE_KINDS:
            if pattern.fullmatch(key.strip()):
                words = _split(value)
                if words and (words[0].endswith((".py", ".sh")) or words[0] == "-m"):
                    found.append(Purpose(key.strip(), kind, words, line.number))
                break
    return found


def _split(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


def purpose_of(command: PythonCall, known: Sequence[Purpose], cwd: str = ".") -> Purpose | None:
    """The config line that a command comes from: all of its words stand at the command's beginning."""
    best: Purpose | None = None
    full = (os.path.normpath(os.path.join(cwd, command.program)), *command.arguments)
    for purpose in known:
        size = len(purpose.words)
        named = (os.path.normpath(purpose.words[0]), *purpose.words[1:])
        fits = command.words[:size] == purpose.words or full[:size] == named
        if fits and (best is None or _rank(purpose, command) > _rank(best, command)):
            best = purpose
    return best


def _rank(purpose: Purpose, command: PythonCall) -> tuple[int, bool]:
    # Two trainers may have the same script; their names then stand in the path of what they save.
    return len(purpose.words), any(purpose.key in word for word in command.arguments)


def kind_of(command: PythonCall, purpose: Purpose | None, cwd: str = "") -> str:
    """train, eval, export, infer, or prepare for a command that is none of them."""
    if purpose:
        return purpose.kind
    stem = command.program.rpartition("/")[2].removesuffix(".py")
    folders = os.path.join(cwd, command.program).split("/")[:-1]
    kind = _kind_of_words(stem) or _kind_of_words("/".join(f for f in folders if not f.startswith("test")))
    if kind in ("", "train"):
        if any(_ONLY_EVAL.fullmatch(word) for word in command.arguments):
            return "eval"
        kind = _kind_of_mode(command.arguments) or kind
    if not kind and command.program.endswith(".py"):
        flags = [word.lstrip("-") for word in command.arguments if "=" not in word and "/" not in word]
        kind = next((found for found in map(_kind_of_words, flags) if found), "")
    if not kind and is_built(command.program):
        return "infer"  # C++: what python scripts do elsewhere
    return kind or "prepare"


def is_built(program: str) -> bool:
    """Whether a program is one of the repository that has to be built: no script, named by its path."""
    return "/" in program and not program.startswith("/") and not program.endswith((".py", ".sh"))


def _kind_of_mode(arguments: Sequence[str]) -> str:
    """From ``--mode=eval``, ``--mode eval`` or a bare sub-command that comes first."""
    for number, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if _MODE_OPTION.fullmatch(name):
            return _kind_of_words(value if equals else "".join(arguments[number + 1 : number + 2]))
    return _kind_of_words(arguments[0]) if arguments and arguments[0].isidentifier() else ""


def _kind_of_words(text: str) -> str:
    words = [word for word in re.split(r"[^a-z]+|(?<=2)", text.lower()) if word]
    for kind, pattern in _WORD_KINDS:
        if any(re.fullmatch(pattern, word) for word in words):
            return kind
    for kind, pattern in _WORD_KINDS:
        if re.search(pattern.replace("val|test|", "").replace("|fit|sft", ""), text.lower()):
            return kind
    return ""
