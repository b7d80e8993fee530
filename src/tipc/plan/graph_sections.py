"""The chain dy2static: every section of a file is trained twice, by the dynamic and by the static graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from tipc.config.dialects.dy2static import EXPORTED, GPUS, LENGTH, SECTIONS, SectionEdit, Sections
from tipc.config.source import Line, Source
from tipc.errors import UsageError
from tipc.message import english_text
from tipc.plan.join import joined, own_command, renamed
from tipc.plan.model import Plan, Step

DYNAMIC, STATIC = "dygraph", "to_static"
_HEADER = re.compile(r"={12,}")
Part = Callable[[Source, str], Plan]  # the plan of a training config, whose files have a name of their own


def plan_sections(source: Source, family: str, part: Part, *, as_upstream: bool) -> Plan:
    """The plans of all trainings as one. ``part`` plans the training config that a section becomes."""
    rules = SECTIONS[family]
    plans: list[Plan] = []
    steps: list[Step] = []
    for name, lines in _sections(source):
        for kind in (DYNAMIC, STATIC):
            edits = rules.both
            if kind == STATIC:
                edits += rules.static
            plan = part(Source(source.path, _edited(lines, edits)), f"{name}_{kind}")
            plan = renamed(plan, f"{name}-{kind}-", EXPORTED)
            plans.append(plan)
            steps += plan.steps
        if as_upstream:
            steps += _comparing(rules, name)
    if not plans:
        raise UsageError("no section begins with a header", path=source.path, line=1)
    whole = joined(plans, steps)
    if as_upstream:
        return whole
    note = english_text(
        "{path}: whether both trainings have the same losses is not compared", path=source.path
    )
    return replace(whole, notes=(*whole.notes, note))


def _sections(source: Source) -> Iterator[tuple[str, tuple[Line, ...]]]:
    """Name and lines of each section, all of one length."""
    for index, line in enumerate(source.lines):
        if _HEADER.search(line.text):
            words = line.text.split(" ")
            name = words[1] if len(words) > 1 else line.text  # as ``cut -d' ' -f2`` has it
            yield name, source.lines[index : index + LENGTH]


def _edited(lines: tuple[Line, ...], edits: tuple[SectionEdit, ...]) -> tuple[Line, ...]:
    """The lines of the training config that the script makes of a section."""
    made = []
    for place, line in enumerate(lines, 1):
        text = re.sub(r"gpu_list.*", GPUS, line.text)
        for edit in edits:
            if edit.line == place:
                text = edit.text if edit.replaces else text + edit.text
        made.append(Line(line.number, text))
    return tuple(made)


def _comparing(rules: Sections, name: str) -> list[Step]:
    """The script reads the losses of both logs, to compare them as text."""
    line, loss = rules.losses
    argv = ("python", "test_tipc/extract_loss.py", "-v", line, "-e", loss)
    steps = []
    for kind in (STATIC, DYNAMIC):
        steps.append(own_command(f"{name}-{kind}-losses", name, argv, EXPORTED))
    return steps
