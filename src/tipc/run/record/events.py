"""The events of a journal, one a line of JSON; docs/journal.md has them. Another format is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from tipc.reasons import Reason
from tipc.run.record.disk import parse_json
from tipc.run.record.results import Count, Moment, StepResult

FORMAT = 2


@dataclass(frozen=True)
class RunBegan:
    """The first line: what was called, and the request with which the plans can be made again."""

    id: str
    at: Moment
    argv: tuple[str, ...]
    options: Mapping[str, Any]
    format: int = field(kw_only=True)
    number: Count = field(default=0, kw_only=True)  # among the runs beside it, by their start
    event: Literal["run"] = field(default="run", kw_only=True)


@dataclass(frozen=True)
class RunResumed:
    """Another ``tipc`` goes on with this run, with the request as it is now."""

    at: Moment
    argv: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    event: Literal["resume"] = field(default="resume", kw_only=True)


@dataclass(frozen=True)
class Deselected:
    """These steps are not to run, and are not counted as passed. Replaces what was said before."""

    plan: str
    steps: tuple[str, ...]
    event: Literal["deselected"] = field(default="deselected", kw_only=True)


@dataclass(frozen=True)
class StepOutdated:
    """What a step did earlier counts no more, and it does not run now: something it depends on changed."""

    plan: str
    step: str
    reason: Reason
    event: Literal["outdated"] = field(default="outdated", kw_only=True)


@dataclass(frozen=True)
class AttemptBegan:
    """An attempt begins. ``inputs`` are the digests that tell later whether it must run again."""

    plan: str
    step: str
    attempt: Count
    at: Moment
    log: str
    inputs: Mapping[str, str]
    event: Literal["start"] = field(default="start", kw_only=True)


@dataclass(frozen=True)
class AttemptFailed:
    """An attempt failed and another one follows."""

    result: StepResult
    event: Literal["attempt"] = field(default="attempt", kw_only=True)


@dataclass(frozen=True)
class StepEnded:
    """The last word on a step, for now."""

    result: StepResult
    event: Literal["end"] = field(default="end", kw_only=True)


@dataclass(frozen=True)
class RunFinished:
    """The call is over: ``passed``, ``failed`` or ``interrupted``."""

    at: Moment
    state: str
    tampered: tuple[Reason, ...] = ()
    changed_sources: tuple[str, ...] = ()
    changed_settings: tuple[str, ...] = ()
    new_scripts: tuple[str, ...] = ()
    event: Literal["finish"] = field(default="finish", kw_only=True)


Event = (
    RunBegan | RunResumed | Deselected | StepOutdated | AttemptBegan | AttemptFailed | StepEnded | RunFinished
)


class Damaged(ValueError):
    """A line that is no event; the message says why, in a few words."""


class OtherFormat(ValueError):
    """The journal of another tipc."""


@cache
def _adapter() -> TypeAdapter[Event]:
    return TypeAdapter(Annotated[Event, Field(discriminator="event")])


def event_to_line(event: Event) -> bytes:
    """The line of an event, with its newline. Fields that have their default are left out."""
    data = {"event": event.event, **_adapter().dump_python(event, exclude_defaults=True)}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogateescape") + b"\n"


def event_from_line(line: bytes) -> Event:
    """The event of a line; raises Damaged, or OtherFormat for the first line of another tipc's journal."""
    try:
        data = parse_json(line)
    except ValueError as error:
        raise Damaged(f"no JSON: {error}") from error
    if isinstance(data, dict) and data.get("event") == "run" and data.get("format") != FORMAT:
        raise OtherFormat(f"a run of format {data.get('format')!r}; this tipc reads format {FORMAT}")
    try:
        return _adapter().validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        raise Damaged(": ".join(filter(None, (place, first["msg"])))) from error
