"""What the commands print as JSON is what ``tipc schema`` says, and the schemas are those of the records."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fabric import Recipe, fabricate, stored

from tipc.cli.main import main
from tipc.cli.schema import DOCUMENTS, make
from tipc.kinds import FAILED, TIMEOUT

ROOT = Path(__file__).parents[2]
ZOO = ROOT / "zoo" / "classification"
CONFIGS = ZOO / "test_tipc" / "configs"


def schema_of(name: str) -> dict[str, Any]:
    """The schema that is printed, without room for fields that it does not name."""
    schema: dict[str, Any] = json.loads(files("tipc").joinpath("schemas", f"{name}.json").read_text())
    for part in (schema, *schema.get("$defs", {}).values()):
        part.setdefault("additionalProperties", False)
    return schema


def validate(document: Any, name: str) -> None:
    jsonschema.Draft202012Validator(schema_of(name)).validate(document)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schema_is_up_to_date_and_printed_as_it_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", name]) == 0
    printed = capsys.readouterr().out
    jsonschema.Draft202012Validator.check_schema(json.loads(printed))
    assert json.loads(printed) == json.loads(make(name)), "python -m tipc.cli.schema writes it"


def test_a_schema_that_is_not_there_is_told_with_what_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "verdikt"]) == 2
    assert "did you mean `verdict`?" in capsys.readouterr().err
    assert main(["schema"]) == 0
    assert capsys.readouterr().out.split() == list(DOCUMENTS)


def test_plans_follow_their_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(CONFIGS), "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 3
    for line in lines:
        validate(json.loads(line), "plan")


def test_lint_follows_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = next(CONFIGS.glob("*/train_infer_python.txt")).read_text().splitlines()
    broken = tmp_path / "train_infer_python.txt"
    broken.write_text("\n".join([*good[:10], *good[12:20], "norm_train=x", *good[20:]]))
    assert main(["lint", str(broken), "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    validate(document, "lint")
    assert document["findings"]
    assert main(["lint", str(broken), "--format", "json", "--fix"]) in (0, 1)
    validate(json.loads(capsys.readouterr().out), "lint")


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(name="good"),
        Recipe(name="bad", states={"train": FAILED, "infer": TIMEOUT}),
        Recipe(name="nan", logs={"infer": " inference_time(ms): nan\n"}),
    ],
    ids=lambda recipe: recipe.name,
)
def test_reports_and_verdicts_follow_their_schemas(
    recipe: Recipe, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = stored(*fabricate(home, recipe))
    assert main(["report", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    validate(document, "report")
    validate(json.loads((run.directory / "verdict.json").read_text()), "verdict")


def test_a_checklist_follows_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(ZOO), "--json"])
    document = json.loads(capsys.readouterr().out)
    validate(document, "checklist")
    assert document["findings"]


def test_a_document_of_another_form_does_not_follow() -> None:
    with pytest.raises(jsonschema.ValidationError):
        validate({"schema": "tipc.verdict/1"}, "verdict")
    with pytest.raises(jsonschema.ValidationError):
        validate({"schema": "tipc.verdict/2"}, "verdict")
