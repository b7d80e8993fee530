"""The support matrix as a table of signs, each a link to the cell that it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from tipc.kinds import BAD, CPU, SIGNS, UNCERTIFIED, WORST_FIRST
from tipc.language import say
from tipc.report.html.anchors import Anchors
from tipc.report.plain_text import clean
from tipc.report.support_matrix import SINGLE, Matrix, MatrixEntry

REASONS = 300  # characters of why a field is not more


def matrix_table(matrix: Matrix, anchors: Anchors, brief: bool) -> dict[str, Any]:
    """The template's data: grouped columns, a row for each model (failures first), a legend."""
    rows = []
    seen: set[str] = set()
    for row in matrix.rows:
        entries = [row.train.get(key) for key in matrix.train]
        entries += [row.infer.get(key) for key in matrix.infer]
        states = set()
        for entry in entries:
            if entry is not None:
                states.add(entry.state)
        seen |= states
        rows.append(
            {
                "model": row.model,
                "anchor": _anchor(entries, anchors),
                "bad": not states.isdisjoint(BAD),
                "cells": [_field(entry, anchors, brief) for entry in entries],
            }
        )
    rows.sort(key=lambda row: not row["bad"])
    columns = []
    for _precision, cards in matrix.train:
        columns.append(_cards(cards))
    for _device, precision in matrix.infer:
        columns.append(precision)
    return {
        "groups": _groups(matrix),
        "columns": columns,
        "rows": rows,
        "legend": sorted(seen, key=WORST_FIRST.index),
    }


def _anchor(entries: Sequence[MatrixEntry | None], anchors: Anchors) -> str:
    """Where the page speaks of a model: at the plan of its first cell."""
    for entry in entries:
        place = entry and entry.place
        if place:
            return anchors.plans[place[0], place[1]]
    return ""


def _groups(matrix: Matrix) -> list[tuple[str, int]]:
    """What the columns below have in common: how was trained, or on what is inferred; and their number."""
    groups: Counter[str] = Counter()
    for precision, _cards in matrix.train:
        groups[f"{say('training')} {precision}"] += 1
    for device, _precision in matrix.infer:
        groups[f"{say('inference')} {device}"] += 1
    return list(groups.items())


def _cards(cards: str) -> str:
    if cards == SINGLE:
        return say("one card")
    return say("several")


def _field(entry: MatrixEntry | None, anchors: Anchors, brief: bool) -> Markup:
    if entry is None:
        return Markup("<td>")
    state = entry.state
    title = say(state)
    if entry.reasons and (state in BAD or not brief):
        reasons = "; ".join(dict.fromkeys(entry.reasons))
        title += f": {reasons[:REASONS]}"
    # A failure says its name; the sign is enough for the rest: the legend has it.
    word = ""
    if state in BAD:
        word = say(state)
    elif state == UNCERTIFIED and entry.word != state:
        word = CPU
    label = title
    if word not in title:
        label = f"{word}, {title}"
    anchor = ""
    if entry.place:
        anchor = anchors.cells.get(entry.place, "")
    field = Markup('<td><a href="#{anchor}" class={slug} title="{title}" aria-label="{label}">{shown}</a>')
    return field.format(
        anchor=anchor,
        slug=state.replace(" ", "-"),
        title=clean(title),
        label=clean(label),
        shown=f"{SIGNS[state].mark} {word}".rstrip(),
    )
