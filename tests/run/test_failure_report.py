"""What is told about a failure: the end of the log, a cause, a remedy, a command that can be pasted."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_plans import plan_of, step

from tipc.kinds import FAILED, TIMEOUT
from tipc.plan.model import Plan, Step
from tipc.reasons import because
from tipc.run.record.results import StepResult
from tipc.run.show.diagnose import diagnose
from tipc.run.show.failure import failure_lines, pasteable
from tipc.run.show.log_tail import tail


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_tipc").mkdir()
    (tmp_path / "test_tipc/prepare.sh").touch()
    return plan_of(tmp_path, step("a", argv=("python3", "train.py", "--data-path=./lite_data"), line=14))


def failed(plan: Plan, step: Step, **changes: object) -> StepResult:
    fields: dict[str, object] = {
        "reason": because("exit", status=1),
        "exit_code": 1,
        "attempts": 1,
        "wall": 1.0,
        **changes,
    }
    return StepResult(plan.key, step.id, **{"state": FAILED, **fields})  # type: ignore[arg-type]


@given(st.binary(max_size=300))
def test_the_end_of_any_log_is_printable(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    path.write_bytes(raw)
    for line in tail(path, 5):
        assert not any(ord(char) < 32 and char != "\t" for char in line)
        line.encode("utf-8")


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * 1_000_000 + b"\nlast\n\n")
    assert tail(path, 1) == ["last"]
    assert len(tail(path, 2)[0]) <= 400
    assert tail(tmp_path / "nowhere") == []


def test_of_a_line_that_was_written_over_the_last_state_counts(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"10%\r50%\r100%\nprogress 1\rprogress 2")
    assert tail(tmp_path / "log") == ["100%", "progress 2"]


@pytest.mark.parametrize(
    ("line", "cause", "remedy"),
    [
        (
            "FileNotFoundError: [Errno 2] No such file or directory: './lite_data'",
            "./lite_data is not there (the command of config.txt:14)",
            "tipc prepare config.txt",
        ),
        (
            "ModuleNotFoundError: No module named 'paddle.foo'",
            "python3 has no module `paddle`",
            "pip install paddlepaddle",
        ),
        ("train.py: error: unrecognized arguments: --foo", "the script does not know `--foo`", ""),
        ("OSError: [Errno 28] No space left on device", "no room left on the disk", "make room"),
        ("MemoryError", "out of memory", "--jobs 1"),
        (
            "python3: can't open file '/x/train.py': [Errno 2] No such file",
            "/x/train.py is not there",
            "name the script",
        ),
        ("ValueError: shapes do not match", "ValueError: shapes do not match", ""),
        ("error: lite_data: no train data", "lite_data: no train data", ""),
        ("train.py: error: argument --epochs: invalid int value: 'x'", "argument --epochs: invalid int", ""),
        ("all is well", "", ""),
    ],
)
def test_known_lines_have_a_cause(plan: Plan, line: str, cause: str, remedy: str) -> None:
    told = diagnose(plan, plan.steps[0], failed(plan, plan.steps[0]), ["before", line])
    assert told.cause.startswith(cause)
    assert bool(told.cause) == bool(cause)
    assert remedy in told.remedy


@pytest.mark.parametrize(
    "line",
    [
        "wget: unable to resolve host address ‘data.example.org’",
        "curl: (6) Could not resolve host: data.example.org",
        "fatal: unable to access 'https://data.example.org/a.git/': Could not resolve host: data.example.org",
        "curl: (7) Failed to connect to data.example.org port 443 after 3 ms: Connection refused",
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='data.example.org', port=443): Max …",
    ],
)
def test_a_host_that_cannot_be_reached_is_named(plan: Plan, line: str) -> None:
    known = diagnose(plan, plan.steps[0], failed(plan, plan.steps[0], exit_code=4), [line, ""])
    assert known.cause == "the network does not reach data.example.org"
    assert "https_proxy" in known.remedy


def test_no_remedy_is_named_that_would_not_help(plan: Plan, tmp_path: Path) -> None:
    line = "FileNotFoundError: [Errno 2] No such file or directory: './lite_data'"
    train = plan.steps[0]
    prepare = replace(train, id="prepare", kind="prepare")
    prepared = replace(plan, steps=(prepare, train))
    told = diagnose(prepared, train, failed(plan, train), [line])
    assert told.remedy.startswith("test_tipc/prepare.sh was run and did not make ./lite_data")
    assert diagnose(prepared, prepare, failed(plan, train), [line]).remedy == ""
    (tmp_path / "test_tipc/prepare.sh").unlink()
    told = diagnose(plan, train, failed(plan, train), [line])
    assert told.remedy.endswith("the repository has no test_tipc/prepare.sh that would fetch it")
    elsewhere = replace(plan, repo=str(tmp_path / "nowhere"))
    assert diagnose(elsewhere, train, failed(plan, train), [line]).remedy == ""


def test_a_call_to_prepare_is_named_with_what_it_would_remove(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "test_tipc/prepare.sh").write_text("rm -rf data\n")
    (tmp_path / "data").mkdir()
    line = "FileNotFoundError: [Errno 2] No such file or directory: './data/list.txt'"
    told = diagnose(plan, plan.steps[0], failed(plan, plan.steps[0]), [line])
    assert told.remedy == "tipc prepare config.txt lite_train_lite_infer (it will remove data)"


def test_an_interpreter_that_is_not_there_is_named_with_the_option_that_names_another(plan: Plan) -> None:
    why = because("not-started", error="no such program: python3")
    known = diagnose(plan, plan.steps[0], failed(plan, plan.steps[0], reason=why, exit_code=127), [])
    assert known.cause == "no such program: python3"
    assert "--python PROGRAM" in known.remedy


def test_a_timeout_and_a_kill_have_causes_of_their_own(plan: Plan) -> None:
    late = failed(plan, plan.steps[0], state=TIMEOUT, exit_code=None)
    assert "--timeout" in diagnose(plan, plan.steps[0], late, []).remedy
    killed = failed(plan, plan.steps[0], exit_code=None, signal=9)
    assert "memory" in diagnose(plan, plan.steps[0], killed, []).cause


def test_the_lines_of_a_failure_are_complete(plan: Plan, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("one\nFileNotFoundError: ./lite_data/train_list.txt\n")
    lines = failure_lines(plan, plan.steps[0], failed(plan, plan.steps[0], log=str(log), attempts=2))
    assert lines[0] == "FAILED  toy · norm_train · cpu · train  (exit 1, 1.0 s, 2 attempts)"
    assert lines[2:4] == ["  ┆ one", "  ┆ FileNotFoundError: ./lite_data/train_list.txt"]
    assert [line.split()[0] for line in lines[4:]] == ["cause", "try", "log", "again"]


def test_a_command_with_odd_words_and_unset_variables_can_be_pasted(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    odd = step(
        "a",
        argv=(
            "python3",
            "-c",
            "import os,sys; print(os.getcwd(), sys.argv[1], os.environ.get('GONE'), os.environ['V'])",
            "$x 'y'",
        ),
        env={"GONE": None, "V": "1 2"},
        cwd="a b",
    )
    line = pasteable(plan_of(tmp_path, odd), odd)
    environ = {**os.environ, "GONE": "still here"}
    done = subprocess.run(
        ["bash", "-c", line], env=environ, capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout == f"{folder} $x 'y' None 1 2\n"


def test_what_is_shown_can_be_used_from_where_the_user_is(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "FileNotFoundError: ./lite_data"
    monkeypatch.chdir("/")
    told = diagnose(plan, plan.steps[0], failed(plan, plan.steps[0]), [line])
    assert f"tipc prepare {tmp_path.relative_to('/')}/config.txt lite" in told.remedy
    monkeypatch.chdir(tmp_path.parent)
    assert pasteable(plan, plan.steps[0]).startswith(f"cd {tmp_path.name} && ")


def test_a_shell_step_is_shown_as_one(tmp_path: Path) -> None:
    piped = step("a", shell="echo a | cat", env={})
    assert pasteable(plan_of(tmp_path, piped), piped).endswith("bash -c 'echo a | cat'")
