"""The records of a run, damaged in every way: read whole, or refused with a message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tipc.errors import EnvironmentProblem, UsageError
from tipc.reasons import because
from tipc.run.earlier import Earlier
from tipc.run.record.events import (
    AttemptBegan,
    Damaged,
    Deselected,
    OtherFormat,
    RunBegan,
    RunFinished,
    RunResumed,
    StepEnded,
    StepOutdated,
    event_from_line,
    event_to_line,
)
from tipc.run.record.facts import facts_base, facts_file, load_facts, store_facts
from tipc.run.record.replay import Replay
from tipc.run.record.results import StepResult
from tipc.run.schedule.selection import parse

RESULT = StepResult("p", "s", "failed", because("exit", status=1), 1, None, 2, 1e9, 1.5, artefacts={"a": "b"})
EVENTS = (
    RunBegan("id", 1.0, ("a",), {"mode": "x"}, format=2),
    RunResumed(1.0, (), {}),
    Deselected("p", ("s",)),
    StepOutdated("p", "s", because("outdated", inputs="scripts")),
    AttemptBegan("p", "s", 1, 1.0, "/log", {"scripts": "1"}),
    StepEnded(RESULT),
    RunFinished(1.0, "failed", (because("file-rewritten", path="x"),), ("/y",)),
)
MANY = settings(max_examples=1500, deadline=None)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
)


@MANY
@given(st.sampled_from(EVENTS), st.data())
def test_an_event_with_a_wrong_value_is_an_event_or_damage(event: object, data: st.DataObject) -> None:
    record = json.loads(event_to_line(event))  # type: ignore[arg-type]
    inner = record.get("result", record)
    inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(anything)
    line = json.dumps(record).encode("utf-8", "surrogatepass")
    try:
        read = event_from_line(line)
    except (Damaged, OtherFormat):
        return
    assert event_from_line(event_to_line(read)) == read
    replay = Replay()
    replay.add(read)
    Earlier(replay)


@MANY
@given(st.sampled_from(EVENTS), st.binary(max_size=4), st.integers(0, 400), st.integers(0, 3))
def test_an_event_with_wrong_bytes_is_an_event_or_damage(
    event: object, new: bytes, at: int, lost: int
) -> None:
    line = event_to_line(event)  # type: ignore[arg-type]
    at = at % len(line)
    try:
        event_from_line(line[:at] + new + line[at + lost :])
    except (Damaged, OtherFormat):
        return


@given(st.text(st.sampled_from("ab ()not"), max_size=30))
def test_any_expression_has_a_meaning_or_a_message(expression: str) -> None:
    try:
        match = parse(expression)
    except UsageError:
        return
    assert match(frozenset({"ab"})) in (True, False)


def test_an_expression_that_is_nested_without_end_is_refused() -> None:
    for expression in ("(" * 100_000, "not " * 100_000 + "a"):
        with pytest.raises(UsageError, match="nested too deeply"):
            parse(expression)


def test_every_kind_of_event_is_tried() -> None:
    kinds: Mapping[str, object] = {event.event: event for event in EVENTS}
    assert len(kinds) == len(EVENTS) == 7, "`attempt` has the form of `end`"


def test_facts_of_another_version_are_refused(tmp_path: Path) -> None:
    base = facts_base(tmp_path, 0, "train")
    store_facts(base, None, [])
    assert load_facts(tmp_path, 0, "train").processes == ()
    content = json.loads(facts_file(base).read_text())
    for changed, told in (({"version": 99}, "facts of version 99"), ({"processes": 1}, "damaged")):
        facts_file(base).write_text(json.dumps({**content, **changed}))
        with pytest.raises(EnvironmentProblem, match=told):
            load_facts(tmp_path, 0, "train")
