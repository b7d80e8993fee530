"""Which steps a call asks for: ``-k EXPR`` and ``--only STEP_KINDS``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tipc.errors import UsageError, wording
from tipc.kinds import PREPARE, STEP_KINDS
from tipc.plan.model import Plan, Step
from tipc.suggestions import one_of

Match = Callable[[frozenset[str]], bool]
_TOKEN = re.compile(r"\s*([()]|[^\s()]+)")


def selected(plan: Plan, expression: str, only: str) -> frozenset[str]:
    """The ids of the steps that are to run. ``prepare`` goes with whatever else of the plan is selected.

    A word of the expression is looked for, whatever its case, in the step's id, kind and cell, in the
    trainer, autocast, precision and device of its cell, and in the model's name.
    """
    kinds = _kinds(only)
    match = None
    if expression.strip():
        match = parse(expression)
    chosen, prepare = set(), set()
    for step in plan.steps:
        if step.kind == PREPARE:
            prepare.add(step.id)
        if kinds and step.kind not in kinds:
            continue
        if match is None or match(_names(plan, step)):
            chosen.add(step.id)
    if chosen - prepare:
        return frozenset(chosen | prepare)
    if PREPARE in kinds:
        return frozenset(chosen)
    return frozenset()


def parse(expression: str) -> Match:
    """The meaning of ``and``, ``or``, ``not`` and parentheses over words, as in pytest's ``-k``."""
    return _Expression(expression).whole()


class _Expression:
    """A parser that goes down: either → both → single."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.position = 0

    def whole(self) -> Match:
        try:
            match = self.either()
        except RecursionError:
            raise UsageError("-k: the expression is nested too deeply") from None
        if self.position < len(self.tokens):
            raise self.wrong("expected `and` or `or`")
        return match

    def either(self) -> Match:
        parts = [self.both()]
        while self.peek() == "or":
            self.take()
            parts.append(self.both())
        if len(parts) == 1:
            return parts[0]
        return lambda names: any(part(names) for part in parts)

    def both(self) -> Match:
        parts = [self.single()]
        while self.peek() == "and":
            self.take()
            parts.append(self.single())
        if len(parts) == 1:
            return parts[0]
        return lambda names: all(part(names) for part in parts)

    def single(self) -> Match:
        if self.peek() == "not":
            self.take()
            inner = self.single()
            return lambda names: not inner(names)
        if self.peek() == "(":
            self.take()
            inner = self.either()
            if self.peek() != ")":
                raise self.wrong("expected `)`")
            self.take()
            return inner
        if self.peek() in ("", ")", "and", "or"):
            raise self.wrong("expected a word")
        word = self.take().lower()
        return lambda names: any(word in name for name in names)

    def peek(self) -> str:
        if self.position == len(self.tokens):
            return ""
        return self.tokens[self.position][0]

    def take(self) -> str:
        self.position += 1
        return self.tokens[self.position - 1][0]

    def wrong(self, what: str) -> UsageError:
        column = len(self.text)
        if self.position < len(self.tokens):
            column = self.tokens[self.position][1]
        place = f"{self.text}\n  {' ' * column}^"
        return UsageError(
            wording("-k: {what}\n  {place}", what=what, place=place), remedy="-k 'train and not amp'"
        )


def _tokens(expression: str) -> Iterable[tuple[str, int]]:
    for found in _TOKEN.finditer(expression):
        yield found[1], found.start(1)


def _kinds(only: str) -> frozenset[str]:
    kinds = frozenset(word.strip() for word in only.split(",") if word.strip())
    unknown = sorted(kinds - set(STEP_KINDS))
    if unknown:
        raise UsageError(
            wording("--only: `{unknown}` is not a kind of step", unknown=unknown[0]),
            remedy=one_of(unknown[0], STEP_KINDS),
        )
    if only and not kinds:
        raise UsageError(
            "--only: no kind of step is named", remedy=wording("--only {names}", names=",".join(STEP_KINDS))
        )
    return kinds


def _names(plan: Plan, step: Step) -> frozenset[str]:
    words = [step.id, step.kind, step.cell, plan.model]
    for cell in plan.cells:
        if cell.id == step.cell:
            words += [cell.trainer, cell.autocast, cell.precision, cell.runs_on]
    found = set()
    for word in words:
        if word:
            found.add(word.lower())
    return frozenset(found)
