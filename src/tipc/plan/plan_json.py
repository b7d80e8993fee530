"""A Plan as JSON and back. ``tipc schema plan`` has the schema; a change that breaks a reader raises it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from tipc.errors import UsageError, wording
from tipc.plan.model import Plan
from tipc.reasons import Reason, reason_to_json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA = "tipc.plan/2"
OLD_SCHEMA = 2  # the same under the name that it had in the first runs


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """A plan as plain data for ``json.dumps``."""
    return {"schema": SCHEMA, **_plain(plan)}


def plan_json_text(plan: Plan) -> str:
    """``json.dumps(plan_to_json(plan))`` in a third of the time: hundreds of plans are printed at once."""
    return json.dumps({"schema": SCHEMA, **vars(plan)}, default=_fields)


def _fields(record: Any) -> Any:
    """What json.dumps does not know: our records."""
    return reason_to_json(record) if isinstance(record, Reason) else vars(record)


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


@cache
def _reader() -> TypeAdapter[Plan]:
    # Imported here: it takes longer than making a plan, and only runs are read back.
    from pydantic import TypeAdapter

    return TypeAdapter(Plan)


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
    return {name: _plain(one) for name, one in vars(value).items()}
