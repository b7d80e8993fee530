"""Everything that can go wrong in a step, each in a small repository: the right state, and nothing lost."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from run_plans import Runner, plan_of, step

from tipc.language import sentence
from tipc.reasons import because
from tipc.run.record import run_store
from tipc.run.record.journal import read_events
from tipc.run.record.results import Run, StepResult
from tipc.run.schedule.scheduler import Settings

TOUCH = "open('model', 'w').write('new')"


def only(run: Run) -> StepResult:
    return next(iter(run.results.values()))


def gone(pid: int) -> bool:
    for _ in range(500):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.01)
    return False


def test_a_step_that_fails(runner: Runner, repo: Path) -> None:
    plan = plan_of(
        repo,
        step("train", "import sys; print('working'); print('FileNotFoundError: ./lite_data'); sys.exit(3)"),
        step("export", needs=("train",)),
    )
    run = runner(plan)
    result = run.result(plan, plan.steps[0])
    assert (result.state, sentence(result.reason), result.exit_code) == ("failed", "exit 3", 3)
    assert run.result(plan, plan.steps[1]).state == "blocked"
    for told in (
        "┆ working",
        "cause    ./lite_data is not there",
        "again    tipc run --rerun-failed",
        "try      put it there, or name another path",
    ):
        assert told in runner.text
    assert (repo / "output/results_python.log").read_text() == " Run failed with command - train!  \n"


def test_a_step_that_passes_says_so_as_upstream_does(runner: Runner, repo: Path) -> None:
    run = runner(plan_of(repo, step("train", "print('hello')")))
    assert run.ok
    assert "\n Run successfully with command - train!  \n" in runner.text
    assert "\x1b" not in runner.text
    assert (repo / "output/results_python.log").read_text() == " Run successfully with command - train!  \n"
    assert (repo / "output/train.log").read_text() == "hello\n"
    assert Path(only(run).log).read_text() == "hello\n"


def test_exit_0_without_the_artefact_is_a_failure(runner: Runner, repo: Path) -> None:
    run = runner(plan_of(repo, step("train", "", produces=("model",))))
    assert (only(run).state, sentence(only(run).reason)) == ("failed", "exit 0, but it did not write model")
    assert "did not leave what the next step needs" in runner.text


def test_yesterdays_artefact_does_not_count(runner: Runner, repo: Path) -> None:
    (repo / "model").write_text("yesterday")
    run = runner(plan_of(repo, step("train", "", produces=("model",))))
    assert only(run).state == "failed"
    assert only(run).reason == because("old-artefact", path="model")
    assert (repo / "model").read_text() == "yesterday"


def test_a_script_that_skips_work_that_is_done_does_it_again(runner: Runner, repo: Path) -> None:
    (repo / "model").write_text("yesterday")
    code = f"import os; os.path.exists('model') or {TOUCH}"
    run = runner(plan_of(repo, step("train", code, produces=("model",))))
    assert only(run).ok
    assert (repo / "model").read_text() == "new"


def test_a_step_that_hangs_is_ended_with_its_children(runner: Runner, repo: Path) -> None:
    code = (
        "import os, time, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pid = os.fork()\n"
        "if pid == 0: os.setsid(); time.sleep(60)\n"
        "open('pid', 'w').write(str(pid)); time.sleep(60)"
    )
    run = runner(plan_of(repo, step("train", code)), settings=Settings(cores=1, timeout=3.0))
    assert (only(run).state, sentence(only(run).reason)) == ("timeout", "no end within 3 s")
    assert gone(int((repo / "pid").read_text()))


def test_a_daemon_that_a_step_leaves_is_ended(runner: Runner, repo: Path) -> None:
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        "    open('pid.part', 'w').write(str(os.getpid())); os.rename('pid.part', 'pid'); time.sleep(60)\n"
        "while not os.path.exists('pid'): time.sleep(0.01)"
    )
    run = runner(plan_of(repo, step("train", code)))
    assert only(run).state == "passed"
    assert "outlived it and were ended" in sentence(only(run).reason)
    assert gone(int((repo / "pid").read_text()))


def test_a_step_that_prints_without_end_costs_no_memory(runner: Runner, repo: Path) -> None:
    size = 1 << 30
    code = f"import os\nfor _ in range({size >> 20}): os.write(1, (b'x' * 63 + b'\\n') * (1 << 14))"
    before = psutil.Process().memory_info().rss
    run = runner(plan_of(repo, step("train", code + "\nraise SystemExit(1)")))
    assert only(run).state == "failed"
    assert os.path.getsize(only(run).log) == size
    assert psutil.Process().memory_info().rss - before < 64 << 20
    assert len(runner.text) < 10_000
    os.truncate(only(run).log, 0)


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL", "SIGABRT"])
def test_a_step_that_is_killed_says_by_what(runner: Runner, repo: Path, name: str) -> None:
    code = f"import os, signal; os.kill(os.getpid(), signal.{name})"
    run = runner(plan_of(repo, step("train", code)))
    assert (only(run).state, sentence(only(run).reason)) == ("failed", f"killed by {name}")


def test_a_log_that_is_not_utf8_is_kept_and_shown(runner: Runner, repo: Path) -> None:
    code = r"import os, sys; os.write(1, b'\xff\xfe broken \x1b[31mred\x00\n'); sys.exit(1)"
    run = runner(plan_of(repo, step("train", code)))
    assert only(run).state == "failed"
    assert Path(only(run).log).read_bytes() == b"\xff\xfe broken \x1b[31mred\x00\n"
    assert "broken red" in runner.text
    assert "\x1b" not in runner.text


def test_a_program_that_is_not_there(runner: Runner, repo: Path) -> None:
    run = runner(
        plan_of(repo, step("train", argv=("no-such-program-anywhere",))), settings=Settings(1, retries=3)
    )
    assert only(run).state == "failed"
    assert only(run).attempts == 1
    assert "no-such-program-anywhere" in sentence(only(run).reason)


def test_a_directory_that_is_not_there(runner: Runner, repo: Path) -> None:
    run = runner(plan_of(repo, step("train", cwd="nowhere")))
    assert only(run).state == "failed"


def test_a_pass_at_the_second_attempt_is_flaky_and_both_logs_are_kept(runner: Runner, repo: Path) -> None:
    code = "import os, sys; old = os.path.exists('tried'); print(old); open('tried', 'w'); sys.exit(not old)"
    run = runner(plan_of(repo, step("train", code)), settings=Settings(cores=1, retries=2))
    assert (only(run).state, only(run).attempts) == ("flaky", 2)
    assert [event.event for event in read_events(run.directory)].count("end") == 1
    logs = sorted(Path(only(run).log).parent.iterdir())
    assert [log.read_text() for log in logs] == ["True\n", "False\n"]
    assert (repo / "output/train.log").read_text() == "True\n"


def test_retries_come_to_an_end(runner: Runner, repo: Path) -> None:
    run = runner(plan_of(repo, step("train", "raise SystemExit(1)")), settings=Settings(cores=1, retries=2))
    assert (only(run).state, only(run).attempts) == ("failed", 3)


def test_fail_fast_ends_what_runs(runner: Runner, repo: Path) -> None:
    slow = step("slow", "import time; open('began', 'w'); time.sleep(60)")
    wait = "import os, time\nwhile not os.path.exists('began'): time.sleep(0.01)\nraise SystemExit(1)"
    plan = plan_of(repo, slow, step("fails", wait), step("never"))
    run = runner(plan, settings=Settings(cores=2, fail_fast=True))
    assert [run.result(plan, one).state for one in plan.steps] == ["interrupted", "failed", "pending"]
    assert "--fail-fast" in sentence(run.result(plan, slow).reason)


def test_being_asked_to_stop_ends_everything_and_is_noted(runner: Runner, repo: Path) -> None:
    plan = plan_of(
        repo, step("slow", "import time; open('began', 'w'); time.sleep(60)"), step("b", needs=("slow",))
    )
    run = runner(plan, asked_to_stop=(repo / "began").exists)
    assert [run.result(plan, one).state for one in plan.steps] == ["interrupted", "pending"]


def test_two_steps_with_one_log_keep_both_in_the_run(runner: Runner, repo: Path) -> None:
    same = {"log": "output/same.log"}
    plan = plan_of(repo, step("a", "print('a')", **same), step("b", "print('b')", needs=("a",), **same))
    run = runner(plan)
    assert [Path(run.result(plan, one).log).read_text() for one in plan.steps] == ["a\n", "b\n"]
    assert (repo / "output/same.log").read_text() == "b\n"


def test_a_later_run_does_not_change_the_logs_of_an_earlier_one(runner: Runner, repo: Path) -> None:
    first = runner(plan_of(repo, step("a", "print('first')")))
    runner(plan_of(repo, step("a", "print('second')")))
    assert Path(only(first).log).read_text() == "first\n"
    assert (repo / "output/a.log").read_text() == "second\n"


def test_a_step_whose_log_is_named_like_a_directory_still_runs(runner: Runner, repo: Path) -> None:
    (repo / "output/a.log").mkdir(parents=True)
    run = runner(plan_of(repo, step("a", "print('here')")))
    assert only(run).ok
    assert Path(only(run).log).read_text() == "here\n"


def test_a_pattern_becomes_the_files_that_are_there_when_the_step_starts(runner: Runner, repo: Path) -> None:
    make = step("a", "import os; os.makedirs('w/one'); open('w/one/x.pdparams', 'w')")
    show = step("b", "import sys; print(sys.argv[1:])", needs=("a",))
    words = (*show.argv, "w/*/x.pdparams", "w/*/y", "*")
    show = replace(show, argv=words, globs=("w/*/x.pdparams", "w/*/y"))
    plan = plan_of(repo, make, show)
    run = runner(plan)
    assert Path(run.result(plan, show).log).read_text() == "['w/one/x.pdparams', 'w/*/y', '*']\n"


def test_the_environment_of_a_step_is_the_callers_with_its_changes(
    runner: Runner, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    monkeypatch.setenv("INHERITED", "yes")
    names = ("CUDA_VISIBLE_DEVICES", "INHERITED", "ADDED")
    code = f"import os; print(*(os.environ.get(name) for name in {names}))"
    run = runner(plan_of(repo, step("a", code, env={"CUDA_VISIBLE_DEVICES": None, "ADDED": "1"})))
    assert Path(only(run).log).read_text() == "None yes 1\n"


def test_a_step_that_was_running_when_tipc_died_reads_as_interrupted(runner: Runner, repo: Path) -> None:
    plan = plan_of(repo, step("a"), step("b"))
    journal = run_store.create_run([plan], {}, where=runner.home)
    log = str(journal.directory / "logs" / "a.log")
    journal.started(plan.key, "a", 1, log, {})
    alive = run_store.load_run(journal.directory)
    journal.close()
    run = run_store.load_run(journal.directory)
    assert [run.result(plan, one).state for one in plan.steps] == ["interrupted", "pending"]
    assert run.ended is None
    assert alive.result(plan, plan.steps[0]).log == log
