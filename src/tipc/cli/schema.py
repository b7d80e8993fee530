"""``tipc schema``: the JSON Schema of what the commands print as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from importlib.resources import files
from typing import Any

from tipc.cli.options import Parser
from tipc.errors import PASSED, UsageError, wording
from tipc.language import say
from tipc.suggestions import one_of

# Name → where its version and its record stand. All else follows from the record.
DOCUMENTS = {
    "plan": ("tipc.plan.plan_json:SCHEMA", "tipc.plan.model:Plan"),
    "lint": ("tipc.config.lint.lint_json:SCHEMA", "tipc.config.lint.lint_json:LintDocument"),
    "verdict": ("tipc.certify.verdict_store:SCHEMA", "tipc.certify.verdict_store:VerdictDocument"),
    "checklist": (
        "tipc.certify.verdict_store:CHECKLIST_SCHEMA",
        "tipc.certify.verdict_store:VerdictDocument",
    ),
    "report": ("tipc.report.as_json:SCHEMA", "tipc.report.as_json:ReportDocument"),
    "comparison": (
        "tipc.report.history.comparison_json:SCHEMA",
        "tipc.report.history.comparison_json:ComparisonDocument",
    ),
}


def main(argv: list[str]) -> int:
    """Print one schema, or the names that there are."""
    name = parser().parse_args(argv).name
    if name is None:
        sys.stdout.writelines(f"{known}\n" for known in DOCUMENTS)
        return PASSED
    if name not in DOCUMENTS:
        raise UsageError(wording("there is no schema `{name}`", name=name), remedy=one_of(name, DOCUMENTS))
    sys.stdout.write(files("tipc").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8"))
    return PASSED


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog="tipc schema",
        description="Print the JSON Schema of what tipc writes: plan (plan --json), lint (--format json), "
        "verdict (certify --json, verdict.json), checklist (check --json), report (report, run --json), "
        "comparison (compare --json). Every document names its own version in `schema`.",
    )
    made.add_argument(
        "name", nargs="?", metavar="NAME", help=say("one of {names}", names=", ".join(DOCUMENTS))
    )
    return made


def make(name: str) -> str:
    """The text of a schema, made from its record. ``python -m tipc.cli.schema`` writes them all."""
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
    from pydantic_core import core_schema

    class Schema(GenerateJsonSchema):
        """JSON has no NaN: a figure that is none is null."""

        def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
            return {"type": ["number", "null"]}

    version_place, record_place = DOCUMENTS[name]
    version, record = _named(version_place), _named(record_place)
    made = TypeAdapter(record).json_schema(mode="serialization", schema_generator=Schema)
    made.pop("title", None)
    document: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": version,
        "description": made.pop("description", ""),
        **made,
    }
    document["properties"] = {"schema": {"const": version}, **document["properties"]}
    document["required"] = ["schema", *document["required"]]
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _named(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)


if __name__ == "__main__":
    from pathlib import Path

    import tipc

    for known in DOCUMENTS:
        target = Path(tipc.__file__).parent / "schemas" / f"{known}.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(make(known), encoding="utf-8")
