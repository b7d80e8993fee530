"""A verdict as JSON in its run's directory."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tipc.bounded import OF_A_RUN, bounded_lines
from tipc.certify.verdict import STATUSES, Finding, Verdict
from tipc.errors import EnvironmentProblem, wording
from tipc.json_stream import with_list
from tipc.message import Message, message_to_json
from tipc.reasons import Reason, reason_to_json
from tipc.run.record.disk import parse_json, write_parts
from tipc.run.record.results import Run

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic import TypeAdapter

SCHEMA = "tipc.verdict/1"
CHECKLIST_SCHEMA = "tipc.checklist/1"  # of a repository; in all else the same
NAME = "verdict.json"


@dataclass(frozen=True)
class VerdictDocument:
    """What the checks concluded."""

    run: str
    strict: bool
    passed: bool
    conclusion: str
    counts: Mapping[str, int]  # status → findings
    findings: tuple[Finding, ...]


def verdict_to_json(verdict: Verdict, schema: str = SCHEMA) -> dict[str, Any]:
    """The verdict with its counts; figures that JSON has no word for (NaN, infinity) become null."""
    return {**_without_findings(verdict, schema), "findings": list(map(_finding_to_json, verdict.findings))}


def verdict_parts(verdict: Verdict) -> Iterator[str]:
    """The text of ``verdict.json``, a finding a line: ten thousand steps have tens of thousands."""
    findings = ([json.dumps(_finding_to_json(one), ensure_ascii=False)] for one in verdict.findings)
    return with_list(_without_findings(verdict, SCHEMA), "findings", findings)


def _without_findings(verdict: Verdict, schema: str) -> dict[str, Any]:
    document = VerdictDocument(
        run=verdict.run,
        strict=verdict.strict,
        passed=verdict.passed,
        conclusion=verdict.conclusion,
        counts={status: verdict.count(status) for status in STATUSES},
        findings=(),
    )
    return {"schema": schema, **plain(document)}


def _finding_to_json(finding: Finding) -> dict[str, Any]:
    row: dict[str, Any] = plain(finding)
    if finding.wordings:
        row["wordings"] = {name: message_to_json(text) for name, text in finding.wordings.items()}
    return row


def plain(value: Any) -> Any:
    """The same data in what JSON has. Most values are text or numbers, so that is asked first."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Reason):
        return reason_to_json(value)
    if isinstance(value, Message):
        return value.in_english()
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _field_names(type(value))}
    if isinstance(value, Mapping):
        return plain(dict(value))
    return str(value)


@cache
def _field_names(kind: type[DataclassInstance]) -> tuple[str, ...]:
    """The fields of a dataclass; of a finding without its wordings, which are for ``verdict.json`` alone:
    a program reads the English text."""
    found = []
    for field in fields(kind):
        if field.name != "wordings":
            found.append(field.name)
    return tuple(found)


def verdict_from_json(data: dict[str, Any]) -> Verdict:
    """The inverse of ``verdict_to_json``; raises EnvironmentProblem if it is something else."""
    from pydantic import ValidationError

    if data.get("schema") != SCHEMA:
        raise EnvironmentProblem(
            wording(
                "not a verdict: schema {data!r}, expected {schema!r}", data=data.get("schema"), schema=SCHEMA
            )
        )
    try:
        verdict = _adapter().validate_python(
            {"run": data.get("run"), "strict": data.get("strict"), "findings": data.get("findings")}
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise EnvironmentProblem(
            wording("a damaged verdict: {loc}: {msg}", loc=first["loc"], msg=first["msg"])
        ) from error
    for finding in verdict.findings:
        if finding.status not in STATUSES:
            raise EnvironmentProblem(
                wording("a damaged verdict: {loc}: {msg}", loc=finding.check, msg=repr(finding.status))
            )
    return verdict


@cache
def _adapter() -> TypeAdapter[Verdict]:
    from pydantic import TypeAdapter

    return TypeAdapter(Verdict)


@cache
def _finding_adapter() -> TypeAdapter[Finding]:
    from pydantic import TypeAdapter

    return TypeAdapter(Finding)


def save_verdict(run: Run, verdict: Verdict) -> None:
    """Write ``verdict.json`` into the run's directory, whole or not at all."""
    try:
        write_parts(run.directory / NAME, verdict_parts(verdict))
    except EnvironmentProblem as error:
        remedy = wording("make room, then `tipc certify {run}`: the steps need not run again", run=run.id)
        raise EnvironmentProblem(error.told, path=error.path, remedy=remedy) from error


def load_verdict(run: Run) -> Verdict | None:
    """The verdict of a run; None if there is none yet."""
    path = run.directory / NAME
    try:
        data = _read(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise EnvironmentProblem(wording("cannot be read: {error}", error=error), path=str(path)) from error
    if not isinstance(data, dict):
        data = {}
    return verdict_from_json(data)


def _read(path: Path) -> Any:
    """What a file says. Findings with a line each, as ``verdict_parts`` writes them, are read one by one:
    the plain data of all take several times the memory of the findings."""
    rest: list[bytes] = []
    findings = []
    for line in bounded_lines(path, altogether=OF_A_RUN):
        if rest and line.startswith(b'{"'):
            findings.append(_finding_or_data(parse_json(line.rstrip(b",\n"))))
        else:
            rest.append(line)
    data = parse_json(b"".join(rest))
    if findings and isinstance(data, dict):
        data["findings"] = findings
    return data


def _finding_or_data(data: Any) -> Any:
    """A finding; what is none is refused with the whole verdict, which then says where it is."""
    from pydantic import ValidationError

    try:
        return _finding_adapter().validate_python(data)
    except ValidationError:
        return data


__all__ = ["Finding", "load_verdict", "save_verdict", "verdict_from_json", "verdict_parts", "verdict_to_json"]
