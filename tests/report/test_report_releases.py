"""The table of ``tipc run --paddle``: one row a cell and release, with what people compare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fabric import Recipe, fabricate

from tipc.certify.verdict import Finding, Verdict
from tipc.kinds import PASS, UNCHECKED
from tipc.reasons import because
from tipc.report.release_table import cells_of
from tipc.report.view import view_of


def test_the_latency_is_that_of_the_inference(tmp_path: Path) -> None:
    cells = cells_of("3.1.1", view_of(*fabricate(tmp_path, Recipe())))
    assert cells
    assert all(cell.latency.startswith("inference") for cell in cells)


def test_a_remark_about_the_deployment_does_not_make_parity_unchecked(tmp_path: Path) -> None:
    run, _ = fabricate(tmp_path, Recipe())
    plan = run.plans[0]
    cell = plan.cells[0]
    place = {"plan": plan.key, "cell": cell.id}
    findings = (
        Finding("TP301", "parity", PASS, "equal", **place),
        Finding("TP304", "preprocessing", UNCHECKED, "no image in common", required=False, **place),
    )
    first = cells_of("3.1.1", view_of(run, Verdict(run.id, findings)))[0]
    assert first.parity == "equal"


def test_what_passed_on_another_device_than_was_asked_for_says_so(tmp_path: Path) -> None:
    run, _ = fabricate(tmp_path, Recipe())
    plan = run.plans[0]
    asked = replace(plan.cells[0], not_certified=(because("other-device", device="cpu", asked="gpu:0"),))
    changed = replace(run, plans=(replace(plan, cells=(asked, *plan.cells[1:])),))
    view = view_of(changed, Verdict(run.id, ()))
    assert cells_of("3.1.1", view)[0].verdict == "◇ passed on cpu"


def test_a_cell_that_only_prepares_is_no_chain(tmp_path: Path) -> None:
    run, verdict = fabricate(tmp_path, Recipe())
    plan = run.plans[0]
    first = plan.cells[0].id
    steps = tuple(replace(step, kind="prepare") if step.cell == first else step for step in plan.steps)
    changed = replace(run, plans=(replace(plan, steps=steps),))
    before = len(cells_of("3.1.1", view_of(run, verdict)))
    assert len(cells_of("3.1.1", view_of(changed, verdict))) == before - 1
