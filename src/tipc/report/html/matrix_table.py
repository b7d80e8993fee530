"""The support matrix as a table of signs, each a link to the cell that it is about."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from markupsafe import Markup

from tipc.kinds import BAD, SIGNS, UNCERTIFIED, WORST_FIRST
from tipc.language import say
from tipc.report.html.anchors import Anchors
from tipc.report.plain_text import clean
from tipc.report.support_matrix import SINGLE, Matrix, MatrixEntry

REASONS = 300  # characters of why a field is not more


def matrix_table(matrix: Matrix, anchors: Anchors, brief: bool) -> dict[str, Any]:
    """The template's data: grouped columns, a row for each model (failures first), a legend."""
    columns = [("train", key) for key in matrix.train] + [("infer", key) for key in matrix.infer]
    rows = []
    seen: set[str] = set()
    for row in matrix.rows:
        entries = [row.train.get(key) if side == "train" else row.infer.get(key) for side, key in columns]
        states = [entry.state for entry in entries if entry is not None]
        seen.update(states)
        place = next((entry.place for entry in entries if entry is not None and entry.place), None)
        rows.append(
            {
                "model": row.model,
                "anchor": anchors.plans[place[0], place[1]] if place else "",
                "bad": any(state in BAD for state in states),
                "cells": [_field(entry, anchors, brief) for entry in entries],
            }
        )
    rows.sort(key=lambda row: not row["bad"])
    return {
        "groups": _groups(matrix),
        "columns": [_column(side, key) for side, key in columns],
        "rows": rows,
        "legend": [state for state in WORST_FIRST if state in seen],
    }


def _groups(matrix: Matrix) -> list[tuple[str, int]]:
    """What the columns below have in common: how was trained, or on what is inferred."""
    trained = [
        (f"{say('training')} {name}", list(keys)) for name, keys in groupby(matrix.train, lambda key: key[0])
    ]
    deployed = [
        (f"{say('inference')} {name}", list(keys)) for name, keys in groupby(matrix.infer, lambda key: key[0])
    ]
    return [(name, len(keys)) for name, keys in [*trained, *deployed]]


def _column(side: str, key: tuple[str, str]) -> str:
    if side == "infer":
        return key[1]
    return say("one card") if key[1] == SINGLE else say("several")


def _field(entry: MatrixEntry | None, anchors: Anchors, brief: bool) -> Markup:
    if entry is None:
        return Markup("<td>")
    state = entry.state
    told = "" if brief and state not in BAD else "; ".join(dict.fromkeys(entry.reasons))
    title = f"{say(state)}: {told[:REASONS]}" if told else say(state)
    # A failure says its name; the sign is enough for the rest: the legend has it.
    word = f" {say(state)}" if state in BAD else ""
    if state == UNCERTIFIED and entry.word != state:
        word = " cpu"
    anchor = anchors.cells.get(entry.place) if entry.place else None
    label = f"{word.strip()}, {title}" if word.strip() not in title else title
    field = Markup(
        '<td><a href="#{anchor}" class={slug} title="{title}" aria-label="{label}">{mark}{word}</a>'
    )
    return field.format(
        anchor=anchor or "",
        slug=state.replace(" ", "-"),
        title=clean(title),
        label=clean(label),
        mark=SIGNS[state].mark,
        word=word,
    )
