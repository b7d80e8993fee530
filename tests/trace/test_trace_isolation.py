"""Whatever a traced script does, it does to its scratch copy, offline, and not for ever."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tipc.errors import EnvironmentProblem, UsageError
from tipc.plan.request import PlanOptions
from tipc.plan.trace import tracing
from tipc.plan.trace.record import sandbox
from tipc.plan.trace.record.passes import MOST_STOPPED
from tipc.plan.trace.record.sandbox import Recording, Sandbox
from tipc.plan.trace.record.snapshot import lay_out, list_repository, read_contents

Make = Callable[..., Path]


def trace(config: Path) -> tracing.Plan:
    return tracing.trace_upstream(config, "lite", config.parents[2])


def fingerprint(root: Path) -> dict[str, tuple[str, int]]:
    """Every path below a directory with its content and time."""
    found = {}
    for path in sorted(root.rglob("*")):
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "directory"
        found[str(path)] = (content, path.lstat().st_mtime_ns)
    return found


@pytest.fixture
def listener() -> Iterator[tuple[int, list[object]]]:
    """A server on this machine, and the connections that it got."""
    server = socket.create_server(("127.0.0.1", 0))
    got: list[object] = []

    def accept() -> None:
        while True:
            try:
                got.append(server.accept())
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    yield server.getsockname()[1], got
    server.close()


def test_nothing_outside_the_scratch_copy_is_touched(repository: Make, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("keep me", encoding="utf-8")
    mark = f"/tmp/tipc-{uuid.uuid4().hex}"
    config = repository(f"""
