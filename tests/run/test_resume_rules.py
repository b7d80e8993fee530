"""What is run again, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_plans import Runner, plan_of, step

from tipc.plan.model import Plan, Step
from tipc.run.inputs import Inputs, changed
from tipc.run.journal import Journal, read_events
from tipc.run.record import Run
from tipc.run.resume import Earlier
from tipc.run.store import load_run, write_plans

COUNT = "open('count', 'a').write('{name} ')\n"


def counting(name: str, code: str = "", **changes: Any) -> Any:
    """A step that leaves a trace each time it runs."""
    return step(name, COUNT.format(name=name) + code, **changes)


def ran(repo: Path) -> list[str]:
    """The names of the steps that ran since the last call."""
    path = repo / "count"
    names = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return names


def go_on(
    runner: Runner,
    run: Run,
    *plans: Plan,
    wanted: Callable[[Step], bool] = lambda step: True,
    rerun_failed: bool = False,
    told: list[str] | None = None,
) -> Run:
    notes = told if told is not None else []
    earlier = Earlier(read_events(run.directory), rerun_failed=rerun_failed, tell=notes.append)
    return runner.go_on(
        Journal(run.directory),
        plans,
        wanted,
        reuse=earlier.reuse,
        earlier=earlier.results,
        outdated=earlier.outdated,
    )


@pytest.fixture
def plan(repo: Path) -> Plan:
    (repo / "lib.py").write_text("x = 1\n")
    (repo / "cfg.yml").write_text("a: 1\n")
    (repo / "arch.json").write_text("{}")
    return plan_of(
        repo,
        counting(
            "train", "open('out/w', 'w').write(open('seed').read())", produces=("out/w",), log="out/t.log"
        ),
        counting("export", "open('out/m', 'w')", produces=("out/m",), needs=("train",), log="out/e.log"),
        counting("other", "", log="out/o.log"),
        results_log="out/results.log",
    )


@pytest.fixture
def done(runner: Runner, repo: Path, plan: Plan) -> Run:
    (repo / "seed").write_text("1")
    run = runner(plan)
    assert run.ok
    assert sorted(ran(repo)) == ["export", "other", "train"]
    return run


def test_nothing_that_finished_is_run_again(runner: Runner, repo: Path, plan: Plan, done: Run) -> None:
    run = go_on(runner, done, plan)
    assert ran(repo) == []
    assert run.ok
    assert "nothing has changed" in runner.text


@pytest.mark.parametrize("name", ["lib.py", "cfg.yml", "new.sh", "config.txt"])
def test_a_changed_source_or_config_runs_everything_again(
    runner: Runner, repo: Path, plan: Plan, done: Run, name: str
) -> None:
    (repo / name).write_text("changed")
    told: list[str] = []
    assert go_on(runner, done, plan, told=told).ok
    assert sorted(ran(repo)) == ["export", "other", "train"]
    assert any("config" in note if name == "config.txt" else "scripts" in note for note in told)


def test_a_changed_command_runs_that_step_and_what_it_changes(
    runner: Runner, repo: Path, plan: Plan, done: Run
) -> None:
    (repo / "seed").write_text("2")
    train = counting("train", "open('out/w', 'w').write('other')", produces=("out/w",), log="out/t.log")
    go_on(runner, done, plan_of(repo, train, *plan.steps[1:], results_log="out/results.log"))
    assert ran(repo) == ["train", "export"]


def test_a_step_run_again_with_the_same_artefact_spares_its_dependants(
    runner: Runner, repo: Path, plan: Plan, done: Run
) -> None:
    (repo / "out/w").unlink()
    told: list[str] = []
    go_on(runner, done, plan, told=told)
    assert ran(repo) == ["train"]
    assert told == ["train runs again: out/w is not what it left"]


def test_a_tampered_artefact_is_made_again(runner: Runner, repo: Path, plan: Plan, done: Run) -> None:
    (repo / "out/m").write_text("tampered")
    go_on(runner, done, plan)
    assert ran(repo) == ["export"]


def test_data_and_outputs_are_no_sources(runner: Runner, repo: Path, plan: Plan, done: Run) -> None:
    (repo / "data.bin").write_bytes(b"x")
    (repo / "out/deploy.yaml").write_text("made by a step")
    (repo / ".tipc").mkdir()
    (repo / ".tipc/x.py").write_text("")
    go_on(runner, done, plan)
    assert ran(repo) == []


def test_a_file_that_the_command_names_is_a_source(repo: Path) -> None:
    (repo / "arch.json").write_text("{}")
    one = plan_of(repo, step("a", argv=("x", "--arch=arch.json")))
    before = Inputs([one]).of(one, one.steps[0], [])
    (repo / "arch.json").write_text("{1}")
    assert changed(before, Inputs([one]).of(one, one.steps[0], [])) == "scripts"


def test_two_names_of_one_interpreter_are_the_same_command(repo: Path) -> None:
    (repo / "bin").mkdir()
    for name in ("python", "python3"):
        (repo / "bin" / name).symlink_to("/bin/true")
    plans = [
        plan_of(repo, step("a", argv=(str(repo / "bin" / name), "x.py"))) for name in ("python", "python3")
    ]
    before, now = (Inputs([plan]).of(plan, plan.steps[0], []) for plan in plans)
    assert changed(before, now) == ""


def test_the_outputs_of_one_plan_are_no_sources_of_another(repo: Path) -> None:
    (repo / "one").mkdir()
    one = plan_of(repo, step("a", produces=("one/model.yml",)), config="1.txt")
    two = plan_of(repo, step("a"), config="2.txt")
    before = Inputs([one, two]).of(two, two.steps[0], [])
    (repo / "one/model.yml").write_text("made")
    assert changed(before, Inputs([one, two]).of(two, two.steps[0], [])) == ""


def test_an_output_directory_that_holds_the_script_is_still_source(repo: Path) -> None:
    (repo / "tools").mkdir()
    (repo / "tools/train.py").write_text("1")
    one = plan_of(repo, step("a", argv=("python", "tools/train.py"), produces=("tools/out.bin",)))
    before = Inputs([one]).of(one, one.steps[0], [])
    (repo / "tools/train.py").write_text("2")
    assert changed(before, Inputs([one]).of(one, one.steps[0], [])) == "scripts"


def test_a_failure_is_kept_by_resume_and_run_again_by_rerun_failed(runner: Runner, repo: Path) -> None:
    plan = plan_of(
        repo,
        counting("train", "import os; raise SystemExit(not os.path.exists('data'))"),
        counting("export", needs=("train",)),
        counting("other"),
    )
    run = runner(plan)
    ran(repo)
    (repo / "data").write_text("now it is there")
    run = go_on(runner, run, plan)
    assert ran(repo) == []
    assert [run.result(plan, one).state for one in plan.steps] == ["failed", "blocked", "passed"]
    run = go_on(runner, run, plan, rerun_failed=True)
    assert ran(repo) == ["train", "export"]
    assert run.ok


def test_what_was_not_reached_is_run_by_resume(runner: Runner, repo: Path) -> None:
    plan = plan_of(repo, counting("a"), counting("b", needs=("a",)))
    run = runner(plan, wanted=lambda one: one.id == "a")
    assert ran(repo) == ["a"]
    run = go_on(runner, run, plan)
    assert ran(repo) == ["b"]
    assert run.ok
    ends = [event["step"] for event in read_events(run.directory) if event["event"] == "end"]
    assert ends == ["a", "b"]


def test_a_deselected_step_that_passed_before_counts_only_while_its_artefact_is_there(
    runner: Runner, repo: Path, plan: Plan, done: Run
) -> None:
    (repo / "out/m").unlink()
    infer = counting("infer", needs=("export",), log="out/i.log")
    longer = plan_of(repo, *plan.steps, infer, results_log="out/results.log")
    write_plans(done.directory, [longer])
    run = go_on(runner, done, longer, wanted=lambda one: one.id == "infer")
    assert ran(repo) == []
    assert "no artefact out/m" in run.result(longer, infer).reason
    assert run.result(longer, plan.steps[0]).state == "passed"
    assert run.result(longer, plan.steps[1]).left_out


def test_what_passed_earlier_counts_for_a_part_only_while_nothing_that_it_depends_on_has_changed(
    runner: Runner, repo: Path, plan: Plan, done: Run
) -> None:
    def only_other(one: Step) -> bool:
        return one.id == "other"

    run = go_on(runner, done, plan, wanted=only_other)
    assert (run.ok, run.left_out) == (True, "")
    (repo / "lib.py").write_text("x = 2\n")
    run = go_on(runner, run, plan, wanted=only_other)
    assert ran(repo) == ["other"]
    assert (run.ok, run.left_out) == (False, "2 of 3 steps were not selected")
    (repo / "lib.py").write_text("x = 1\n")
    with Journal(run.directory) as journal:
        journal.resumed([])
    run = go_on(runner, run, plan)
    assert ran(repo) == ["other"], "the two others are again as they passed"
    assert (run.ok, run.left_out) == (True, "")


def test_a_step_that_was_blocked_or_broken_off_and_is_not_selected_now_is_only_left_out(
    runner: Runner, repo: Path
) -> None:
    plan = plan_of(repo, step("train", "raise SystemExit(1)"), step("export", needs=("train",)), step("b"))
    run = runner(plan)
    assert run.result(plan, plan.steps[1]).state == "blocked"
    run = go_on(runner, run, plan, wanted=lambda one: one.id != "export")
    assert run.result(plan, plan.steps[1]).left_out
    assert run.result(plan, plan.steps[0]).state == "failed", "what failed stays failed"


def test_a_wider_selection_leaves_nothing_of_the_earlier_one(runner: Runner, repo: Path) -> None:
    plan = plan_of(repo, step("train"), step("b"))
    run = runner(plan, wanted=lambda one: one.id == "b")
    assert run.left_out == "1 of 2 steps were not selected"
    with Journal(run.directory) as journal:
        journal.resumed([])
    assert load_run(run.directory).left_out == "", "it was to run, and has not"
    assert not load_run(run.directory).ok


def test_a_step_that_left_the_plan_is_no_longer_in_the_run(runner: Runner, repo: Path) -> None:
    run = runner(plan_of(repo, step("a"), step("b", "raise SystemExit(1)")))
    shorter = plan_of(repo, step("a"))
    write_plans(run.directory, [shorter])
    run = go_on(runner, run, shorter)
    assert run.ok
    assert len(run.results) == 1
