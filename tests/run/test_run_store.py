"""Finding runs, and what describes the machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from run_plans import plan_of, step

from tipc.errors import UsageError
from tipc.run.environment import describe
from tipc.run.record import run_store
from tipc.run.record.disk import write_text


def make(home: Path, repo: Path, name: str) -> Path:
    with run_store.create_run([plan_of(repo, step("a"), model=name)], {}, where=home, argv=["x"]) as journal:
        return journal.directory


def test_a_run_is_found_by_id_prefix_directory_or_as_the_newest(tmp_path: Path) -> None:
    first, second = (make(tmp_path / "home", tmp_path, name) for name in ("one", "two"))
    home = tmp_path / "home"
    assert run_store.find_run(None, home) == second
    assert run_store.find_run(first.name, home) == first
    assert run_store.find_run(first.name[:-1], home) == first
    assert run_store.find_run(first, home) == first
    assert run_store.load_run(None, home).argv == ("x",)
    with pytest.raises(UsageError, match="names several runs"):
        run_store.find_run(first.name[:4], home)
    with pytest.raises(UsageError, match="there is no run `zzz`"):
        run_store.find_run("zzz", home)
    with pytest.raises(UsageError, match="an earlier call of the run") as earlier:
        run_store.find_run(f"{first.name}~1", home)
    assert str(first / "report.1.html") in str(earlier.value), "as the history lists it"


def test_runs_of_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    names = {make(tmp_path, tmp_path, "same").name for _ in range(3)}
    assert len(names) == 3
    assert len(run_store.runs(tmp_path)) == 3


def test_home_is_here_or_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIPC_HOME", raising=False)
    assert run_store.home() == tmp_path / ".tipc"
    monkeypatch.setenv("TIPC_HOME", str(tmp_path / "elsewhere"))
    assert run_store.home() == tmp_path / "elsewhere"


def test_results_are_kept_out_of_git(tmp_path: Path) -> None:
    make(tmp_path / ".tipc", tmp_path, "one")
    assert (tmp_path / ".tipc/.gitignore").read_text() == "*\n"


@pytest.mark.parametrize("model", ["", "../../evil", "a b/c", "模型", "x" * 300])
def test_any_model_name_makes_a_directory_inside_the_home(tmp_path: Path, model: str) -> None:
    directory = make(tmp_path / "home", tmp_path, model)
    assert directory.parent == tmp_path / "home/runs"


def test_plans_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    directory = make(tmp_path, tmp_path, "one")
    (directory / run_store.PLANS).write_text("{")
    with pytest.raises(UsageError, match=r"plan\.jsonl"):
        run_store.load_run(directory)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "file"
    write_text(target, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(target, "new \ud83d")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_machine_is_described_with_what_can_be_found_out(tmp_path: Path) -> None:
    facts = describe([str(tmp_path)], [sys.executable, "/no/such/python"])
    assert facts["cpu"]["cores"] >= 1
    assert facts["memory"] > 0
    assert facts["repos"] == {}
    assert list(facts["interpreters"]) == [sys.executable]
    assert "numpy" in facts["interpreters"][sys.executable]["packages"]


def test_where_no_run_is_the_runs_of_a_folder_above_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TIPC_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    make(run_store.home(), tmp_path, "one")
    below = tmp_path / "zoo" / "classification"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    with pytest.raises(UsageError) as told:
        run_store.find_run(None)
    assert f"cd {tmp_path}" in told.value.remedy


@pytest.mark.parametrize("word", ["plain", "模型", "a\tb", "\x1b[0m", "caf\udce9"])
def test_the_steps_of_a_run_come_back_as_they_were(tmp_path: Path, word: str) -> None:
    plan = plan_of(tmp_path, step("a"), step("b", argv=("echo", word)), model="one")
    with run_store.create_run([plan, plan_of(tmp_path, model="none")], {}, where=tmp_path) as journal:
        directory = journal.directory
    assert len((directory / run_store.PLANS).read_bytes().splitlines()) == 2
    assert run_store.load_plans(directory)[0] == plan


def test_a_damaged_step_is_refused_with_its_place(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, step("a"), step("b"), model="one")
    with run_store.create_run([plan], {}, where=tmp_path) as journal:
        path = journal.directory / run_store.PLANS
    before, mark, after = path.read_text().rpartition('"threads": ')
    path.write_text(f'{before}{mark}"many, not {after}'.replace("not 1", 'not 1"'))
    with pytest.raises(UsageError, match=r"steps\.1\.threads"):
        run_store.load_plans(journal.directory)
