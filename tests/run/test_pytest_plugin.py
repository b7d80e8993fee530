"""``pytest test_tipc/configs`` in a repository of its own."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import toy_repo
from toy_repo import journals

from tipc.certify.verdict_store import load_verdict
from tipc.run.record.run_store import load_run


@pytest.fixture
def config(repo: Path) -> Path:
    return toy_repo.make(repo)


def run_pytest(
    repo: Path, *words: str, installed: bool = False, checks: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run pytest with this plug-in only, or with all that are installed, which takes longer."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "TIPC"))}
    if not installed:
        environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        words = ("-p", "tipc.run.pytest_plugin", *words)
    if not checks:
        words = (*words, "--tipc-no-checks")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *words],
        cwd=repo,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_each_step_is_a_test_and_the_run_is_recorded(repo: Path, config: Path) -> None:
    done = run_pytest(repo, "test_tipc/configs", "--tipc-cold", installed=True)
    assert done.returncode == 0, done.stdout
    assert "tipc: steps only, nothing is certified (--tipc-no-checks)" in done.stdout
    assert "6 passed" in done.stdout
    assert "train_infer_python.txt::norm_train-cpu/train PASSED" in done.stdout
    (journal,) = journals(repo)
    assert load_run(journal.parent).ok


def test_what_preparing_would_remove_is_named_before_the_first_test(repo: Path, config: Path) -> None:
    (repo / "lite_data").mkdir()
    (repo / "test_tipc/prepare.sh").write_text("rm -rf lite_data\n")
    warning = "will remove lite_data (--tipc-no-prepare: it will not)"
    spared = run_pytest(repo, "test_tipc/configs", "--tipc-cold", "--tipc-no-prepare")
    assert "will remove" not in spared.stdout
    done = run_pytest(repo, "test_tipc/configs", "--tipc-cold")
    assert done.returncode == 0, done.stdout
    assert done.stdout.index(warning) < done.stdout.index("::prepare PASSED")


def test_a_failed_step_shows_its_log_and_blocks_the_others(repo: Path, config: Path) -> None:
    (repo / "behave").write_text("fail")
    done = run_pytest(repo, "test_tipc/configs", "--tipc-cold")
    assert done.returncode == 1
    assert "1 failed, 5 skipped" in done.stdout
    assert "┆ training" in done.stdout
    assert "log      test_tipc/output" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_step_whose_need_was_not_selected_fails_and_never_passes_by_being_skipped(
    repo: Path, config: Path
) -> None:
    done = run_pytest(repo, "test_tipc/configs", "-k", "export")
    assert done.returncode == 1
    assert "which was not selected, and" in done.stdout


def test_each_check_is_a_test_that_is_made_after_the_steps(repo: Path, config: Path) -> None:
    (repo / "behave").write_text("fail")
    done = run_pytest(repo, "test_tipc/configs", "--tipc-cold", checks=True)
    assert done.returncode == 1
    assert "train_infer_python.txt::TS001 FAILED" in done.stdout
    assert "train_infer_python.txt::TS005 PASSED" in done.stdout
    assert "train_infer_python.txt::TP301 SKIPPED (nothing" in done.stdout
    assert "✘ TS001  failed  The step ran and passed  [norm_train-cpu/train]" in done.stdout
    assert done.stdout.index("infer-cpu-bs4") < done.stdout.index("::TA201")
    assert "TD801" not in done.stdout, "checks of a whole repository are tipc check's"
    (journal,) = journals(repo)
    verdict = load_verdict(load_run(journal.parent))
    assert verdict is not None
    assert not verdict.passed


def test_a_part_of_the_steps_is_not_certified(repo: Path, config: Path) -> None:
    done = run_pytest(repo, "test_tipc/configs", "-k", "cpu/train or TS001", "-rs", checks=True)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 skipped" in done.stdout
    assert "not certified: 5 of 6 steps were not selected" in done.stdout


def test_a_check_alone_has_nothing_to_look_at(repo: Path, config: Path) -> None:
    done = run_pytest(repo, f"{config}::TS001", "-rs", checks=True)
    assert "no step was run" in done.stdout
    assert journals(repo) == []


def test_a_config_that_is_wrong_is_an_error_of_the_collection(repo: Path, config: Path) -> None:
    done = run_pytest(repo, "test_tipc/configs", "--tipc-mode", "no_such_mode")
    assert done.returncode == 2
    assert "unknown mode `no_such_mode`" in done.stdout
    assert "Traceback" not in done.stdout


def test_one_config_can_be_named(repo: Path, config: Path) -> None:
    done = run_pytest(repo, str(config), "--collect-only", "-q")
    assert done.stdout.count("norm_train-cpu/") == len(toy_repo.STEPS)
    assert journals(repo) == []


def test_a_plain_pytest_of_the_repository_runs_no_training(repo: Path, config: Path) -> None:
    (repo / "test_something.py").write_text("def test_it(): pass\n")
    (repo / "requirements.txt").write_text("numpy\n")
    for words in ([], ["."], ["test_something.py"]):
        done = run_pytest(repo, *words)
        assert done.returncode == 0, done.stdout
        assert "1 passed" in done.stdout
    assert journals(repo) == []


def test_other_text_files_are_left_alone(repo: Path, config: Path) -> None:
    (config.parent / "notes.txt").write_text("train your model first\n")
    config.unlink()
    done = run_pytest(repo, "test_tipc/configs", "--collect-only")
    assert done.returncode == 5
    assert "no tests collected" in done.stdout


def test_a_file_with_the_name_of_a_config_that_is_none_is_an_error(repo: Path, config: Path) -> None:
    config.write_bytes(b"\xff\xfe not a config at all")
    done = run_pytest(repo, "test_tipc/configs", "--collect-only")
    assert done.returncode == 2
    assert "no dialect fits it" in done.stdout


def test_the_plug_in_costs_nothing_where_it_is_not_used(repo: Path) -> None:
    code = "import sys, tipc.run.pytest_plugin as p; print([m for m in sys.modules if m.startswith('tipc.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ast.literal_eval(done.stdout)) <= {
        "tipc.callable_package",
        "tipc.run",
        "tipc.run.pytest_plugin",
    }
