"""From a command's text to its argv; a text that needs a shell is refused with its place in the config."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from tipc.config.text import Value
from tipc.errors import UsageError
from tipc.plan.scope import Scope
from tipc.plan.shellwords import ASSIGNMENT, Lookup, ShellNeeded, split_words
from tipc.plan.template import render
from tipc.plan.walk import Command

SCRIPT_HOLES = frozenset(("python", "run_train", "eval", "run_export", "script", "inference"))
# The variables of the scripts that a config's text can name, as ours are called.
SCRIPT_VARIABLES = {
    "MODE": "mode",
    "LOG_PATH": "log_path",
    **{name: name for name in ("model_name", "python", "gpu", "trainer", "autocast", "ips", "nodes")},
}


@dataclass(frozen=True)
class Words:
    """A command that can be run."""

    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)  # assignments before the program
    shell: str = ""  # only where a shell has to run it
    fails: bool = False  # the script's pipe ends in something that is no program: it reports a failure


def _environment(name: str) -> str:
    """For a plan of our own an unset variable is an error and not an empty text."""
    if name not in os.environ:
        raise ShellNeeded(f"${name}", f"the environment variable {name} is not set", runs=False)
    return os.environ[name]


def words_of(command: Command, scope: Scope, *, allow_shell: bool, cwd: str) -> Words:
    """The argv of a command, or a UsageError that points at what a shell would have to do."""
    mistakes = scope.rules.mistakes
    _check_interpreter(command, scope)
    text = command.text
    if "|" in text:
        if mistakes and command.kind in scope.rules.live_pipe:
            return _piped(text, command, scope, cwd)
        text = text.replace("|", " ") if mistakes else _with_protected_pipes(command, scope)
    try:
        return _assigned(split_words(text, _lookup(command, mistakes), cwd))
    except ShellNeeded as problem:
        if not allow_shell or not problem.runs:
            raise _refused(problem, command, scope) from None
        return Words(_best_effort(text, problem.token, command, mistakes, cwd), shell=text.strip())


def _lookup(command: Command, mistakes: bool) -> Lookup:
    if not mistakes:
        return _environment

    def script_variable(name: str) -> str:
        ours = SCRIPT_VARIABLES.get(name)
        return command.values.get(ours, "") if ours else os.environ.get(name, "")

    return script_variable


def _with_protected_pipes(command: Command, scope: Scope) -> str:
    """The command in which a ``|`` of an option is only a character; in a script's line it is a pipe."""

    def protect(name: str, text: str) -> str:
        if "|" not in text or name in SCRIPT_HOLES:
            return text
        scope.fixes.add("TF012")
        return text.replace("|", "\\|")

    return render(command.template, scope.keys, command.values, change=protect)


def _assigned(words: list[str]) -> Words:
    env = {}
    while words and ASSIGNMENT.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    return Words(tuple(words), env)


def _piped(text: str, command: Command, scope: Scope, cwd: str) -> Words:
    """A pipe that the script leaves alive: python gets what stands before it, the status is of the last."""
    try:
        words = _assigned(split_words(text.split("|", 1)[0], _lookup(command, True), cwd))
    except ShellNeeded as problem:
        raise _refused(problem, command, scope) from None
    return Words(words.argv, words.env, fails=True)


def _best_effort(text: str, token: str, command: Command, mistakes: bool, cwd: str) -> tuple[str, ...]:
    """What the first program of a shell command gets, for whoever wants to read it."""
    try:
        return tuple(split_words(text.split(token, 1)[0], _lookup(command, mistakes), cwd))
    except ShellNeeded:
        return ("bash", "-c", text.strip())


def _check_interpreter(command: Command, scope: Scope) -> None:
    python = command.values.get("python", "")
    if not command.template.startswith("{python}"):
        return
    if not python.strip() or python == "null":
        place = scope.config.value("python")
        raise scope.config.source.error("line 3 names no interpreter", place, remedy="python:python3")
    if "\r" in python:
        message = "the line ends in CRLF: bash looks for a program called `python\\r` and runs nothing"
        raise scope.config.source.error(message, scope.config.value("python"), remedy="tipc lint --fix")


def _refused(problem: ShellNeeded, command: Command, scope: Scope) -> UsageError:
    place = _place(problem.token, command, scope)
    remedy = "put it in quotes, or give --allow-shell"
    if not problem.runs:
        remedy = f"export {problem.token[1:]}=…" if problem.token.startswith("$") else "close the quote"
    return scope.config.source.error(
        f"{problem.reason} (in the {command.kind} command)", place, remedy=remedy
    )


def _place(token: str, command: Command, scope: Scope) -> Value:
    """Where the config has what asks for a shell: in the script's own line, else in any line it uses."""
    names = [command.row, *scope.config.rows]
    for name in names:
        line = scope.config.line(name)
        at = line.text.find(token)
        if line.line and at >= 0 and (name == command.row or line.text.strip("=#")):
            return line.part(at, token)
    return scope.config.line(command.row)
