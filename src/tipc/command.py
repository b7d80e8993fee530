"""An argv as a value: its interpreter, launcher, script and options, and the same with one of them changed.

The commands of configs look like one of::

    python3.7 -X faulthandler tools/train.py -c cfg.yml --iters=20 --device gpu
    python -m paddle.distributed.launch --gpus=0,1 tools/train.py -o Global.use_gpu=True
    python -m paddleslim.quant --model_dir=./infer
    fleetrun --gpus=0,1 tools/train.py
    paddle2onnx --model_dir=./infer

An option is ``--name=value``, ``--name value``, ``name=value`` (behind ``-o`` or alone), or a bare switch.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from shlex import quote
from typing import NamedTuple

_WILDCARDS = re.compile(r"([*?\[\]])")
_PYTHON = re.compile(r"(?:python|pypy)(?:\d+(?:\.\d+)*)?")
# By the ends of their names: ``paddle.distributed.launch``, ``paddle.distributed.fleet.launch``, …
_LAUNCH_MODULES = ("distributed.launch", "fleet.launch", "torch.distributed.run")
_LAUNCH_PROGRAMS = ("fleetrun", "mpirun", "mpiexec", "torchrun", "horovodrun", "srun")
_INTERPRETER_OPTIONS_WITH_VALUE = ("-X", "-W", "--check-hash-based-pycs")
# With one of these an interpreter runs no file: a text of the command line, stdin, a question about itself.
_INTERPRETER_RUNS_NO_FILE = ("-c", "-", "--version", "-V", "--help", "-h")


def is_python(program: str) -> bool:
    """Whether a program is by its name a Python interpreter: ``python``, ``/opt/x/python3.7``, ``pypy3``."""
    return _PYTHON.fullmatch(os.path.basename(program)) is not None


def _is_option(word: str) -> bool:
    if not word.startswith("-"):
        return False
    return not word[1:].removeprefix(".")[:1].isdecimal()  # that is a negative number


class Option(NamedTuple):
    """One option of a command, and where it stands in the argv."""

    name: str  # as it is written: "--device", "Global.use_gpu"; empty: a word that belongs to no option
    value: str  # empty for a bare switch
    index: int  # type: ignore[assignment]  # of the word with the name
    joined: bool  # ``name=value`` in one word; else the value is the next word, if there is one

    @property
    def last_name(self) -> str:
        """The name without dashes and sections: ``use_gpu`` of ``Global.use_gpu`` and of ``--use_gpu``."""
        return self.name.lstrip("-").rpartition(".")[2]

    @property
    def key(self) -> str:
        """The last name in one spelling: ``save_dir`` of ``--save-dir`` and of ``Global.Save_Dir``."""
        return self.last_name.lower().replace("-", "_")


class _Parts(NamedTuple):
    """Where the parts of an argv begin."""

    launcher: str = ""
    launch_at: int = 0  # the launcher's first option
    entry_at: int | None = None  # the script or program that does the work; None: nothing does
    module: bool = False  # ``entry_at`` is that of a module's name, behind ``-m``


@dataclass(frozen=True)
class Command:
    """A command that can be started."""

    argv: tuple[str, ...]

    @property
    def program(self) -> str:
        """The first word; empty where there is none."""
        if not self.argv:
            return ""
        return self.argv[0]

    @property
    def interpreter(self) -> str:
        """The Python interpreter; empty where the program is none."""
        if not is_python(self.program):
            return ""
        return self.program

    @cached_property
    def _parts(self) -> _Parts:
        if self.interpreter:
            return self._interpreted()
        if self.program in _LAUNCH_PROGRAMS:
            return self._launched_by_program()
        if self.argv:
            return _Parts(entry_at=0)
        return _Parts()

    def _interpreted(self) -> _Parts:
        at = 1
        while at < len(self.argv) and self.argv[at].startswith("-"):
            word = self.argv[at]
            if word == "-m":
                return self._module(at + 1)
            if word in _INTERPRETER_RUNS_NO_FILE:
                return _Parts()
            at += 1
            if word in _INTERPRETER_OPTIONS_WITH_VALUE:
                at += 1
        if at >= len(self.argv):
            return _Parts()
        return _Parts(entry_at=at)

    def _module(self, at: int) -> _Parts:
        if at >= len(self.argv):
            return _Parts()
        name = self.argv[at]
        if not name.endswith(_LAUNCH_MODULES):
            return _Parts(entry_at=at, module=True)
        first = at = at + 1
        while at < len(self.argv):
            word = self.argv[at]
            if word == "-m" and at + 1 < len(self.argv):
                return _Parts(name, first, at + 1, module=True)
            if not word.startswith("-"):
                return _Parts(name, first, at)
            at += 1
            if "=" not in word and self._is_launch_value(at):
                at += 1
        return _Parts(name, first)

    def _is_launch_value(self, at: int) -> bool:
        """Whether a word can be the value of the launcher's option before it, and not the script already."""
        return at < len(self.argv) and not self.argv[at].startswith("-") and not self.argv[at].endswith(".py")

    def _launched_by_program(self) -> _Parts:
        # These start any program, each with options of its own: the script is the first word that is one.
        for at, word in enumerate(self.argv):
            if word.endswith(".py"):
                return _Parts(self.program, 1, at)
        return _Parts(self.program, 1)

    @property
    def launcher(self) -> str:
        """The module or program that starts several processes of the script; empty where there is none."""
        return self._parts.launcher

    @property
    def launch_options(self) -> tuple[str, ...]:
        """The words between the launcher and the script."""
        parts = self._parts
        if not parts.launcher or parts.entry_at is None:
            return ()
        end = parts.entry_at
        if parts.module:
            end -= 1
        return self.argv[parts.launch_at : end]

    def launch_option(self, name: str) -> str:
        """The value of an option of the launcher; empty where it is not given."""
        words = self.launch_options
        for at, word in enumerate(words):
            option, equals, value = word.partition("=")
            if option != name:
                continue
            if equals:
                return value
            return "".join(words[at + 1 : at + 2])
        return ""

    def launch_options_without(self, names: Collection[str]) -> tuple[str, ...]:
        """The words between the launcher and the script without some options and their values."""
        kept = []
        dropping = False
        for word in self.launch_options:
            name, equals, _ = word.partition("=")
            if word.startswith("-"):
                dropping = name in names
            if not dropping:
                kept.append(word)
            if equals:
                dropping = False
        return tuple(kept)

    def with_launch_options(self, words: tuple[str, ...]) -> Command:
        """The same command with other options for the launcher."""
        parts = self._parts
        if not parts.launcher or parts.entry_at is None:
            return self
        end = parts.launch_at + len(self.launch_options)
        return Command((*self.argv[: parts.launch_at], *words, *self.argv[end:]))

    @cached_property
    def _script_at(self) -> int | None:
        """Where a script stands that a Python interpreter runs, by itself or through a launcher."""
        parts = self._parts
        if not self.interpreter or parts.entry_at is None or parts.module:
            return None
        # A launcher starts other programs, too.
        if parts.launcher and not self.argv[parts.entry_at].endswith(".py"):
            return None
        return parts.entry_at

    @property
    def script(self) -> str:
        """The Python script as it is written; empty where there is none."""
        if self._script_at is None:
            return ""
        return self.argv[self._script_at]

    @property
    def module(self) -> str:
        """The module that runs by ``-m`` and is no launcher; empty where there is none."""
        if self._parts.entry_at is None or not self._parts.module:
            return ""
        return self.argv[self._parts.entry_at]

    @property
    def entry(self) -> str:
        """What does the work: a script, ``-m module``, a program. Empty: an interpreter that runs no file."""
        if self._parts.entry_at is None:
            return ""
        if self.module:
            return f"-m {self.module}"
        return self.argv[self._parts.entry_at]

    @property
    def program_at(self) -> int | None:
        """Where a program stands that a Python interpreter runs and that another one can be put before: a
        script, or ``-m`` and a module that is no launcher. None: there is none."""
        if self._script_at is not None:
            return self._script_at
        parts = self._parts
        if not self.interpreter or parts.entry_at is None or parts.launcher or not parts.module:
            return None
        return parts.entry_at - 1

    @property
    def before_script(self) -> tuple[str, ...]:
        """The words before the script: interpreter, its options, launcher."""
        if self._script_at is None:
            return self.argv
        return self.argv[: self._script_at]

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the script, the module or the program is given."""
        if self._parts.entry_at is None:
            return ()
        return self.argv[self._parts.entry_at + 1 :]

    @cached_property
    def _argument_words(self) -> tuple[Option, ...]:
        """The arguments as options; a word that stands alone is one without a name."""
        found = []
        at = len(self.argv) - len(self.arguments)
        while at < len(self.argv):
            word = self.argv[at]
            name, equals, value = word.partition("=")
            if equals and name and " " not in name:
                found.append(Option(name, value, at, True))
            elif not _is_option(word):
                found.append(Option("", word, at, False))
            else:
                behind = self._value_behind(at)
                found.append(Option(word, behind or "", at, False))
                if behind is not None:
                    at += 1
            at += 1
        return tuple(found)

    def _value_behind(self, at: int) -> str | None:
        """The next word, where it is the value of the option at a place; None where that is a switch."""
        if at + 1 == len(self.argv):
            return None
        following = self.argv[at + 1]
        if "=" in following or _is_option(following):
            return None
        return following

    def options(self) -> Iterator[Option]:
        """The options among the arguments, in order."""
        for option in self._argument_words:
            if option.name:
                yield option

    def values(self) -> Iterator[tuple[str, str]]:
        """Every argument: the name of its option, without dashes, and its value; a bare word has no name."""
        for option in self._argument_words:
            yield option.name.lstrip("-"), option.value

    def option(self, name: str) -> str | None:
        """The value of an option by its name or the last part of it, the last of several; None: not given."""
        found = None
        for option in self.options():
            if name in (option.name, option.last_name):
                found = option.value
        return found

    def value_of(self, keys: Collection[str]) -> str | None:
        """The value of the last option that has one of the keys; None: not given."""
        found = None
        for option in self.options():
            if option.key in keys:
                found = option.value
        return found

    def with_option(self, name: str, value: str) -> Command:
        """The same command in which an option has another value; added at the end where it is not given."""
        words = list(self.argv)
        found = False
        for option in self.options():
            if name not in (option.name, option.last_name):
                continue
            found = True
            if option.joined:
                words[option.index] = f"{option.name}={value}"
            elif option.value:
                words[option.index + 1] = value
            else:
                words[option.index] = f"{option.name}={value}"
        if not found:
            words.append(f"{name}={value}")
        return Command(tuple(words))

    def with_interpreter(self, program: str) -> Command:
        """The same command run by another interpreter; as it is where none runs it."""
        if not self.interpreter:
            return self
        return Command((program, *self.argv[1:]))

    def with_before_script(self, *words: str) -> Command:
        """The same command with words put right before its script or module: a program that runs it."""
        at = self.program_at
        if at is None:
            return self
        return replace(self, argv=(*self.argv[:at], *words, *self.argv[at:]))

    def shell_line(self, env: Mapping[str, str | None] | None = None, patterns: Collection[str] = ()) -> str:
        """The command as a line for a shell, with variables to set and (None) to unset.

        The shell fills in the words that are ``patterns`` of file names.
        """
        changes = env or {}
        unset, words = [], []
        for name, value in changes.items():
            if value is None:
                unset.append(f"-u {name}")
            else:
                words.append(f"{name}={value and quote(value)}")
        if unset:
            words = ["env", *unset, *words]
        for word in self.argv:
            if word in patterns:
                words.append(_quoted_around(word))
            else:
                words.append(quote(word))
        return " ".join(words)


def _quoted_around(pattern: str) -> str:
    """A pattern with everything quoted but its wildcards."""
    parts = []
    for part in _WILDCARDS.split(pattern):
        if part and not _WILDCARDS.fullmatch(part):
            part = quote(part)
        parts.append(part)
    return "".join(parts)
