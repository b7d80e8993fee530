"""Which steps a call asks for: ``-k EXPR`` and ``--only KINDS``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tipc.errors import UsageError
from tipc.plan.model import KINDS, Plan, Step

Match = Callable[[frozenset[str]], bool]
_TOKEN = re.compile(r"\s*(?:(?P<mark>[()])|(?P<word>[^\s()]+))")


def selected(plan: Plan, expression: str, only: str) -> frozenset[str]:
    """The ids of the steps that are to run. ``prepare`` goes with whatever else of the plan is selected.

    A word of the expression is looked for, whatever its case, in the step's id, kind and cell, in the
    trainer, autocast, precision and device of its cell, and in the model's name.
    """
    kinds = _kinds(only)
    match = parse(expression) if expression.strip() else None
    chosen = {
        step.id
        for step in plan.steps
        if (not kinds or step.kind in kinds) and (match is None or match(_names(plan, step)))
    }
    prepare = {step.id for step in plan.steps if step.kind == "prepare"}
    if chosen - prepare:
        return frozenset(chosen | prepare)
    return frozenset(chosen if "prepare" in kinds else ())


def parse(expression: str) -> Match:
    """The meaning of ``and``, ``or``, ``not`` and parentheses over words, as in pytest's ``-k``."""
    tokens = list(_tokens(expression))
    position = 0

    def peek() -> str:
        return tokens[position][0] if position < len(tokens) else ""

    def take() -> str:
        nonlocal position
        position += 1
        return tokens[position - 1][0]

    def wrong(what: str) -> UsageError:
        column = tokens[position][1] if position < len(tokens) else len(expression)
        return UsageError(f"-k: {what}\n  {expression}\n  {' ' * column}^", remedy="-k 'train and not amp'")

    def either() -> Match:
        parts = [both()]
        while peek() == "or":
            take()
            parts.append(both())
        return parts[0] if len(parts) == 1 else lambda names: any(part(names) for part in parts)

    def both() -> Match:
        parts = [single()]
        while peek() == "and":
            take()
            parts.append(single())
        return parts[0] if len(parts) == 1 else lambda names: all(part(names) for part in parts)

    def single() -> Match:
        if peek() == "not":
            take()
            inner = single()
            return lambda names: not inner(names)
        if peek() == "(":
            take()
            inner = either()
            if peek() != ")":
                raise wrong("expected `)`")
            take()
            return inner
        if peek() in ("", ")", "and", "or"):
            raise wrong("expected a word")
        word = take().lower()
        return lambda names: any(word in name for name in names)

    whole = either()
    if position < len(tokens):
        raise wrong("expected `and` or `or`")
    return whole


def _tokens(expression: str) -> Iterable[tuple[str, int]]:
    for found in _TOKEN.finditer(expression):
        name = "mark" if found["mark"] else "word"
        yield found[name], found.start(name)


def _kinds(only: str) -> frozenset[str]:
    kinds = frozenset(word.strip() for word in only.split(",") if word.strip())
    unknown = sorted(kinds - set(KINDS))
    if unknown:
        raise UsageError(f"--only: `{unknown[0]}` is no kind of step", remedy=f"--only {','.join(KINDS)}")
    if only and not kinds:
        raise UsageError("--only: no kind of step is named", remedy=f"--only {','.join(KINDS)}")
    return kinds


def _names(plan: Plan, step: Step) -> frozenset[str]:
    cell = next((cell for cell in plan.cells if cell.id == step.cell), None)
    words = [step.id, step.kind, step.cell, plan.model]
    if cell:
        words += [cell.trainer, cell.autocast, cell.precision, cell.runs_on]
    return frozenset(word.lower() for word in words if word)
