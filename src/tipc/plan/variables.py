"""The variables of a script while it runs: what the config gives, and what the loops set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from tipc.config.bash import NULL, VALUE_RULES, for_mode, items, key, second_field, split
from tipc.config.layout import Config
from tipc.config.rules import Choice, Condition, Fixed, Rules, Template
from tipc.config.source import Value
from tipc.plan.bash_tests import bare
from tipc.plan.template import render
from tipc.reasons import Reason, because

T = TypeVar("T")
TRAIN_PARTS = ("lite_train", "whole_train")


class Variables:
    """Keys and values by field name. A value is the whole one; ``walked`` takes a list apart."""

    def __init__(
        self, config: Config, rules: Rules, mode: str, *, root: str = ".", upstream: Rules | None = None
    ) -> None:
        self.config = config
        self.rules = rules
        self.upstream = upstream or rules  # what the script would do: to tell which fixes make a difference
        self.fixes: set[str] = set()
        self.missing: dict[str, Reason] = {}  # devices that are not there for inference, and why
        self.interpreters: set[str] = set()  # names that were found to be good ones
        self.keys: dict[str, str] = {}
        self.values: dict[str, str] = {"mode": mode, "root": root}
        self.lines: dict[str, int] = {}
        for name, row in config.rows.items():
            line = config.line(name)
            self.lines[name] = line.line
            if "k" in row.reads:
                self.keys[name] = self._tidied(key(line).text)
            if "p" in row.reads:
                self.values[name] = self._tidied(self._for_mode(line, mode))
            elif row.reads != "k":
                self.values[name] = self._tidied(self._value(line))
        self.given = dict(self.values)
        self.values["save_model"] = ""
        self.values["log_path"] = self.render(rules.log_path)

    def _value(self, line: Value) -> str:
        value = VALUE_RULES[self.config.layout.value](line).text
        whole = line.text.partition(":")[2]
        if line.text.count(":") < 2 or whole.rstrip() == value.rstrip():
            return value
        return self.fixed("TF020", upstream=value, ours=whole)

    def _for_mode(self, line: Value, mode: str) -> str:
        nearest = _nearest(line, mode)
        if self.config.layout.per_mode:
            return self.fixed("TF021", upstream=for_mode(line, mode).text, ours=nearest)
        return self.fixed("TF010", upstream=for_mode(line, "").text, ours=nearest)

    def _tidied(self, text: str) -> str:
        tidy = text.rstrip()
        if NULL in tidy and tidy.strip() == NULL:
            tidy = NULL
        return self.fixed("TF019", upstream=text, ours=tidy)

    def fixed(self, fix: str, *, upstream: T, ours: T) -> T:
        """What the script does, or what its documentation says: by the mode of the plan.

        The one place where a plan departs from the script; the departure is recorded where the two differ.
        """
        if self.rules.mistakes:
            return upstream
        if ours != upstream:
            self.fixes.add(fix)
        return ours

    def template(self, command: Template) -> str:
        """The version of a command that the plan has."""
        if not isinstance(command, Fixed):
            return command
        if self.rules.mistakes:
            return command.upstream
        for fix in command.fixes:
            self.fixed(fix, upstream=self.render(command.upstream), ours=self.render(command.ours))
        return command.ours

    def walked(self, name: str) -> list[str]:
        """The items of a list, as ``for x in ${list}`` walks them."""
        return [self._tidied(item) for item in split(self.given.get(name, ""), "|")]

    def places(self, name: str) -> list[Value]:
        """The items of a list with their places, for messages."""
        return items(self.config.value(name))

    def no_script(self, kind: str, *rows: str) -> Reason:
        """Why a kind of step is left out: the line of the first of its rows that the file has."""
        for row in rows:
            if self.lines.get(row):
                return because("no-script", line=self.lines[row], kind=kind)
        return because("no-line", kind=kind)

    def render(self, template: str) -> str:
        """A path or another text."""
        return render(template, self.keys, self.values, self.fixed)

    def holds(self, conditions: Iterable[Condition]) -> bool:
        """Whether all conditions are true."""
        return all(self._true(*condition) for condition in conditions)

    def _true(self, name: str, operator: str, text: str) -> bool:
        if name.startswith("key:"):
            value = self.keys.get(name[4:], "")
        else:
            value = self.values.get(name, "")
        if operator in ("=", "!="):
            return bare(value, operator, text)
        if operator in ("~", "!~"):
            return (text in value) is (operator == "~")
        return (value == text) is (operator == "==")

    def choose(self, choices: Iterable[Choice]) -> None:
        """Set the variables that depend on others."""
        for choice in choices:
            if not self.holds(choice.when):
                continue
            text = self.render(choice.text)
            if choice.fix:
                text = self.fixed(choice.fix, upstream=self.values.get(choice.name, ""), ours=text)
            self.values[choice.name] = text


def _nearest(line: Value, mode: str) -> str:
    """The value for a mode; else that of another mode with the same training part; else a plain value."""
    whole = second_field(line)
    listed: dict[str, str] = {}
    for item in items(whole):
        name, equals, value = item.text.strip().partition("=")
        if equals:
            listed.setdefault(name.strip(), value)
        elif "=" in whole.text:
            return ""
        else:
            return whole.text
    if mode in listed:
        return listed[mode]
    for part in TRAIN_PARTS:
        if mode.startswith(part):
            for name, value in listed.items():
                if name.startswith(part):
                    return value
    return ""
