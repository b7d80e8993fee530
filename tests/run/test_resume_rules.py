"""What is run again, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_plans import Runner, plan_of, step

from tipc.plan.model import Plan, Step
from tipc.reasons import because
from tipc.run.earlier import Earlier, RerunRules
from tipc.run.inputs import Inputs, changed
from tipc.run.record.events import StepEnded
from tipc.run.record.journal import Journal, read_events
from tipc.run.record.results import Run
from tipc.run.record.run_store import load_run, write_plans

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
    journal = Journal(run.directory)
    earlier = Earlier(
        journal.replay, RerunRules(failed=rerun_failed, outdated=not rerun_failed), notes.append
    )
    return runner.go_on(journal, plans, wanted, earlier=earlier)


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
    assert told == ["train runs again, outdated: out/w is not what it left"]


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
    assert changed(before, Inputs([one]).of(one, one.steps[0], [])) == ["scripts"]


def test_two_names_of_one_interpreter_are_the_same_command(repo: Path) -> None:
    (repo / "bin").mkdir()
    for name in ("python", "python3"):
        (repo / "bin" / name).symlink_to("/bin/true")
    plans = [
        plan_of(repo, step("a", argv=(str(repo / "bin" / name), "x.py"))) for name in ("python", "python3")
    ]
    before, now = (Inputs([plan]).of(plan, plan.steps[0], []) for plan in plans)
    assert changed(before, now) == []


def test_the_outputs_of_one_plan_are_no_sources_of_another(repo: Path) -> None:
    (repo / "one").mkdir()
    one = plan_of(repo, step("a", produces=("one/model.yml",)), config="1.txt")
    two = plan_of(repo, step("a"), config="2.txt")
    before = Inputs([one, two]).of(two, two.steps[0], [])
    (repo / "one/model.yml").write_text("made")
    assert changed(before, Inputs([one, two]).of(two, two.steps[0], [])) == []


def test_an_output_directory_that_holds_the_script_is_still_source(repo: Path) -> None:
    (repo / "tools").mkdir()
    (repo / "tools/train.py").write_text("1")
    one = plan_of(repo, step("a", argv=("python", "tools/train.py"), produces=("tools/out.bin",)))
    before = Inputs([one]).of(one, one.steps[0], [])
    (repo / "tools/train.py").write_text("2")
    assert changed(before, Inputs([one]).of(one, one.steps[0], [])) == ["scripts"]


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


def test_rerun_failed_says_what_is_outdated_and_runs_only_what_failed_and_depends_on_it(
    runner: Runner, repo: Path
) -> None:
    plan = plan_of(
        repo,
        counting("train", "open('w', 'w')", produces=("w",)),
        counting("export", "import os; raise SystemExit(not os.path.exists('fixed.py'))", needs=("train",)),
        counting("infer", needs=("export",)),
        counting("other"),
    )
    run = runner(plan)
    ran(repo)
    (repo / "fixed.py").write_text("")
    run = go_on(runner, run, plan, rerun_failed=True)
    assert ran(repo) == ["export", "infer"], "on top of what the training left"
    assert [run.result(plan, one).state for one in plan.steps] == ["pending", "passed", "passed", "pending"]
    assert run.result(plan, plan.steps[0]).reason == because("outdated", inputs="scripts")
    assert run.left_out == because("steps-outdated", count=2, steps=4)
    assert "train: passed before, outdated: scripts changed (--outdated runs it again)" in runner.text
    with Journal(run.directory) as journal:
        journal.resumed([])
    assert go_on(runner, run, plan).ok
    assert sorted(ran(repo)) == ["other", "train"], "and what read the same weights need not run again"


def test_rerun_failed_makes_again_what_others_need_and_is_gone(runner: Runner, repo: Path) -> None:
    plan = plan_of(
        repo,
        counting("train", "open('w', 'w')", produces=("w",)),
        counting("export", "import os; raise SystemExit(not os.path.exists('fixed'))", needs=("train",)),
    )
    run = runner(plan)
    ran(repo)
    (repo / "fixed").write_text("")
    (repo / "w").unlink()
    assert go_on(runner, run, plan, rerun_failed=True).ok
    assert ran(repo) == ["train", "export"]


@pytest.mark.parametrize(
    "name", ["FLAGS_use_mkldnn", "CUDA_VISIBLE_DEVICES_X", "PYTHONPATH", "OMP_NUM_THREADS"]
)
def test_another_environment_makes_a_step_outdated(
    runner: Runner, repo: Path, plan: Plan, done: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "/somewhere")
    monkeypatch.setenv("SOMETHING_ELSE", "1")
    told: list[str] = []
    go_on(runner, done, plan, told=told)
    assert sorted(ran(repo)) == ["export", "other", "train"]
    assert "train runs again, outdated: environment changed" in told


def test_preparing_is_not_repeated_unless_asked_for(runner: Runner, repo: Path) -> None:
    prepare = counting("prepare", kind="prepare", cell="prepare")
    plan = plan_of(repo, prepare, counting("train", "raise SystemExit(1)", needs=("prepare",)))
    run = runner(plan)
    (repo / "new.py").write_text("")
    ran(repo)
    run = go_on(runner, run, plan)
    assert ran(repo) == ["train"]
    assert run.result(plan, prepare).state == "passed"
    journal = Journal(run.directory)
    runner.go_on(journal, [plan], earlier=Earlier(journal.replay, RerunRules(prepare=True)))
    assert ran(repo) == ["prepare"]


def test_what_was_not_reached_is_run_by_resume(runner: Runner, repo: Path) -> None:
    plan = plan_of(repo, counting("a"), counting("b", needs=("a",)))
    run = runner(plan, wanted=lambda one: one.id == "a")
    assert ran(repo) == ["a"]
    run = go_on(runner, run, plan)
    assert ran(repo) == ["b"]
    assert run.ok
    ends = [event.result.step for event in read_events(run.directory) if isinstance(event, StepEnded)]
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
    assert run.result(longer, infer).reason == because("needs-not-selected", step="export", path="out/m")
    assert run.result(longer, plan.steps[0]).state == "passed"
    assert run.result(longer, plan.steps[1]).left_out


def test_what_passed_earlier_counts_for_a_part_only_while_nothing_that_it_depends_on_has_changed(
    runner: Runner, repo: Path, plan: Plan, done: Run
) -> None:
    def only_other(one: Step) -> bool:
        return one.id == "other"

    run = go_on(runner, done, plan, wanted=only_other)
    assert (run.ok, run.left_out) == (True, None)
    (repo / "lib.py").write_text("x = 2\n")
    run = go_on(runner, run, plan, wanted=only_other)
    assert ran(repo) == ["other"]
    assert (run.ok, run.left_out) == (False, because("steps-not-selected", count=2, steps=3))
    (repo / "lib.py").write_text("x = 1\n")
    with Journal(run.directory) as journal:
        journal.resumed([])
    run = go_on(runner, run, plan)
    assert ran(repo) == ["other"], "the two others are again as they passed"
    assert (run.ok, run.left_out) == (True, None)


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
    assert run.left_out == because("steps-not-selected", count=1, steps=2)
    with Journal(run.directory) as journal:
        journal.resumed([])
    assert load_run(run.directory).left_out is None, "it was to run, and has not"
    assert not load_run(run.directory).ok


def test_a_step_that_left_the_plan_is_no_longer_in_the_run(runner: Runner, repo: Path) -> None:
    run = runner(plan_of(repo, step("a"), step("b", "raise SystemExit(1)")))
    shorter = plan_of(repo, step("a"))
    write_plans(run.directory, [shorter])
    run = go_on(runner, run, shorter)
    assert run.ok
    assert len(run.results) == 1