python train.py --out=o
rm -rf tools; rm -rf ../outside; rm -rf "{outside}"; rm -rf /*; rm -rf ~
echo spoiled > "{outside}/precious"; echo new > "{outside}/new"; echo mark > {mark}; echo x > /etc/x
sed -i s/toy/spoiled/ "$1"
kill -9 -1
python eval.py
""")
    before = fingerprint(tmp_path)
    plan = trace(config)
    assert fingerprint(tmp_path) == before
    assert not os.path.exists(mark)
    assert plan.steps[0].argv == ("python", "train.py", "--out=o")


def test_even_a_script_that_removes_its_whole_world_is_recorded(repository: Make) -> None:
    plan = trace(repository("python train.py\nrm -rf --no-preserve-root / 2>/dev/null\npython3 eval.py\n"))
    assert [step.argv[1] for step in plan.steps] == ["train.py", "eval.py"]


def test_there_is_no_network(repository: Make, listener: tuple[int, list[object]]) -> None:
    port, got = listener
    with socket.create_connection(("127.0.0.1", port)):
        pass
    plan = trace(
        repository(
            f"(exec 3<>/dev/tcp/127.0.0.1/{port}) && python train.py --reached\npython train.py --offline\n"
        )
    )
    assert [step.argv[2] for step in plan.steps] == ["--offline"]
    assert len(got) == 1


def test_an_endless_loop_is_stopped_and_what_came_before_is_the_plan(
    repository: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIPC_TRACE_SECONDS", "5")
    plan = trace(
        repository("python train.py --out=o\nwhile true; do echo waiting; sleep 60; done\npython eval.py\n")
    )
    assert [step.argv[1] for step in plan.steps] == ["train.py"]
    assert "did not end" in plan.notes[1]


@pytest.mark.parametrize(
    "loop",
    [
        "while true; do x=1; [ -f o/never ]; done",
        "for n in 1 2 3 4 5 6 7 8; do [ -f o/$n ] || while :; do :; done; python eval.py --out=o; done",
    ],
)
def test_a_script_that_never_ends_is_not_run_again_and_again(
    repository: Make, monkeypatch: pytest.MonkeyPatch, loop: str
) -> None:
    runs: list[object] = []
    record = Sandbox.record

    def counted(self: Sandbox, *words: Any, **more: Any) -> Recording:
        runs.append(words)
        return record(self, *words, **more)

    monkeypatch.setattr(Sandbox, "record", counted)
    monkeypatch.setattr("tipc.plan.trace.record.sandbox.QUIET", 0.5)
    plan = trace(repository(f"python train.py --out=o\n{loop}\n"))
    assert plan.steps[0].argv[1] == "train.py"
    assert "did not end" in plan.notes[1]
    assert 2 <= len(runs) <= MOST_STOPPED


def test_a_script_that_fills_the_list_of_its_commands_did_not_end(
    repository: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tipc.plan.trace.record.sandbox.QUIET", 50.0)
    long = "x" * 100_000
    plan = trace(repository(f"python train.py --out=o\nwhile :; do : {long}; done\n"))
    assert plan.steps[0].argv[1] == "train.py"
    assert "did not end" in plan.notes[1]


def test_endless_calls_are_no_plan(repository: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tipc.plan.trace.record.sandbox.MOST_CALLS", 40)
    with pytest.raises(UsageError, match="without end"):
        trace(repository("while true; do python train.py; done\n"))


def test_background_jobs_and_orphans_are_killed(repository: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIPC_TRACE_SECONDS", "30")
    token = uuid.uuid4().hex
    trace(
        repository(f"""
(while :; do read -t 1 -r line_{token} < <(cat /dev/zero | head -c 0); done) &
setsid nohup bash -c 'trap "" TERM HUP; while :; do : {token}; done' >/dev/null 2>&1 &
python train.py
""")
    )
    alive = [
        path.parent.name for path in Path("/proc").glob("[0-9]*/cmdline") if token.encode() in _read(path)
    ]
    assert alive == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_output_is_bounded(repository: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIPC_TRACE_SECONDS", "120")
    plan = trace(repository("python train.py\n(yes spam) \npython eval.py\n"))
    assert [step.argv[1] for step in plan.steps] == ["train.py", "eval.py"]


def test_a_machine_that_cannot_isolate_refuses(repository: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    config = repository()
    monkeypatch.setattr(sandbox, "_start", lambda job, seconds: {"refused": "unshare: no"})
    with pytest.raises(EnvironmentProblem, match="cannot be isolated") as caught:
        trace(config)
    assert "TIPC_TRACE_UNISOLATED=1" in str(caught.value)


def test_who_trusts_the_script_can_run_it_without_isolation(
    repository: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIPC_TRACE_UNISOLATED", "1")
    config = repository()
    before = fingerprint(tmp_path)
    open_plan = tracing.trace_upstream(config, "lite", config.parents[2], asked=True)
    assert fingerprint(tmp_path) == before
    assert any("without isolation" in note for note in open_plan.notes)
    monkeypatch.delenv("TIPC_TRACE_UNISOLATED")
    assert {(step.id, step.argv, step.cwd) for step in open_plan.steps} == {
        (step.id, step.argv, step.cwd) for step in trace(config).steps
    }


def test_nobody_who_did_not_ask_for_a_trace_runs_a_script_in_the_open(
    repository: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIPC_TRACE_UNISOLATED", "1")
    jobs = []

    def refuse(job: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        jobs.append(job)
        return {"refused": "unshare: no"}

    monkeypatch.setattr(sandbox, "_start", refuse)
    with pytest.raises(EnvironmentProblem, match="unshare: no"):
        tracing.trace_plan(repository(), "lite", PlanOptions())
    assert [job["isolate"] for job in jobs] == [True]


def test_a_wrong_time_limit_is_a_usage_error(repository: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIPC_TRACE_SECONDS", "soon")
    with pytest.raises(UsageError, match="soon"):
        trace(repository())


def test_the_copy_keeps_names_and_sizes_but_not_the_weight(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    (source / ".git").mkdir(parents=True)
    (source / "data").mkdir()
    (source / "data" / "big.bin").write_bytes(b"x" * 1_000_000)
    (source / "run.sh").write_text("echo\n", encoding="utf-8")
    (source / "run.sh").chmod(0o755)
    (source / "link").symlink_to("data/big.bin")
    (source / "link_out").symlink_to("/etc")
    listing = list_repository(str(source))
    assert listing.left_out == 0
    memory, entries = read_contents(str(source), listing)
    lay_out(memory, entries, str(target))
    os.close(memory)
    assert sorted(path.name for path in target.iterdir()) == ["data", "link", "link_out", "run.sh"]
    assert (target / "data" / "big.bin").stat().st_size == 1_000_000
    assert (target / "data" / "big.bin").stat().st_blocks == 0
    assert (target / "link").is_symlink()
    assert os.access(target / "run.sh", os.X_OK)
