"""``tipc completion``: what bash, zsh and fish need to complete commands, options, modes and paths.

The scripts are made from the parsers of the commands, so they know every option there is.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from tipc.cli.main import COMMANDS
from tipc.cli.options import Parser
from tipc.errors import PASSED
from tipc.kinds import LANGUAGES
from tipc.language import say
from tipc.run.show.colour import WHEN

PROGRAMS = ("tipc", "paddle-tipc")


@dataclass(frozen=True)
class CompletedOption:
    """An option of a command."""

    names: tuple[str, ...]  # ("-x", "--fail-fast")
    help: str
    takes_value: bool
    words: tuple[str, ...] = ()  # the values that are known; else a path is completed


@dataclass(frozen=True)
class CompletedCommand:
    """What can follow a command's name."""

    name: str
    help: str
    options: tuple[CompletedOption, ...]
    words: tuple[str, ...]  # beside paths: modes, codes, names


def main(argv: list[str]) -> int:
    """Print the script of a shell."""
    chosen = parser().parse_args(argv).shell
    sys.stdout.write(SHELLS[chosen]([described(name) for name in COMMANDS]))
    return PASSED


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog="tipc completion",
        description="Print a script that completes commands, options, modes and paths. For bash put "
        "`source <(paddle-tipc completion bash)` into ~/.bashrc; for zsh the same with zsh into ~/.zshrc, "
        "after compinit; for fish: paddle-tipc completion fish > ~/.config/fish/completions/tipc.fish.",
    )
    made.add_argument("shell", choices=tuple(SHELLS))
    return made


def described(name: str) -> CompletedCommand:
    """A command as its parser tells it."""
    options = []
    names: list[str] = []
    words: dict[str, None] = {}
    for action in import_module(f"tipc.cli.{name}").parser()._actions:
        if not action.option_strings:
            words.update(dict.fromkeys(_values(action, name)))
        elif action.help != argparse.SUPPRESS:
            names += action.option_strings
            options.append(_option(action, name))
    if "--lang" not in names:
        options.append(CompletedOption(("--lang",), say("the language of messages"), True, LANGUAGES))
    options.append(CompletedOption(("--color",), say("whether output is coloured"), True, WHEN))
    return CompletedCommand(name, say(COMMANDS[name]), tuple(options), tuple(words))


def _option(action: argparse.Action, command: str) -> CompletedOption:
    return CompletedOption(
        names=tuple(action.option_strings),
        help=say(action.help or "").replace("%%", "%"),
        takes_value=action.nargs not in (0, "?"),
        words=_values(action, command),
    )


def _values(action: argparse.Action, command: str) -> tuple[str, ...]:
    """The values that an argument may have, where they are a list."""
    from tipc.cli.explain import known as explained
    from tipc.cli.schema import DOCUMENTS
    from tipc.config.dialects import NAMES
    from tipc.config.lint.plan_rules import MODES
    from tipc.kinds import DEVICES, STEP_KINDS

    if action.choices is not None:
        return tuple(str(choice) for choice in action.choices)
    if action.dest in ("config", "configs"):  # the last word of these is the mode
        return MODES if command in ("plan", "prepare", "run") else ()
    if action.dest == "ids":
        return tuple(explained())
    known = {
        "mode": MODES,
        "dialect": tuple(NAMES),
        "device": tuple(DEVICES),
        "only": STEP_KINDS,
        "executor": ("local", "ray"),
        "name": tuple(DOCUMENTS),
    }
    return known.get(action.dest, ())


def bash(commands: list[CompletedCommand]) -> str:
    """The script for bash."""
    known, cases, values = [], [], []
    for command in commands:
        known.append(command.name)
        names: list[str] = []
        for option in command.options:
            names += option.names
            if option.takes_value:
                listed = shlex.quote(" ".join(option.words))
                places = "|".join([f"'{command.name} {name}'" for name in option.names])
                values.append(f"    {places}) options= words={listed} value=yes ;;")
        options, words = shlex.quote(" ".join(names)), shlex.quote(" ".join(command.words))
        cases.append(f"    {command.name}) options={options} words={words} ;;")
    return f"""# tipc completion for bash
_tipc() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} options= words= value=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W {shlex.quote(" ".join(known))} -- "$cur"))
    return
  fi
  case $command in
{chr(10).join(cases)}
  esac
  case "$command ${{COMP_WORDS[COMP_CWORD-1]}}" in
{chr(10).join(values)}
  esac
  if [[ $cur == -* && -z $value ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ -z $value || -z $words ]]; then
    local IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$cur"))
    compopt -o filenames 2>/dev/null
  fi
}}
complete -F _tipc {" ".join(PROGRAMS)}
"""


def zsh(commands: list[CompletedCommand]) -> str:
    """The script for zsh."""
    known, cases = [], []
    for command in commands:
        known.append(shlex.quote(f"{command.name}:{_zsh_text(command.help)}"))
        specs = []
        for option in command.options:
            specs += _zsh_specs(option)
        rest = "*:file:_files"
        if command.words:
            words = f"'words:word:({' '.join(command.words)})'"
            rest = f"*:argument:{{ _alternative {words} 'files:file:_files' }}"
        specs.append(shlex.quote(rest))
        joined = " \\\n        ".join(specs)
        cases.append(f"    {command.name})\n      _arguments \\\n        {joined} ;;")
    return f"""#compdef {" ".join(PROGRAMS)}
_tipc() {{
  if ((CURRENT == 2)); then
    local -a known=({" ".join(known)})
    _describe command known
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{chr(10).join(cases)}
  esac
}}
compdef _tipc {" ".join(PROGRAMS)}
"""


def _zsh_specs(option: CompletedOption) -> list[str]:
    after = ""
    if option.words:
        after = f":value:({' '.join(option.words)})"
    elif option.takes_value:
        after = ":value:_files"
    return [shlex.quote(f"{name}[{_zsh_text(option.help)}]{after}") for name in option.names]


def _zsh_text(text: str) -> str:
    """What may stand in brackets of a specification."""
    return text.replace("\\", "").replace("[", "(").replace("]", ")").replace(":", "\\:")


def fish(commands: list[CompletedCommand]) -> str:
    """The script for fish."""
    lines = ["# tipc completion for fish"]
    for program in PROGRAMS:
        first = f"complete -c {program} -f -n __fish_use_subcommand"
        for command in commands:
            lines.append(f"{first} -a {command.name} -d {_fish_text(command.help)}")
        for command in commands:
            when = f"complete -c {program} -n '__fish_seen_subcommand_from {command.name}'"
            if command.words:
                lines.append(f"{when} -a {_fish_text(' '.join(command.words))}")
            for option in command.options:
                lines.append(f"{when} {_fish_option(option)}")
    return "\n".join(lines) + "\n"


def _fish_option(option: CompletedOption) -> str:
    words = []
    for name in option.names:
        if name.startswith("--"):
            words.append(f"-l {name[2:]}")
        else:
            words.append(f"-s {name[1:]}")
    if option.words:
        words.append(f"-xa {_fish_text(' '.join(option.words))}")
    elif option.takes_value:
        words.append("-rF")
    return " ".join([*words, f"-d {_fish_text(option.help)}"])


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: dict[str, Callable[[list[CompletedCommand]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
