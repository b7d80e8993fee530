"""A Plan as JSON and back. docs/plan.md has the schema; a change that breaks a reader raises its version."""

from __future__ import annotations

from collections.abc import Mapping

from tipc.errors import UsageError
from tipc.plan.draft import Plan, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
RECORDS = ("cells", "steps", "skipped", "fixes")


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """A plan as plain data for ``json.dumps``."""
    data: dict[str, Any] = {"schema": VERSION}
    for name, value in fields_of(plan).items():
        if name in RECORDS:
            data[name] = [
                {field: _plain(one) for field, one in fields_of(item).items()}
                for item in value  # type: ignore[attr-defined]
            ]
        else:
            data[name] = _plain(value)
    return data


def _made(kind: Any, data: Mapping[str, Any]) -> Any:
    known = set(kind.__dataclass_fields__)
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    return kind(**{name: value for name, value in plain.items() if name in known})


def plan_from_json(data: Mapping[str, Any]) -> Plan:
    """The plan of ``plan_to_json``; fields that a newer tipc added are ignored."""
    if data.get("schema") != VERSION:
        raise UsageError(f"a plan of schema {data.get('schema')!r}; this tipc reads schema {VERSION}")
    from tipc.plan import model

    parts = dict(zip(RECORDS, (model.Cell, model.Step, model.Skip, model.AppliedFix), strict=True))
    try:
        lists = {name: tuple(_made(kind, item) for item in data[name]) for name, kind in parts.items()}
        plan: Plan = _made(model.Plan, {**data, **lists})
    except (TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"this is no plan: {error}") from None
    return plan
