"""A Plan as JSON and back. ``tipc schema plan`` has the schema; a change that breaks a reader raises it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

from tipc.errors import UsageError, wording
from tipc.json_stream import with_list
from tipc.plan.model import Plan, Step
from tipc.reasons import Reason, reason_to_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic import TypeAdapter

SCHEMA = "tipc.plan/2"
OLD_SCHEMA = 2  # the same under the name that it had in the first runs


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """A plan as plain data for ``json.dumps``."""
    return {"schema": SCHEMA, **_plain(plan)}


def plan_json_text(plan: Plan) -> str:
    """``json.dumps(plan_to_json(plan))`` in a third of the time: hundreds of plans are printed at once."""
    return json.dumps({"schema": SCHEMA, **_fields(plan)}, default=_record)


def plan_json_parts(plan: Plan) -> Iterator[str]:
    """The same for a file, step by step and in one line: a plan may have ten thousand steps."""
    steps = ([json.dumps(step, ensure_ascii=False, default=_record)] for step in plan.steps)
    content = {"schema": SCHEMA, **_fields(plan)}
    return with_list(content, "steps", steps, newline="", default=_record)


def _record(record: Any) -> Any:
    """What json.dumps does not know: our records."""
    return reason_to_json(record) if isinstance(record, Reason) else _fields(record)


def _fields(record: DataclassInstance) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _field_names(type(record))}


@cache
def _field_names(kind: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def plan_from_json(data: Mapping[str, Any]) -> Plan:
    """The plan of ``plan_to_json``; fields that a newer tipc added are ignored.

    Raises UsageError for a schema that is not known and for a value of the wrong type.
    """
    from pydantic import ValidationError

    if not isinstance(data, Mapping):
        raise UsageError("this is not a plan: it is not a JSON object")
    if data.get("schema") not in (SCHEMA, OLD_SCHEMA):
        raise UsageError(
            wording(
                "a plan of schema {data!r}; this tipc reads {schema}", data=data.get("schema"), schema=SCHEMA
            )
        )
    try:
        return _reader().validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            wording("this is not a plan: {where}: {msg}", where=where, msg=first["msg"])
        ) from None


def step_or_data(data: dict[str, Any]) -> Step | dict[str, Any]:
    """The step that an object of a plan's JSON is, for ``plan_from_json``: ten thousand steps as plain data
    take several times their memory. Other objects, and a step with a mistake, are handed back as they are."""
    from pydantic import ValidationError

    if "argv" not in data or "status_line" not in data:
        return data
    try:
        return _step_reader().validate_python(data)
    except ValidationError:
        return data


@cache
def _reader() -> TypeAdapter[Plan]:
    # Imported here: it takes longer than making a plan, and only runs are read back.
    from pydantic import TypeAdapter

    return TypeAdapter(Plan)


@cache
def _step_reader() -> TypeAdapter[Step]:
    from pydantic import TypeAdapter

    return TypeAdapter(Step)


def _plain(value: Any) -> Any:
    """Records and mappings as dicts, tuples as lists. Most values are text, so that is asked first."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, Reason):
        return reason_to_json(value)
    return {name: _plain(one) for name, one in _fields(value).items()}
