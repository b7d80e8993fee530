"""What the documents say of plans holds."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

from plan_samples import MODELS, write

from tipc.config.dialects import NAMES, load
from tipc.plan.build import build_plan
from tipc.plan.fixes import FIXES
from tipc.plan.plan_json import plan_to_json
from tipc.plan.request import PlanOptions

DOCS = Path(__file__).parents[2] / "docs"


def test_every_fix_is_in_the_list_of_fixes() -> None:
    text = (DOCS / "fixes.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (TF\d+) \| (.*?) \|", text, re.M) == [
        (fix.id, fix.title) for fix in FIXES.values()
    ]


def test_every_fix_names_dialects_that_there_are() -> None:
    assert all(set(fix.dialects) <= set(NAMES) for fix in FIXES.values())


def test_every_field_of_the_schema_is_described(tmp_path: Path) -> None:
    text = (DOCS / "plan.md").read_text(encoding="utf-8")
    data = plan_to_json(build_plan(write(tmp_path, MODELS), "lite_train_lite_infer"))
    names = {*data, *data["steps"][0], *data["cells"][0], *data["skipped"][0], *data["fixes"][0]} | {
        *data["evidence"][0]
    }
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


def test_every_dialect_is_in_the_table_of_dialects() -> None:
    text = (DOCS / "configs.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert re.search(rf"\| `{name}` \|.*\| {load(name).layout.length} \|", text), name


def test_the_example_of_a_new_dialect_plans(tmp_path: Path, monkeypatch) -> None:
    from tipc.config import dialects

    text = (DOCS / "adding-a-dialect.md").read_text(encoding="utf-8")
    module, mark = re.findall(r"```python\n(.*?)```", text, re.S)
    space: dict[str, object] = {"Family": dialects.Family}
    exec(module, space)  # the document's own code
    exec("families = {" + mark + "}", space)
    made = ModuleType("tipc.config.dialects.parl")
    made.DIALECT = space["DIALECT"]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.setattr(dialects, "NAMES", (*NAMES, "parl"))
    monkeypatch.setitem(dialects.TABLES["train"], "parl", f"{made.__name__}:DIALECT")
    options = PlanOptions(dialect="parl", as_upstream=True)
    plan = build_plan(write(tmp_path, MODELS), "lite_train_lite_infer", options)
    assert plan.dialect == "parl"
    assert plan.steps[0].status_line.startswith(" Run successfully with command - python3 train.py")
    assert "parl" in space["families"]  # type: ignore[operator]
