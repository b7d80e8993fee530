"""A Plan as JSON and back. docs/plan.md has the schema; a change that breaks a reader raises its version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from tipc.errors import UsageError
from tipc.plan.model import AppliedFix, Cell, Plan, Skip, Step

VERSION = 1


def _record(item: Any) -> dict[str, Any]:
    record = {}
    for entry in fields(item):
        value = getattr(item, entry.name)
        record[entry.name] = (
            list(value) if isinstance(value, tuple) else dict(value) if _maps(value) else value
        )
    return record


def _maps(value: Any) -> bool:
    return isinstance(value, Mapping)


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """A plan as plain data for ``json.dumps``."""
    data: dict[str, Any] = {"schema": VERSION}
    for entry in fields(plan):
        value = getattr(plan, entry.name)
        if entry.name in ("cells", "steps", "skipped", "fixes"):
            value = [_record(item) for item in value]
        data[entry.name] = list(value) if isinstance(value, tuple) else value
    return data


def _made(kind: Any, data: Mapping[str, Any]) -> Any:
    known = {entry.name for entry in fields(kind)}
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    return kind(**{name: value for name, value in plain.items() if name in known})


def plan_from_json(data: Mapping[str, Any]) -> Plan:
    """The plan of ``plan_to_json``; fields that a newer tipc added are ignored."""
    if data.get("schema") != VERSION:
        raise UsageError(f"a plan of schema {data.get('schema')!r}; this tipc reads schema {VERSION}")
    parts = {"cells": Cell, "steps": Step, "skipped": Skip, "fixes": AppliedFix}
    try:
        lists = {name: tuple(_made(kind, item) for item in data[name]) for name, kind in parts.items()}
        plan: Plan = _made(Plan, {**data, **lists})
    except (TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"this is no plan: {error}") from None
    return plan
