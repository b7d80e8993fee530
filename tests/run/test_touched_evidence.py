"""A verdict rests on what tipc has seen; a step that rewrites the record or the scripts is found out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from run_plans import plan_of, step

from tipc.plan.model import Plan, Step
from tipc.reasons import because
from tipc.run.execution import execute
from tipc.run.executors.local import LocalExecutor
from tipc.run.record.results import Run
from tipc.run.record.run_store import load_run
from tipc.run.schedule.scheduler import Settings
from tipc.run.session import Request, Session
from tipc.run.show.progress import Progress

# How a step finds the files of the run that it is part of.
HERE = "from pathlib import Path; run = next(Path('../home/runs').iterdir())\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIPC_HOME", str(tmp_path / "home"))


def run_of(*plans: Plan) -> Run:
    """The run as ``tipc run`` itself holds it."""
    wanted = frozenset((plan.key, one.id) for plan in plans for one in plan.steps)
    session = Session(plans, wanted, Request(("x",), "lite_train_lite_infer"))
    run, interrupted = execute(
        session, LocalExecutor(grace=1.0), Settings(cores=1), Progress(sys.stdout, len(wanted)), []
    )
    assert not interrupted
    return run


def changes(code: str, **more: object) -> Step:
    return step("liar", HERE + code, needs=("train",), **more)


def test_an_honest_run_has_touched_nothing(repo: Path) -> None:
    (repo / "train.py").write_text("print(1)")
    plan = plan_of(repo, step("train", "print(1)"), step("export", "print(2)", needs=("train",)))
    run = run_of(plan)
    assert (run.tampered, run.changed_sources) == ((), ())
    assert load_run(run.directory) == run, "the file says the same as the memory"


def test_a_journal_that_says_something_else_is_named_and_not_believed(repo: Path) -> None:
    code = (
        "journal = run / 'journal.jsonl'\n"
        "text = journal.read_text().replace('failed', 'passed')\n"
        "journal.write_text(text)\n"
    )
    bad = step("bad", "raise SystemExit(3)")
    plan = plan_of(repo, step("train"), bad, step("liar", HERE + code), results_log="")
    run = run_of(plan)
    assert run.result(plan, bad).state == "failed"
    assert because("file-rewritten", path="journal.jsonl") in run.tampered
    assert because("result-rewritten", path="journal.jsonl", step="bad") in run.tampered
    assert load_run(run.directory).tampered == run.tampered, "it stays known"


@pytest.mark.parametrize(
    "code",
    [
        "(run / 'journal.jsonl').write_text('')",
        "(run / 'journal.jsonl').unlink()",
        "open(run / 'journal.jsonl', 'a').write('{}\\n')",
    ],
)
def test_a_journal_that_was_emptied_removed_or_added_to_is_named(repo: Path, code: str) -> None:
    run = run_of(plan_of(repo, step("train"), changes(code)))
    assert because("file-rewritten", path="journal.jsonl") in run.tampered
    assert run.ok, "what happened is known all the same"


def test_plans_and_logs_that_were_rewritten_are_named(repo: Path) -> None:
    code = (
        "(run / 'plan.jsonl').write_text('')\n"
        "(run / 'environment.json').write_text('{}')\n"
        "(run / 'logs/0/train.log').write_text('loss: 0.1')\n"
    )
    run = run_of(plan_of(repo, step("train", "print('loss: 9')"), changes(code)))
    assert [reason["path"] for reason in run.tampered] == [
        "plan.jsonl",
        "environment.json",
        "logs/0/train.log",
    ]


def test_scripts_config_and_named_settings_that_change_are_named(repo: Path) -> None:
    for name in ("train.py", "lib.sh", "named.yml", "written.yml", "parity.py"):
        (repo / name).write_text("1")
    code = (
        "for name in ('train.py', 'lib.sh', 'named.yml', 'written.yml', 'config.txt'):\n"
        "    open(name, 'w').write('2')\n"
        "Path('parity.py').unlink(); Path('new.py').write_text('')\n"
    )
    named = step("train", argv=(sys.executable, "-S", "-c", "", "--config=named.yml"))
    run = run_of(plan_of(repo, named, changes(code)))
    found = [Path(path).name for path in run.changed_sources]
    assert found == ["config.txt", "lib.sh", "named.yml", "parity.py", "train.py"]
    assert [Path(path).name for path in run.changed_settings] == ["written.yml"]
    assert [Path(path).name for path in run.new_scripts] == ["new.py"]
    assert load_run(run.directory).changed_sources == run.changed_sources


def test_what_preparing_changes_is_no_change(repo: Path) -> None:
    (repo / "train.py").write_text("1")
    prepare = step("prepare", "open('train.py', 'w').write('2')", kind="prepare", cell="prepare")
    run = run_of(plan_of(repo, prepare, step("train", needs=("prepare",))))
    assert run.changed_sources == ()
    lines = [json.loads(line) for line in (run.directory / "journal.jsonl").read_text().splitlines()]
    before, after = (line["inputs"]["scripts"] for line in lines if line["event"] == "start")
    assert before != after, "the steps are known to have run with the scripts as they were prepared"


def test_what_one_step_changes_and_a_later_one_puts_back_is_named(repo: Path) -> None:
    (repo / "data.py").write_text("1")
    back = step("infer", "open('data.py', 'w').write('1')", needs=("liar",))
    run = run_of(plan_of(repo, step("train"), changes("open('data.py', 'w').write('2')"), back))
    assert (repo / "data.py").read_text() == "1"
    assert [Path(path).name for path in run.changed_sources] == ["data.py"]


def test_a_file_that_is_written_anew_as_it_was_has_not_changed(repo: Path) -> None:
    (repo / "data.py").write_text("1")
    run = run_of(plan_of(repo, step("train"), changes("open('data.py', 'w').write('1')")))
    assert (run.changed_sources, run.changed_settings) == ((), ())


def test_new_scripts_are_looked_for_in_new_folders_but_not_in_outputs(repo: Path) -> None:
    (repo / "out").mkdir()
    code = (
        "for name in ('lib', 'out/code', '.cache'): Path(name).mkdir(parents=True)\n"
        "for name in ('lib/a.py', 'lib/a.txt', 'out/code/b.py', '.cache/c.py'): Path(name).write_text('')\n"
    )
    run = run_of(plan_of(repo, step("train"), changes(code, model_dir="out")))
    assert [Path(path).relative_to(repo).as_posix() for path in run.new_scripts] == ["lib/a.py"]
