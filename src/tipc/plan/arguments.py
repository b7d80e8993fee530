"""From a command's text to its argv; a text that needs a shell is refused with its place in the config."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from posixpath import basename, dirname, normpath
from typing import NamedTuple

from tipc.command import is_python
from tipc.config.source import Value
from tipc.errors import UsageError
from tipc.message import wording
from tipc.plan.matrix import ScriptCommand
from tipc.plan.shell_words import Lookup, ShellNeeded, is_assignment, is_plain, split_words
from tipc.plan.target.interpreter import find_program
from tipc.plan.template import render
from tipc.plan.variables import Variables
from tipc.reasons import Reason, because

NOT_EVEN_BY_A_SHELL = {"{": wording("write the words out, or quote the braces")}
SCRIPT_HOLES = frozenset(("python", "run_train", "eval", "run_export", "script", "inference"))
# The variables of the scripts that a config's text can name, as ours are called.
SCRIPT_VARIABLES = {
    "MODE": "mode",
    "LOG_PATH": "log_path",
    "model_name": "model_name",
    "python": "python",
    "gpu": "gpu",
    "trainer": "trainer",
    "autocast": "autocast",
    "ips": "ips",
    "nodes": "nodes",
}


SECRET = re.compile(r"SECRET|TOKEN|PASSW|CREDENTIAL|(?:API|ACCESS|PRIVATE)_?KEY", re.IGNORECASE)


class PlannedCommand(NamedTuple):
    """A command that can be run."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = {}  # assignments before the program
    shell: str = ""  # only where a shell has to run it
    fails: bool = False  # the script's pipe ends in something that is no program: it reports a failure


class BashStops(Exception):
    """The script's bash does not get as far as starting the command; it reports a failure and goes on."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


def _environment(name: str) -> str:
    """For a plan of our own an unset variable is an error and not an empty text."""
    if name not in os.environ:
        raise ShellNeeded(
            f"${name}", wording("the environment variable {name} is not set", name=name), runs=False
        )
    return _not_secret(name, os.environ[name])


def _not_secret(name: str, value: str) -> str:
    """The value of a variable. Plans are printed, kept and sent: a config cannot ask the secrets of its
    reader for one."""
    if value and SECRET.search(name):
        reason = wording(
            "the environment variable {name} is named like a secret: no plan shows what is in it", name=name
        )
        raise ShellNeeded(f"${name}", reason, runs=False)
    return value


def planned_command(
    command: ScriptCommand, variables: Variables, *, allow_shell: bool, cwd: str
) -> PlannedCommand:
    """The argv of a command.

    Raises a UsageError that points at what only a shell can do, and, for a plan as upstream, BashStops
    where the bash itself comes to nothing.
    """
    mistakes = variables.rules.mistakes
    if not mistakes and not variables.interpreters:
        _check_interpreter(interpreter_word(command.values.get("python", "")), command, variables)
    run = _run_text(command, variables)
    targets: list[str] | None = [] if run.redirected else None
    lookup = _lookup(command, mistakes)
    try:
        words = _assigned(split_words(run.text, lookup, cwd, targets), run.fails)
        written = [split_words(target, lookup, cwd) for target in targets or ()]
        for target in written:
            _check_target(target, variables)
    except ShellNeeded as problem:
        if not allow_shell or not problem.runs:
            raise _refused(problem, command, variables) from None
        argv = _best_effort(run.text, problem.token, command, mistakes, cwd)
        words = PlannedCommand(argv, shell=run.text.strip())
    _check_interpreter(words.argv[0] if words.argv else "", command, variables)
    return words


class RunText(NamedTuple):
    """What of a command's text bash runs."""

    text: str
    redirected: bool = False  # the text says where its output goes
    fails: bool = False  # as ``PlannedCommand.fails``


def _run_text(command: ScriptCommand, variables: Variables) -> RunText:
    """The text that bash takes for the command; in a plan of our own a pipe of an option is no pipe."""
    if not variables.rules.mistakes:
        if "|" in command.text:
            return RunText(_with_protected_pipes(command, variables))
        return RunText(command.text)
    text = command.text
    if command.log and command.kind in variables.rules.live_pipe:
        # Python gets what stands before a pipe; the status is that of what stands after it: no program.
        text, pipe, _ = text.partition("|")
        if pipe or ">" in text:
            return RunText(text, fails=pipe != "")
        return RunText(f"{text} > {command.log} 2>&1", redirected=True)
    if ">" in text or command.printed == text:
        return RunText(text.replace("|", " "))
    # A blank in the log's name ends the redirection there, and what follows it is an argument.
    return RunText(command.printed.replace("|", " "), redirected=True)


