"""What prepares the data, and in which order."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest
import toy_repo
from run_plans import Runner, plan_of, step

from tipc.cli.main import main
from tipc.errors import UsageError
from tipc.plan.prepare import GUARD, with_prepare
from tipc.run.prepare.data_at_risk import some_of
from tipc.run.prepare.prepare_data import prepare, read_declaration
from tipc.run.prepare.removals import removals
from tipc.run.schedule.order import order
from tipc.run.schedule.scheduler import Settings
from tipc.run.show.log_tail import tail


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def pack(repo: Path, name: str = "lite_data.tar") -> None:
    write(repo / "lite_data/list.txt", "1")
    with tarfile.open(repo / name, "w") as archive:
        archive.add(repo / "lite_data", "lite_data")
    (repo / "lite_data/list.txt").unlink()
    (repo / "lite_data").rmdir()


def test_a_declared_archive_is_unpacked_once(repo: Path) -> None:
    pack(repo)
    write(repo / "test_tipc/prepare.py", 'ARCHIVES = [("lite_data.tar", ".")]\n')
    out = io.StringIO()
    assert prepare(plan_of(repo, step("a")), out) == 0
    assert (repo / "lite_data/list.txt").read_text() == "1"
    assert prepare(plan_of(repo, step("a")), out) == 0
    assert out.getvalue().splitlines() == [
        "lite_data.tar: unpacked into .",
        "lite_data.tar: is already unpacked",
    ]


def test_a_declaration_can_tell_modes_apart(tmp_path: Path) -> None:
    path = write(
        tmp_path / "p.py", 'ARCHIVES: dict = {"whole_infer": [("a.tar", ".")], "*": [("b.tar", "data")]}\n'
    )
    assert read_declaration(path, "whole_infer") == ([("a.tar", ".")], False)
    assert read_declaration(path, "any other") == ([("b.tar", "data")], False)


@pytest.mark.parametrize(
    "text", ["ARCHIVES = list()", "ARCHIVES = [1]", "ARCHIVES = [('a', 2)]", "ARCHIVES = 3", "ARCHIVES: list"]
)
def test_a_declaration_that_is_no_literal_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "p.py", f"\n{text}\n")
    with pytest.raises(UsageError, match=r"p\.py:2: ARCHIVES must be"):
        read_declaration(path, "m")


def test_a_declaration_with_a_syntax_error_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"p\.py:1"):
        read_declaration(write(tmp_path / "p.py", "ARCHIVES = ["), "m")


def test_reading_a_declaration_runs_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "p.py", "raise SystemExit('ran')\n")
    assert read_declaration(path, "m") == ([], False)


def test_a_declaration_that_is_a_script_is_run_after_its_archives(repo: Path) -> None:
    pack(repo)
    code = "import os, sys\nif __name__ == '__main__':\n    assert os.path.exists('lite_data/list.txt')\n"
    code += "    open('said', 'w').write(' '.join(sys.argv[1:]))\n"
    write(repo / "test_tipc/prepare.py", 'ARCHIVES = [("lite_data.tar", ".")]\n' + code)
    assert prepare(plan_of(repo, step("a")), io.StringIO()) == 0
    assert (repo / "said").read_text() == "config.txt lite_train_lite_infer"


def test_a_target_outside_the_repository_is_refused(repo: Path) -> None:
    write(repo / "test_tipc/prepare.py", 'ARCHIVES = [("lite_data.tar", "../outside")]\n')
    with pytest.raises(UsageError, match="outside the repository"):
        prepare(plan_of(repo, step("a")), io.StringIO())


def test_a_script_prepares_and_its_failure_is_told(repo: Path) -> None:
    script = write(repo / "test_tipc/prepare.sh", 'echo "$1 $2" > said; exit 3\n')
    assert prepare(plan_of(repo, step("a")), io.StringIO()) == 3
    assert (repo / "said").read_text() == "config.txt lite_train_lite_infer\n"
    assert script.exists()


def test_a_script_that_only_calls_tipc_prepare_does_not_go_round_for_ever(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repo / "test_tipc/prepare.sh", "tipc prepare $1 $2\n")
    monkeypatch.setenv(GUARD, str(repo))
    with pytest.raises(UsageError, match="only calls"):
        prepare(plan_of(repo, step("a")), io.StringIO())


def test_a_repository_that_says_nothing_has_nothing_to_prepare(repo: Path) -> None:
    plan = plan_of(repo, step("a"))
    assert with_prepare(plan) == plan
    with pytest.raises(UsageError, match="neither"):
        prepare(plan, io.StringIO())


def test_every_step_needs_the_preparation(repo: Path) -> None:
    write(repo / "test_tipc/prepare.sh", "exit 0")
    plan = with_prepare(plan_of(repo, step("a"), step("b", needs=("a",))))
    assert [one.needs for one in plan.steps] == [(), ("prepare",), ("prepare", "a")]
    assert with_prepare(plan) == plan


def test_a_failed_preparation_blocks_its_plan(runner: Runner, repo: Path) -> None:
    write(repo / "test_tipc/prepare.sh", "echo no data; exit 1")
    plan = with_prepare(plan_of(repo, step("a")))
    run = runner(plan)
    assert [run.result(plan, one).state for one in plan.steps] == ["failed", "blocked"]
    assert tail(run.result(plan, plan.steps[0]).log) == ["no data"]


def test_the_plans_of_a_repository_with_a_script_run_one_after_the_other(runner: Runner, repo: Path) -> None:
    write(repo / "test_tipc/prepare.sh", 'echo "$1" > data')
    code = "import time; time.sleep(0.1); name = open('data').read(); open('seen', 'a').write(name)"
    plans = [with_prepare(plan_of(repo, step("a", code), config=name)) for name in ("1.txt", "2.txt")]
    assert runner(*plans).ok
    assert (repo / "seen").read_text() == "1.txt\n2.txt\n"


def test_a_failure_in_one_plan_does_not_keep_the_next_from_being_prepared(runner: Runner, repo: Path) -> None:
    write(repo / "test_tipc/prepare.sh", "exit 0")
    steps = {code: step("a", f"raise SystemExit({code})") for code in (1, 0)}
    plans = [with_prepare(plan_of(repo, one, config=f"{code}.txt")) for code, one in steps.items()]
    run = runner(*plans)
    assert [run.result(plan, plan.steps[1]).state for plan in plans] == ["failed", "passed"]


def test_declared_preparations_come_before_everything_else_of_a_repository(repo: Path) -> None:
    write(repo / "test_tipc/prepare.py", "ARCHIVES = []\n")
    one, two = (with_prepare(plan_of(repo, step("a"), config=name)) for name in ("1.txt", "2.txt"))
    assert order([one, two]) == {
        (two.key, "prepare"): [(one.key, "prepare")],
        (one.key, "a"): [(two.key, "prepare")],
        (two.key, "a"): [(two.key, "prepare")],
    }


def test_what_a_script_would_remove_is_told_from_its_text(repo: Path) -> None:
    for name in ("data/a", "data/b", "data/c", "lists/x", "kept", "deep/er"):
        (repo / name).mkdir(parents=True)
    write(
        repo / "test_tipc/prepare.sh",
        """
        MODE=$2  # rm -rf kept
        echo "rm -rf kept"
        if [ ${MODE} = "lite_train_lite_infer" ]; then
            cd data && rm -rf ./a; rm -r b nowhere
            cd ../
            rm -rf lists/* $HOME/kept
        elif [ ${MODE} = "whole_infer" ]; then
            rm -rf data/c
        else
            rm -f kept
        fi
        if [ ${MODE} = "whole_infer" ] || [ ${MODE} = "lite_train_whole_infer" ]; then rm -rf deep \\
            deep/er; fi
        rm -rf ../outside
        cd $SOMEWHERE; rm -rf kept
        """,
    )
    script = repo / "test_tipc/prepare.sh"
    assert removals(script, repo, "lite_train_lite_infer", "toy") == ["data/a", "data/b", "lists/x"]
    assert removals(script, repo, "whole_infer", "toy") == ["data/c", "deep", "deep/er"]
    assert removals(script, repo, "lite_train_whole_infer", "toy") == ["deep", "deep/er"]
    assert removals(repo / "no.sh", repo, "whole_infer", "toy") == []


def test_what_only_other_models_would_remove_is_not_told(repo: Path) -> None:
    for name in ("data/a", "data/b", "data/c"):
        (repo / name).mkdir(parents=True)
    write(
        repo / "test_tipc/prepare.sh",
        """
        if [ ${model_name} = "other" ]; then cd src && python setup.py install && cd -; fi
        cd data && unzip x.zip && cd -
        if [ ${model_name} = 'toy' ] \\
            || [ ${model_name} == "tiny" ]; then
            rm -rf ./data/a
        elif [ ${model_name} = 'other' ]; then
            rm -rf ./data/b
        else
            rm -rf ./data/c
        fi
        """,
    )
    script = repo / "test_tipc/prepare.sh"
    assert removals(script, repo, "whole_infer", "tiny") == ["data/a"]
    assert removals(script, repo, "whole_infer", "other") == ["data/b"]
    assert removals(script, repo, "whole_infer", "third") == ["data/c"]


def test_preparing_by_itself_names_what_it_removes_before_it_does(
    repo: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config = toy_repo.make(repo)
    write(repo / "data/list.txt", "1")
    write(repo / "test_tipc/prepare.sh", "echo it runs; rm -rf data\n")
    assert main(["prepare", str(config)]) == 0
    first, second = capfd.readouterr().out.splitlines()
    assert first.endswith("toy/train_infer_python.txt will remove data")
    assert second == "it runs"
    assert main(["prepare", str(config)]) == 0
    assert "will remove" not in capfd.readouterr().out


def test_of_many_paths_only_some_are_named() -> None:
    assert some_of("abcdef") == "a, b, c, d, e, f"
    assert some_of("abcdefg") == "a, b, c, d, e, f, …"


FETCH = """
rm -rf data lists
echo "wget: unable to resolve host address ‘data.example.org’"
ln -s data_lite data
mkdir lists
"""
TRAIN = "open('data/list.txt')"


def test_data_that_was_removed_and_not_fetched_is_told_before_the_training_and_in_its_remedy(
    runner: Runner, repo: Path
) -> None:
    """The script ends with 0, whatever its commands do; a link to nowhere and an empty folder are no data."""
    write(repo / "data/list.txt", "1")
    write(repo / "lists/list.txt", "1")
    write(repo / "test_tipc/prepare.sh", FETCH)
    plan = with_prepare(plan_of(repo, step("a", TRAIN)))
    run = runner(plan)
    prepared = run.result(plan, plan.steps[0])
    assert prepared.ok
    assert prepared.removed == ("data", "lists")
    removed = "prepare removed data, lists and did not put it back"
    unreached = "prepare ended with 0, but the network does not reach data.example.org"
    assert runner.text.index("✔ [1/2] prepare") < runner.text.index(removed) < runner.text.index(unreached)
    assert runner.text.index(unreached) < runner.text.index("[2/2] a")
    assert (
        "preparing removed data, and the network does not reach data.example.org: put data/list.txt there by "
        "hand, with what belongs to it, then tipc run --rerun-failed"
    ) in runner.text


@pytest.mark.parametrize(
    ("script", "remedy"),
    [
        ("rm -rf data", "preparing removed data and did not put it back: put data/list.txt there by hand"),
        ("echo 'Could not resolve host: h.org'", "the network did not reach h.org: put data/list.txt there"),
        ("true", "test_tipc/prepare.sh was run and did not make data/list.txt"),
        ("rm -rf other", "test_tipc/prepare.sh was run and did not make data/list.txt"),
    ],
)
def test_the_remedy_for_missing_data_says_what_became_of_it(
    runner: Runner, repo: Path, script: str, remedy: str
) -> None:
    write(repo / "data/x", "1")
    write(repo / "other/x", "1")
    write(repo / "test_tipc/prepare.sh", script)
    runner(with_prepare(plan_of(repo, step("a", TRAIN))))
    assert remedy in runner.text


def test_data_that_was_put_back_is_not_told(runner: Runner, repo: Path) -> None:
    write(repo / "data/list.txt", "1")
    write(repo / "test_tipc/prepare.sh", "rm -rf data; mkdir data; touch data/list.txt\n")
    plan = with_prepare(plan_of(repo, step("a", TRAIN)))
    run = runner(plan)
    assert run.ok
    assert run.result(plan, plan.steps[0]).removed == ()


@pytest.mark.parametrize("retries", [0, 1])
def test_a_failed_preparation_says_what_it_has_removed(runner: Runner, repo: Path, retries: int) -> None:
    write(repo / "data/list.txt", "1")
    write(repo / "test_tipc/prepare.sh", "rm -rf data; exit 4\n")
    runner(with_prepare(plan_of(repo, step("a"))), settings=Settings(cores=1, retries=retries))
    assert "prepare removed data; put it back, then tipc run --rerun-failed --no-prepare" in runner.text
    assert "is it already there?" not in runner.text


def test_an_interpreter_that_a_script_calls_and_is_not_there_is_told_before_it_runs(
    runner: Runner, repo: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Steps run another one in its place, a script does not."""
    config = toy_repo.make(repo)
    config.write_text(toy_repo.CONFIG.replace("python:python3", "python:python3.0"))
    write(
        repo / "test_tipc/prepare.sh",
        """
        echo it runs
        if [ ${MODE} = "whole_infer" ]; then
            python_name=python2.0
            ${python_name} -m pip install x
        elif [ ${MODE} = "paddle2onnx_infer" ]; then
            python2.1 -m pip install onnx
        fi
        if [ ${MODE} = "lite_train_lite_infer" ]; then
            array=(${python_name_list})
            python_name=${array[0]}
            ${python_name} -m pip install x
            eval "${python_name} -m pip install y"
            python3 --version
            python=python3.00
            cd . && $python setup.py install
        fi
        """,
    )
    assert main(["prepare", str(config)]) == 0
    first, second, *_ = capfd.readouterr().out.splitlines()
    assert "calls python3.0, python3.00, which is not on PATH: what it would install" in first
    assert second == "it runs"
    assert main(["run", str(config), "--dry-run", "--no-prepare"]) == 0
    assert "which is not on PATH" not in capfd.readouterr().out


def test_a_pip_of_another_interpreter_is_told_before_it_runs(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With --python or --paddle, packages would go where no step looks for them."""
    config = toy_repo.make(repo)
    write(repo / "test_tipc/prepare.sh", "pip3 install x\npip --version")
    for place, names in (("active", ("python3", "pip3")), ("other", ("python3",))):
        for name in names:
            write(tmp_path / place / name, "#!/bin/sh")
            (tmp_path / place / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'active'}:{os.environ['PATH']}")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    command = ["run", str(config), "--dry-run", "--python"]
    assert main([*command, str(tmp_path / "other/python3")]) == 0
    told = f"installs packages with {tmp_path}/active/pip3, while steps run {tmp_path}/other/python3"
    assert told in capfd.readouterr().out
    assert main([*command, "python3"]) == 0
    assert "installs packages" not in capfd.readouterr().out
