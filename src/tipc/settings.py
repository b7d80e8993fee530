"""The settings of a repository: ``tipc.toml``, or ``[tool.tipc]`` in ``pyproject.toml``.

The file is looked for upwards from the current directory; the nearest one counts, and ``tipc.toml`` before
``pyproject.toml`` of the same directory. An option of the command line outdoes a setting.
"""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from typing import Any, NamedTuple

from tipc.bounded import read_bounded_text
from tipc.errors import Message, UsageError, wording
from tipc.kinds import LANGUAGES
from tipc.suggestions import one_of

OWN, SHARED = "tipc.toml", "pyproject.toml"
RUN, PLAN, LINT, CHECK = "run", "plan", "lint", "check"
LEVELS = ("base", "amp", "pact", "all")


class Setting(NamedTuple):
    """A key that the file may have."""

    name: str
    kind: type
    commands: tuple[str, ...]  # whose option of the same name gets it as its default
    title: str
    choices: tuple[str, ...] = ()  # empty: any
    least: float | None = None  # of a number


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("mode", str, (RUN, PLAN), "the mode where a call names none"),
        Setting("python", str, (RUN, PLAN), "the interpreter for `python` in configs"),
        Setting("device", str, (RUN, PLAN), "plan for this device"),
        Setting("timeout", float, (RUN,), "seconds after which a step is ended", least=1),
        Setting("retries", int, (RUN,), "how often a failed step is tried again", least=0),
        Setting("jobs", int, (RUN,), "at most so many steps at once", least=1),
        Setting("executor", str, (RUN,), "where steps run"),
        Setting("strict", bool, (RUN,), "what is not certified or flaky is a failure"),
        Setting("ignore", list, (LINT,), "lint codes that are not shown"),
        Setting("level", str, (CHECK,), "the level of the specification that is claimed", LEVELS),
        Setting("lang", str, (), "the language of messages: en or zh", LANGUAGES),
    )
}


class Chosen(NamedTuple):
    """What a file says."""

    path: str = ""  # of the file; empty: there is none
    values: tuple[tuple[str, Any], ...] = ()

    def get(self, name: str) -> Any:
        """The value of a setting; None where the file does not have it."""
        return dict(self.values).get(name)


def find_settings(start: str = ".") -> Chosen:
    """The settings that hold in a directory."""
    try:
        directory = os.path.abspath(start)
    except FileNotFoundError:
        raise UsageError("the current directory has been removed", remedy="cd to another one") from None
    while True:
        for name in (OWN, SHARED):
            path = os.path.join(directory, name)
            if os.path.isfile(path):
                chosen = read_settings(path)
                if chosen is not None:
                    return chosen
        parent = os.path.dirname(directory)
        if parent == directory:
            return Chosen()
        directory = parent


def read_settings(path: str) -> Chosen | None:
    """The settings of one file; None for a ``pyproject.toml`` that says nothing about tipc."""
    try:
        text = read_bounded_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(wording("the settings cannot be read: {error}", error=error), path=path) from None
    shared = os.path.basename(path) == SHARED
    if shared and "tool.tipc" not in text:
        return None
    table = _parsed(text, path)
    if shared:
        tools = table.get("tool")
        if not isinstance(tools, dict) or "tipc" not in tools:
            return None
        table = tools["tipc"]
        if not isinstance(table, dict):
            raise UsageError("`tool.tipc` must be a table", path=path, remedy="[tool.tipc]")
    values = []
    for name, value in table.items():
        values.append((name, _checked(name, value, path, text)))
    return Chosen(path, tuple(values))


def _parsed(text: str, path: str) -> dict[str, Any]:
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise UsageError("not valid TOML: it is nested too deeply", path=path) from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+), column (\d+)", str(error))
        line = column = 0
        if place:
            line, column = int(place[1]), int(place[2])
        message = str(error).partition(" (at ")[0]
        raise UsageError(
            wording("not valid TOML: {message}", message=message), path=path, line=line, column=column
        ) from None
    return table


def _checked(name: str, value: Any, path: str, text: str) -> Any:
    """The value, or an error that points at its line."""
    found = re.search(rf"^\s*[\"']?{re.escape(name)}[\"']?\s*=", text, re.MULTILINE)
    line = 0
    if found:
        line = text.count("\n", 0, found.start()) + 1
    setting = SETTINGS.get(name)
    if setting is None:
        remedy = one_of(name, SETTINGS)
        raise UsageError(
            wording("there is no setting `{name}`", name=name), path=path, line=line, remedy=remedy
        )
    if setting.kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    wrong = _wrong_kind(setting, value) or _wrong_value(setting, value)
    if wrong is not None:
        raise UsageError(wrong[0], path=path, line=line, remedy=wrong[1])
    return value


def _wrong_kind(setting: Setting, value: Any) -> tuple[Message, str | Message] | None:
    """What is said of a value of another kind than the setting has, and how to write one."""
    name = setting.name
    remedy = wording("{name} = {examples}", name=name, examples=_EXAMPLES[setting.kind])
    if not isinstance(value, setting.kind) or (setting.kind is int and isinstance(value, bool)):
        kind = wording(_WORDS[setting.kind])
        return wording("`{name}` must be {kind}, not {value!r}", name=name, kind=kind, value=value), remedy
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        return wording("`{name}` must be a list of texts", name=name), remedy
    return None


def _wrong_value(setting: Setting, value: Any) -> tuple[Message, str | Message] | None:
    """What is said of a value that the setting cannot have, and what it can."""
    name, least = setting.name, setting.least
    if setting.choices and value not in setting.choices:
        told = wording("`{name}` cannot be `{value}`", name=name, value=value)
        return told, one_of(value, setting.choices)
    if least is not None and value < least:
        told = wording(
            "`{name}` must be at least {least:g}, not {value:g}", name=name, least=least, value=value
        )
        return told, ""
    return None


_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list"}
_EXAMPLES = {str: '"…"', int: "2", float: "600", bool: "true", list: '["TC052"]'}
