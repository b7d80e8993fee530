"""``tipc run`` as people call it: what it says, what it leaves, how it exits."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import toy_repo
from toy_repo import STEPS, events, journals, states, tipc_run

from tipc.cli.main import main
from tipc.cli.run import parser, session_of
from tipc.reasons import because
from tipc.run.record.run_store import load_run
from tipc.run.session import first_tasks

RESULTS = "test_tipc/output/toy/lite_train_lite_infer/results_python.log"


@pytest.fixture
def config(repo: Path) -> Path:
    return toy_repo.make(repo)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIPC_HOME", raising=False)
    return tmp_path


def run(*words: str | Path) -> int:
    return main(["run", "--cold", "--no-checks", *map(str, words)])


def started(config: Path, here: Path) -> subprocess.Popen[bytes]:
    """``tipc run`` in a process that can be stopped."""
    return subprocess.Popen(
        toy_repo.command(config), cwd=here, stdout=subprocess.DEVNULL, preexec_fn=toy_repo.hear_signals
    )


def test_a_whole_chain_passes(
    here: Path, repo: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config, "lite_train_lite_infer", "-v") == 0
    (journal,) = journals(here)
    assert states(journal) == dict.fromkeys(STEPS, "passed")
    assert (repo / RESULTS).read_text().count("Run successfully") == len(STEPS)
    shown = capsys.readouterr().out
    assert "Run successfully with command - toy - python3 train.py" in shown
    assert "\x1b" not in shown
    assert load_run(None).environment["cpu"]["cores"] >= 1
    assert load_run(None).ended


def test_a_plain_log_says_that_the_checks_begin_and_how_long_they_took(
    here: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "--cold", str(config)])
    lines = capsys.readouterr().out.splitlines()
    begun = lines.index(f"  checking {len(STEPS)} steps against what was seen of them")
    assert re.fullmatch(r"  checked, [0-9.]+ s after the last step", lines[begun + 1])
    main(["run", "--cold", "-q", str(config)])
    assert "checking" not in capsys.readouterr().out


def test_what_will_run_first_is_foreseen_unless_the_run_goes_on(here: Path, repo: Path, config: Path) -> None:
    def foreseen(*words: str) -> list[str]:
        session = session_of(parser().parse_args(words), list(words))
        return [Path(task.argv[1]).name for task in first_tasks(session, cold=False)]

    assert foreseen(str(config)) == ["train.py"]
    assert foreseen(str(config), "--only", "export") == ["export.py"]
    (repo / "test_tipc/prepare.sh").write_text("pip install paddlepaddle\n")
    assert foreseen(str(config)) == ["train.py"]
    assert foreseen(str(config), "--no-prepare") == ["train.py"]
    assert run(config, "--no-prepare") == 0
    assert foreseen("--resume") == []


def test_an_interpreter_that_is_not_there_is_refused_before_anything_is_prepared(
    here: Path, repo: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "test_tipc/prepare.sh").write_text("touch prepared\n")
    assert run(config, "--python", "python9.9") == 2
    assert "--python: there is no program `python9.9`" in capsys.readouterr().err
    (here / "env/bin").mkdir(parents=True)
    (here / "env/bin/python").symlink_to(sys.executable)
    assert run(config, "--python", "env") == 2
    told = capsys.readouterr().err
    assert "--python: env is a folder" in told
    assert "--python env/bin/python" in told
    assert not (repo / "prepared").exists()
    assert not journals(here)


def test_a_failure_exits_with_1_and_rerun_failed_mends_the_same_run(
    here: Path, repo: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "behave").write_text("fail")
    assert run(config) == 1
    (journal,) = journals(here)
    assert states(journal) == {"train": "failed", **dict.fromkeys(STEPS[1:], "blocked")}
    assert "(exit 3" in capsys.readouterr().out
    assert run("--resume") == 1
    (repo / "behave").unlink()
    assert run("--rerun-failed") == 0
    assert journals(here) == [journal]
    assert states(journal) == dict.fromkeys(STEPS, "passed")
    assert (repo / RESULTS).read_text().count("Run failed") == 1


def test_resume_after_success_runs_nothing(
    here: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config) == 0
    (journal,) = journals(here)
    before = [event["event"] for event in events(journal)]
    assert run("--resume", journal.parent.name) == 0
    assert [event["event"] for event in events(journal)] == [*before, "resume", "finish"]
    assert capsys.readouterr().out.count("nothing has changed") == len(STEPS)


def test_a_changed_config_is_planned_anew_by_resume(here: Path, config: Path) -> None:
    assert run(config) == 0
    config.write_text(config.read_text().replace("--batch-size:1|2|4", "--batch-size:1|8"))
    assert run("--resume") == 0
    names = {step.id.rpartition("/")[2] for step in load_run(None).plans[0].steps}
    assert names == {"train", "eval", "export", "infer-cpu-bs1", "infer-cpu-bs8"}
    assert load_run(None).ok


def test_what_is_not_selected_is_said_and_not_certified(
    here: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config, "--only", "train") == 0
    assert "NOT CERTIFIED: 5 of 6 steps were not selected" in capsys.readouterr().out
    assert not load_run(None).ok
    assert main(["certify"]) == 1
    assert "\nNOT CERTIFIED: 5 of 6 steps were not selected · " in capsys.readouterr().out
    assert run(config, "--only", "train", "--strict") == 1
    assert run(config, "-k", "export or bs2") == 0
    assert run(config, "-k", "infer and not (bs1 or bs2)") == 0
    assert states(journals(here)[-1]) == {"infer-cpu-bs4": "passed"}


def test_the_parts_of_a_chain_together_are_the_whole(
    here: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config, "--only", "train") == 0
    assert main(["certify"]) == 1
    (directory,) = (here / ".tipc" / "runs").iterdir()
    assert (directory / "verdict.json").is_file()
    capsys.readouterr()
    assert run("--resume", "-k", "not train/train", "--strict") == 0
    assert "not selected" not in capsys.readouterr().out
    assert load_run(None).ok
    assert not (directory / "verdict.json").exists(), "it was about less than there is now"


def test_a_part_is_failed_while_anything_in_its_run_is(here: Path, repo: Path, config: Path) -> None:
    (repo / "behave").write_text("fail")
    assert run(config) == 1
    assert run("--resume", "--only", "export") == 1
    (repo / "behave").unlink()
    assert run("--rerun-failed", "--only", "train") == 0
    assert load_run(None).left_out == because("steps-not-selected", count=5, steps=6)


@pytest.mark.parametrize(
    "words",
    [
        ["-k", "no_such_step"],
        ["-k", "a and"],
        ["--only", "training"],
        ["nowhere.txt"],
        ["--resume"],
        ["--rerun-failed", "no-such-run"],
        [],
        ["--jobs", "0"],
        ["--timeout", "-1"],
        ["--retries", "x"],
        ["--mode", "no_such_mode"],
    ],
)
def test_a_wrong_call_exits_with_2_and_leaves_nothing(
    here: Path, config: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    if words[:1] in (["-k"], ["--only"], ["--jobs"], ["--timeout"], ["--retries"], ["--mode"]):
        words = [str(config), *words]
    try:
        code = run(*words)
    except SystemExit as exit:
        code = int(exit.code or 0)
    assert code == 2
    assert "Traceback" not in capsys.readouterr().err
    assert journals(here) == []


def test_a_dry_run_shows_commands_and_leaves_nothing(
    here: Path, repo: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config, "--dry-run", "--only", "train,export") == 0
    shown = capsys.readouterr().out.splitlines()
    assert len([line for line in shown if "train.py" in line or "export.py" in line]) == 2
    assert journals(here) == []
    assert not (repo / "test_tipc/output").exists()


def test_a_shown_command_can_be_pasted(
    here: Path, repo: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(config, "--dry-run", "--only", "train")
    line = capsys.readouterr().out.splitlines()[-1]
    assert subprocess.run(["bash", "-c", line], cwd=here, check=False).returncode == 0
    assert list(repo.rglob("latest.pdparams"))


def test_a_retried_pass_is_flaky_and_a_failure_when_strict(here: Path, repo: Path, config: Path) -> None:
    (repo / "behave").write_text("flaky")
    assert run(config, "--retries", "1", "--only", "train") == 0
    assert states(journals(here)[-1]) == {"train": "flaky"}
    (repo / "behave").write_text("flaky")
    assert run(config, "--retries", "1", "--strict") == 1
    assert states(journals(here)[-1])["infer-cpu-bs1"] == "passed"


@pytest.mark.parametrize(
    ("behave", "code", "state", "told"),
    [
        ("leave nothing", 1, "failed", "exit 0, but it did not write"),
        ("leave yesterday's", 1, "failed", "is from before"),
        ("die", 1, "failed", "killed by SIGSEGV"),
        ("print bytes", 0, "passed", ""),
        ("leave a daemon", 0, "passed", "1 of its processes outlived it and were ended"),
    ],
)
def test_each_fault_has_its_state_and_its_exit_code(
    here: Path,
    repo: Path,
    config: Path,
    capsys: pytest.CaptureFixture[str],
    behave: str,
    code: int,
    state: str,
    told: str,
) -> None:
    if "yesterday" in behave:
        assert run(config, "--only", "train") == 0
    (repo / "behave").write_text(behave)
    assert run(config) == code
    assert states(journals(here)[-1])["train"] == state
    assert told in capsys.readouterr().out
    assert not any(psutil.pid_exists(int(path.name)) for path in repo.glob("daemons/*"))


def test_a_timeout_is_a_failure(here: Path, repo: Path, config: Path) -> None:
    (repo / "behave").write_text("hang")
    assert run(config, "--timeout", "1") == 1
    assert states(journals(here)[-1])["train"] == "timeout"


def test_several_configs_of_a_directory_are_one_run(here: Path, repo: Path, config: Path) -> None:
    second = config.with_name("second_train_infer_python.txt")
    second.write_text(config.read_text().replace("model_name:toy", "model_name:second"))
    assert run(config.parent, "--jobs", "2") == 0
    assert len(load_run(None).plans) == 2
    assert load_run(None).ok


def test_the_same_config_twice_is_run_once(here: Path, config: Path) -> None:
    assert run(config, os.path.relpath(config), "--only", "train") == 0
    assert len(load_run(None).plans) == 1


def test_a_prepare_script_runs_first(here: Path, repo: Path, config: Path) -> None:
    (repo / "test_tipc/prepare.sh").write_text('echo "$@" > prepared\n')
    assert run(config) == 0
    assert (repo / "prepared").read_text().endswith("toy/train_infer_python.txt lite_train_lite_infer\n")
    assert next(iter(states(journals(here)[0]))) == "prepare"
    (repo / "prepared").unlink()
    assert run(config, "--no-prepare") == 0
    assert not (repo / "prepared").exists()


def test_a_declared_preparation_runs_through_the_command(here: Path, repo: Path, config: Path) -> None:
    (repo / "test_tipc/prepare.py").write_text("if __name__ == '__main__':\n    open('prepared', 'w')\n")
    assert run(config, "--only", "train") == 0
    assert (repo / "prepared").exists()


def test_tipc_prepare_prepares(
    here: Path, repo: Path, config: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (repo / "test_tipc/prepare.sh").write_text("echo preparing $2; exit ${CODE:-0}\n")
    assert main(["prepare", str(config), "lite_train_lite_infer"]) == 0
    assert "preparing lite_train_lite_infer" in capfd.readouterr().out


def test_tipc_prepare_through_a_script_that_calls_it_ends(here: Path, repo: Path, config: Path) -> None:
    import sys

    (repo / "test_tipc/prepare.sh").write_text(f'{sys.executable} -m tipc prepare "$1" "$2"\n')
    assert main(["prepare", str(config)]) == 1
    (repo / "test_tipc/prepare.py").write_text("ARCHIVES = []\n")
    assert main(["prepare", str(config)]) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_and_exits_with_130(
    here: Path, repo: Path, config: Path, number: signal.Signals
) -> None:
    (repo / "behave").write_text("hang")
    process = started(config, here)
    while not (pids := list(repo.glob("hangs/*"))):
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(number)
    assert process.wait(30) == 130
    assert not any(psutil.pid_exists(int(pid.name)) for pid in pids)
    (journal,) = journals(here)
    assert states(journal) == {"train": "interrupted"}
    assert events(journal)[-1]["state"] == "interrupted"
    (repo / "behave").unlink()
    assert run("--resume") == 0


def test_a_hang_up_that_is_ignored_stays_ignored(here: Path, repo: Path, config: Path) -> None:
    (repo / "behave").write_text("0.5")
    process = subprocess.Popen(
        ["nohup", *toy_repo.command(config, "--only", "train")],
        cwd=here,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not journals(here):
        time.sleep(0.02)
    process.send_signal(signal.SIGHUP)
    assert process.wait(30) == 0


def test_what_is_wrong_with_some_configs_is_told_at_once_and_the_others_run(
    here: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        broken = config.read_text().replace("python:python3", "python:python3 | cat")
        (config.parent / f"{name}_train_infer_python.txt").write_text(broken)
    assert run(config.parent) == 2
    told = capsys.readouterr().err
    assert "a_train_infer_python.txt" in told
    assert "b_train_infer_python.txt" in told
    assert len(journals(here)) == 1


def test_two_runs_cannot_work_in_one_directory(here: Path, repo: Path, config: Path) -> None:
    (repo / "behave").write_text("hang")
    process = started(config, here)
    while not list(repo.glob("hangs/*")):
        time.sleep(0.02)
    second = tipc_run(here, "--resume")
    elsewhere = tipc_run(repo, config)
    process.send_signal(signal.SIGINT)
    process.wait(30)
    assert second.returncode == elsewhere.returncode == 2
    assert "another tipc run works in this directory" in second.stderr
    assert "another tipc run works in this directory" in elsewhere.stderr
    assert journals(repo) == []


def test_a_stream_that_is_not_utf8_is_no_problem(here: Path, config: Path) -> None:
    done = tipc_run(here, config, env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"})
    assert done.returncode == 0, done.stderr


def test_a_reader_that_goes_away_neither_ends_the_run_nor_makes_it_a_success(
    here: Path, repo: Path, config: Path
) -> None:
    (repo / "behave").write_text("0.3")
    readable, writable = os.pipe()
    process = subprocess.Popen(toy_repo.command(config), cwd=here, stdout=writable, stderr=subprocess.PIPE)
    os.close(writable)
    os.read(readable, 10)
    os.close(readable)
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 0
    assert complaints == b""
    assert states(journals(here)[0]) == dict.fromkeys(STEPS, "passed")
    (repo / "behave").write_text("fail")
    piped = f"{shlex.join(toy_repo.command(config))} | head -1; exit ${{PIPESTATUS[0]}}"
    failing = subprocess.run(["bash", "-c", piped], cwd=here, check=False, capture_output=True)
    assert failing.returncode == 1


def test_the_interpreter_of_an_upstream_plan_is_replaced_when_it_runs(here: Path, config: Path) -> None:
    config.write_text(config.read_text().replace("python:python3", "python:python3.499"))
    assert run(config, "--as-upstream", "--only", "train") == 0
    (journal,) = journals(here)
    assert load_run(None).plans[0].steps[0].argv[0] == "python3.499"
    assert states(journal) == {"train": "passed"}


@pytest.mark.ray
@pytest.mark.xdist_group("ray")
def test_the_same_chain_passes_on_a_ray_cluster(here: Path, config: Path) -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        assert run(config, "--executor", "ray") == 0
    finally:
        ray.shutdown()
    (journal,) = journals(here)
    assert states(journal) == dict.fromkeys(STEPS, "passed")
    assert {event.get("executor", "local") for event in events(journal) if event["event"] == "end"} == {"ray"}


def test_a_cluster_that_is_not_there_is_an_error_of_the_environment(here: Path, config: Path) -> None:
    done = tipc_run(here, config, "--executor", "ray", env={"RAY_ADDRESS": "127.0.0.1:1"})
    assert done.returncode == 3
    assert "no Ray cluster answers" in done.stderr
    assert journals(here) == []


def test_only_a_part_of_the_configs_can_be_run(
    here: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configs, text = config.parents[1], config.read_text()
    for name in ("toy2", "toy3"):
        (configs / name).mkdir()
        (configs / name / "train_infer_python.txt").write_text(text)
    names = []
    for part in ("1/2", "2/2"):
        assert main(["run", str(configs), "--dry-run", "--shard", part]) == 0
        out = capsys.readouterr().out
        names.append([name for name in ("toy/", "toy2/", "toy3/") if f"configs/{name}" in out])
    assert names == [["toy/", "toy3/"], ["toy2/"]]
    assert main(["run", str(configs), "--dry-run", "--shard", "4/4"]) == 2
    with pytest.raises(SystemExit):
        main(["run", str(configs), "--shard", "3/2"])


def test_reports_can_be_written_beside_the_run(here: Path, config: Path, tmp_path: Path) -> None:
    import json
    from xml.etree import ElementTree

    out = tmp_path / "out"
    words = []
    for name in ("html", "junit", "json"):
        words += [f"--{name}", str(out / f"report.{name}")]
    assert run(config, *words) == 0
    assert json.loads((out / "report.json").read_text())["runs"]
    assert ElementTree.parse(out / "report.junit").getroot().tag == "testsuites"
    assert "<html" in (out / "report.html").read_text()
