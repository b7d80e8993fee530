"""What the commands have in common: the settings of the repository as defaults, and errors in plain words."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, NoReturn

from tipc.errors import USAGE
from tipc.language import say
from tipc.settings import SETTINGS, find_settings
from tipc.suggestions import closest

WIDTH = 80  # columns, where there is no terminal
PAGE = 96  # columns: longer lines of prose are hard to read


def page_width() -> int:
    """How wide prose is printed."""
    return min(PAGE, _columns())


def _columns() -> int:
    """The width of the terminal. argparse would import shutil for it each time an argument is added."""
    wished = os.environ.get("COLUMNS", "")
    if wished.isdecimal() and int(wished) > 0:
        return int(wished)
    try:
        return os.get_terminal_size().columns or WIDTH
    except OSError:
        return WIDTH


class Formatter(argparse.HelpFormatter):
    """Lines are broken where wide characters fill them, too."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=_columns() - 2)

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Begin with the word for it in the user's language."""
        if prefix is None:
            prefix = say("usage: ")
        super().add_usage(usage, actions, groups, prefix)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join([indent + line for line in wrapped(text, width)])


class Parser(argparse.ArgumentParser):
    """Argparse in the user's language, with one clear message, and a guess at what was meant."""

    def __init__(
        self, prog: str, description: str = "", *, usage: str | None = None, epilog: str = ""
    ) -> None:
        super().__init__(prog, usage, description, epilog, formatter_class=Formatter)
        self.color = False  # Python 3.14 would colour the page, around names that nobody has looked through

    def format_help(self) -> str:
        """The page of ``--help``; its texts are written in English where the options are."""
        for action in self._actions:
            action.help = _said(action.help)
        for group in self._action_groups:
            group.title = _said(group.title)
        self.description = _said(self.description)
        self.epilog = _said(self.epilog)
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the call; exit code 2."""
        text = plain_words(message, list(self._option_string_actions))
        sys.stderr.write(f"{self.prog}: {text}\n  {say('try: ')}{self.prog} --help\n")
        raise SystemExit(USAGE)


def _said(text: str | None) -> str | None:
    """A text of a parser in the user's language, where there is one."""
    return text and say(text)


# What argparse says → how to say it so that nobody needs to know Python. A text that is none of these was
# raised by one of our own types, and is plain already.
_PLAIN = (
    (r"unrecognized arguments: (?P<word>\S+).*", "there is no option `{word}`"),
    (
        r"argument (?P<option>\S+): invalid int value: '(?P<word>.*)'",
        "{option}: `{word}` is not a whole number",
    ),
    (r"argument (?P<option>\S+): invalid float value: '(?P<word>.*)'", "{option}: `{word}` is not a number"),
    (r"argument (?P<option>\S+): invalid choice: '(?P<word>.*?)' \(choose from (?P<known>.*)\)",
     "{option}: there is no `{word}`, only {known}"),
    (r"argument (?P<option>\S+): expected one argument", "{option} needs a value"),
    (r"argument (?P<option>\S+): expected (?P<count>\d+) arguments", "{option} needs {count} values"),
    (r"argument (?P<option>\S+): not allowed with argument (?P<other>\S+)",
     "{option} and {other} cannot be given together"),
    (r"argument (?P<option>\S+): ignored explicit argument .*", "{option} takes no value"),
    (r"the following arguments are required: (?P<names>.*)", "{names} is missing"),
    (r"ambiguous option: (?P<word>\S+) could match (?P<names>.*)", "`{word}` could be {names}"),
    (r"argument (?P<option>\S+): (?P<what>.*)", "{option}: {what}"),
)  # fmt: skip


def plain_words(message: str, options: list[str]) -> str:
    """What is wrong with a call, with a guess at what was meant."""
    import re

    for pattern, template in _PLAIN:
        found = re.fullmatch(pattern, message, re.DOTALL)
        if not found:
            continue
        values = {name: value.replace("'", "") for name, value in found.groupdict().items()}
        text = say(template, **values)
        if "there is no" in template:
            if "known" in values:
                options = values["known"].split(", ")
            close = closest(values["word"].partition("=")[0], options)
            if close:
                text += say("; did you mean `{close}`?", close=close)
        return text
    return message


def parse(parser: argparse.ArgumentParser, argv: list[str], command: str) -> argparse.Namespace:
    """The options of a call; those that it does not give are the repository's settings, where it has some."""
    known = {action.dest for action in parser._actions}
    defaults = {}
    for name, value in find_settings().values:
        if command in SETTINGS[name].commands and name in known:
            defaults[name] = value
    mode = defaults.pop("mode", None)
    parser.set_defaults(**defaults)
    options = parser.parse_args(argv)
    if mode and options.mode is None and not _names_a_mode(options):
        options.mode = mode
    return options


def _names_a_mode(options: argparse.Namespace) -> bool:
    """The last word of ``CONFIG… MODE`` is a mode if it names no file and looks like one."""
    words = getattr(options, "config", None) or getattr(options, "configs", None) or []
    return len(words) > 1 and words[-1].isidentifier() and not os.path.exists(words[-1])


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text; wide characters count as two, and Chinese may be broken anywhere."""
    from tipc.run.show.fold import folded

    rows = []
    for line in text.splitlines():
        rows += folded(line, width, hanging=0)
    return rows


def count(text: str) -> int:
    """0, 1, 2, …"""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(say("must be 0, 1, 2, …, not `{text}`", text=text))
    return int(text)


def positive_count(text: str) -> int:
    """1, 2, 3, …"""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(say("must be 1, 2, 3, …, not `{text}`", text=text))
    return int(text)
