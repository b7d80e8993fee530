"""An argv as a value: its interpreter, launcher, script and options, and the same with one of them changed.

The commands of configs look like one of::

    python3.7 -X faulthandler tools/train.py -c cfg.yml --iters=20 --device gpu
    python -m paddle.distributed.launch --gpus=0,1 tools/train.py -o Global.use_gpu=True
    paddle2onnx --model_dir=./infer

An option is ``--name=value``, ``--name value``, ``name=value`` (behind ``-o`` or alone), or a bare switch.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from shlex import quote
from typing import NamedTuple

_PYTHON = re.compile(r"(?:python|pypy)(?:\d+(?:\.\d+)*)?")
_LAUNCHERS = ("paddle.distributed.launch", "paddle.distributed.fleet.launch")
_INTERPRETER_OPTIONS_WITH_VALUE = ("-X", "-W")


def is_python(program: str) -> bool:
    """Whether a program is by its name a Python interpreter: ``python``, ``/opt/x/python3.7``, ``pypy3``."""
    return _PYTHON.fullmatch(os.path.basename(program)) is not None


class Option(NamedTuple):
    """One option of a command, and where it stands in the argv."""

    name: str  # as it is written: "--device", "Global.use_gpu"
    value: str  # empty for a bare switch
    index: int  # type: ignore[assignment]  # of the word with the name
    joined: bool  # ``name=value`` in one word; else the value is the next word, if there is one

    @property
    def last_name(self) -> str:
        """The name without dashes and sections: ``use_gpu`` of ``Global.use_gpu`` and of ``--use_gpu``."""
        return self.name.lstrip("-").rpartition(".")[2]


@dataclass(frozen=True)
class Command:
    """A command that can be started."""

    argv: tuple[str, ...]

    @property
    def program(self) -> str:
        """The first word; empty where there is none."""
        return self.argv[0] if self.argv else ""

    @property
    def interpreter(self) -> str:
        """The Python interpreter; empty where the program is none."""
        return self.program if is_python(self.program) else ""

    @cached_property
    def _script_at(self) -> int | None:
        """Where the script stands: behind the interpreter's options, or behind a launcher and its options."""
        if not self.interpreter:
            return None
        at = 1
        while at < len(self.argv) and self.argv[at].startswith("-"):
            word = self.argv[at]
            if word == "-m":
                return self._script_of_launch(at + 2) if self.launcher else None
            if word in ("-c", "-"):
                return None
            at += 2 if word in _INTERPRETER_OPTIONS_WITH_VALUE else 1
        return at if at < len(self.argv) else None

    def _script_of_launch(self, at: int) -> int | None:
        # Every option of the launcher has a value; the first word that is neither is the script.
        while at < len(self.argv):
            word = self.argv[at]
            if not word.startswith("-"):
                return at if word.endswith(".py") else None
            at += 1 if "=" in word else 2
        return None

    @cached_property
    def launcher(self) -> str:
        """The module that starts several processes of the script; empty where there is none."""
        for at, word in enumerate(self.argv[:-1]):
            if word == "-m" and self.argv[at + 1] in _LAUNCHERS:
                return self.argv[at + 1]
            if at and not word.startswith("-"):
                break
        return ""

    @property
    def launch_options(self) -> tuple[str, ...]:
        """The words between the launcher and the script."""
        if not self.launcher or self._script_at is None:
            return ()
        return self.argv[self.argv.index(self.launcher) + 1 : self._script_at]

    def with_launch_options(self, words: tuple[str, ...]) -> Command:
        """The same command with other options for the launcher."""
        if not self.launcher or self._script_at is None:
            return self
        start = self.argv.index(self.launcher) + 1
        return Command((*self.argv[:start], *words, *self.argv[self._script_at :]))

    @property
    def script(self) -> str:
        """The Python script as it is written; empty where there is none."""
        return "" if self._script_at is None else self.argv[self._script_at]

    @property
    def before_script(self) -> tuple[str, ...]:
        """The words before the script: interpreter, its options, launcher."""
        return self.argv if self._script_at is None else self.argv[: self._script_at]

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the script, or a program that is no interpreter, is given."""
        if self._script_at is not None:
            return self.argv[self._script_at + 1 :]
        return () if self.interpreter else self.argv[1:]

    @cached_property
    def _options(self) -> tuple[Option, ...]:
        found = []
        first = len(self.argv) - len(self.arguments)
        for index, word in enumerate(self.argv[first:], first):
            name, equals, value = word.partition("=")
            if equals:
                found.append(Option(name, value, index, joined=True))
            elif word.startswith("-"):
                following = self.argv[index + 1] if index + 1 < len(self.argv) else ""
                if following.startswith("-") or "=" in following:
                    following = ""
                found.append(Option(name, following, index, joined=False))
        return tuple(found)

    def options(self) -> Iterator[Option]:
        """The options among the arguments, in order."""
        return iter(self._options)

    def option(self, name: str) -> str | None:
        """The value of an option by its name or the last part of it, the last of several; None: not given."""
        found = None
        for option in self.options():
            if name in (option.name, option.last_name):
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
        return Command((program, *self.argv[1:])) if self.interpreter else self

    def with_before_script(self, *words: str) -> Command:
        """The same command with words put right before its script: a program that runs it."""
        if self._script_at is None:
            return self
        return replace(self, argv=(*self.argv[: self._script_at], *words, *self.argv[self._script_at :]))

    def shell_line(self, env: Mapping[str, str | None] | None = None) -> str:
        """The command as a line for a shell, with variables to set and (None) to unset."""
        changes = env or {}
        words = [f"{name}={quote(value)}" for name, value in changes.items() if value is not None]
        unset = [name for name, value in changes.items() if value is None]
        if unset:
            words = ["env", *(f"-u {name}" for name in unset), *words]
        words += [quote(word) for word in self.argv]
        return " ".join(words)