def visible_of(command: ScriptCommand) -> str | None:
    """CUDA_VISIBLE_DEVICES as ``eval "export CUDA_VISIBLE_DEVICES=…"`` leaves it."""
    visible = command.visible
    if not visible or is_plain(visible):
        return visible
    try:
        return split_words(f"X={visible}", _lookup(command, True))[0].removeprefix("X=")
    except ShellNeeded:
        return visible


def _lookup(command: ScriptCommand, mistakes: bool) -> Lookup:
    if not mistakes:
        return _environment

    def script_variable(name: str) -> str:
        ours = SCRIPT_VARIABLES.get(name)
        if ours:
            return command.values.get(ours, "")
        return _not_secret(name, os.environ.get(name, ""))

    return script_variable


def _with_protected_pipes(command: ScriptCommand, variables: Variables) -> str:
    """The command in which a ``|`` of an option is only a character; in a script's line it is a pipe."""

    def protect(name: str, text: str) -> str:
        if "|" not in text or name in SCRIPT_HOLES:
            return text
        return variables.fixed("TF012", upstream=text.replace("|", " "), ours=text.replace("|", "\\|"))

    return render(command.template, variables.keys, command.values, change=protect)


def _assigned(words: list[str], fails: bool) -> PlannedCommand:
    env = {}
    while words and is_assignment(words[0]):
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    return PlannedCommand(tuple(words), env, fails=fails)


def _best_effort(text: str, token: str, command: ScriptCommand, mistakes: bool, cwd: str) -> tuple[str, ...]:
    """What the first program of a shell command gets, for whoever wants to read it."""
    try:
        return tuple(split_words(text.split(token, 1)[0], _lookup(command, mistakes), cwd))
    except ShellNeeded:
        return ("bash", "-c", text.strip())


def _check_interpreter(name: str, command: ScriptCommand, variables: Variables) -> None:
    """A line 3 that names no program makes bash run nothing, report failures, and exit 0."""
    if name in variables.interpreters or not command.template.startswith("{python}"):
        return
    python = command.values.get("python", "")
    line = variables.lines["python"]
    remedy = "python:python3"
    if not python.replace("|", " ").strip() or python == "null":
        problem = wording("line {line} names no interpreter", line=line)
        stops = because("bash-no-interpreter", line=line)
    elif "\r" in name:
        problem = wording(
            "the line ends in CRLF: bash looks for a program called `python\\r` and runs nothing"
        )
        stops = because("bash-crlf", line=line)
        remedy = "tipc lint --fix"
    elif not is_python(name) and "$" not in name and find_program(name) is None:
        problem = wording("`{name}` is not an interpreter: is a line missing or added above?", name=name)
        stops = because("bash-other-program", name=name, line=line)
    else:
        variables.interpreters.add(name)
        return
    if variables.rules.mistakes:
        raise BashStops(stops)
    raise variables.config.source.error(problem, variables.config.value("python"), remedy=remedy)


def interpreter_word(python: str) -> str:
    """The program of a ``python:`` line: its first word that assigns nothing."""
    for word in python.split():
        if not is_assignment(word):
            return word
    return ""


def _check_target(words: list[str], variables: Variables) -> None:
    """The script writes into directories that it has made; anywhere else the command does not even start."""
    made = normpath(variables.values["log_path"])
    target = ""
    if len(words) == 1:
        target = words[0]
    directory = normpath(dirname(target) or ".")
    inside = directory == "." or made == directory or made.startswith(f"{directory}/")
    if not inside or basename(target) in ("", ".", "..") or made.startswith(normpath(target) + "/"):
        raise BashStops(because("bash-no-log", words=" ".join(words)))


def _refused(problem: ShellNeeded, command: ScriptCommand, variables: Variables) -> UsageError | BashStops:
    # For us: what bash makes of so many words, or of a secret, is another question.
    ours = problem.token == "{" or SECRET.search(problem.token)
    if variables.rules.mistakes and not problem.runs and not ours:
        return BashStops(because("bash-open-quote"))
    place = _place(problem.token, command, variables)
    remedy = wording("put it in quotes, or give --allow-shell")
    if not problem.runs:
        remedy = NOT_EVEN_BY_A_SHELL.get(problem.token, wording("close the quote"))
        if problem.token.startswith("$"):
            remedy = wording("export {name}=…", name=problem.token[1:])
        if SECRET.search(problem.token):
            remedy = wording("let the script read the variable itself")
    message = wording("{reason} (in the {kind} command)", reason=problem.reason, kind=command.kind)
    return variables.config.source.error(message, place, remedy=remedy)


def _place(token: str, command: ScriptCommand, variables: Variables) -> Value:
    """Where the config has what asks for a shell: in the script's own line, else in any line it uses."""
    names = [command.row, *variables.config.rows]
    for name in names:
        line = variables.config.line(name)
        at = line.text.find(token)
        if line.line and at >= 0 and (name == command.row or line.text.strip("=#")):
            return line.part(at, token)
    return variables.config.line(command.row)
