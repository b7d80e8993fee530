"""The same tasks on a real Ray cluster of one node: same outcomes, nothing left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from execution_bench import Bench
from witness_scripts import EVALUATES, RANKS

from tipc.run.executors.ray_cluster import RayExecutor
from tipc.run.record.facts import facts_base, load_facts, read_arrays

STARTS = 4  # of a cluster
pytestmark = [pytest.mark.ray, pytest.mark.xdist_group("ray")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    ray = pytest.importorskip("ray")
    for attempt in range(STARTS):
        try:
            ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
            break
        except Exception:  # Ray's own limit: on a machine with much to do its node takes longer to start
            ray.shutdown()
            if attempt == STARTS - 1:
                raise
    yield
    ray.shutdown()


@pytest.fixture
def on_ray(cluster: None) -> Iterator[RayExecutor]:
    executor = RayExecutor(grace=0.5)
    yield executor
    executor.close()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nobody.invalid:6379"])
def test_without_a_cluster_none_is_started_and_the_remedy_is_said(address: str) -> None:
    pytest.importorskip("ray")
    code = "from tipc.run.executors.ray_cluster import RayExecutor\nRayExecutor()"
    env = {**os.environ, "RAY_ADDRESS": address}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert f"EnvironmentProblem: no Ray cluster answers at {address}: " in done.stderr
    assert "try: ray start --head" in done.stderr


def test_exit_codes_signals_and_logs_are_the_programs(bench: Bench, on_ray: RayExecutor) -> None:
    outcome = bench.run(on_ray, bench.task("sh", "-c", "echo hello; echo there >&2; exit 7"))
    assert (outcome.exit_code, outcome.signal, outcome.error) == (7, None, "")
    assert outcome.host == os.uname().nodename
    assert outcome.wall > 0
    assert bench.log() == b"hello\nthere\n"
    assert bench.run(on_ray, bench.task("sh", "-c", "kill -SEGV $$")).signal == signal.SIGSEGV
    assert bench.run(on_ray, bench.task("no-such-program")).error == "no such program: no-such-program"


def test_a_time_out_and_a_kill_end_the_whole_tree(bench: Bench, on_ray: RayExecutor) -> None:
    tree = "setsid sleep 1000 & touch up; sleep 1000"
    outcome = bench.run(on_ray, bench.task("sh", "-c", tree, timeout=0.5))
    assert outcome.timed_out
    assert not bench.alive()
    (bench.directory / "up").unlink()
    ticket = on_ray.start(bench.task("sh", "-c", tree))
    assert bench.eventually((bench.directory / "up").exists)
    on_ray.kill(ticket)
    [(ended, outcome)] = on_ray.wait(None)
    assert (ended, outcome.interrupted, outcome.timed_out) == (ticket, True, False)
    assert not bench.alive()


def test_a_log_that_the_node_cannot_write_to_is_sent(bench: Bench, on_ray: RayExecutor) -> None:
    on_ray._marker = lambda directory: Path("/nowhere/marker")  # type: ignore[method-assign]
    script = "echo first; while [ ! -e go ]; do sleep 0.05; done; head -c 20000000 /dev/zero; echo last"
    ticket = on_ray.start(bench.task("sh", "-c", script))
    assert bench.eventually(lambda: on_ray.wait(0.1) or bench.log() == b"first\n")
    (bench.directory / "go").touch()
    [(ended, outcome)] = on_ray.wait(None)
    assert (ended, outcome.exit_code) == (ticket, 0)
    assert bench.log() == b"first\n" + bytes(20_000_000) + b"last\n"


def test_a_task_waits_until_its_cores_are_free_and_can_be_killed_before(
    bench: Bench, on_ray: RayExecutor
) -> None:
    first = on_ray.start(bench.task("sh", "-c", "touch up; sleep 1000", name="first", cores=2))
    assert bench.eventually((bench.directory / "up").exists)
    second = on_ray.start(bench.task("touch", "ran", name="second", cores=2))
    assert on_ray.wait(0.5) == []
    assert not (bench.directory / "ran").exists()
    assert on_ray.begun(first) > 0
    assert on_ray.begun(second) == 0, "it waits in the queue: its time does not run yet"
    on_ray.kill(first)
    ended = dict(on_ray.wait(None))
    while second not in ended:
        ended.update(on_ray.wait(None))
    assert ended[first].interrupted
    assert ended[second].exit_code == 0
    assert (bench.directory / "ran").exists()


def test_a_worker_that_is_killed_is_told_and_leaves_nothing(bench: Bench, on_ray: RayExecutor) -> None:
    script = "setsid sleep 1000 & ps -o ppid= -p $PPID > keeper-parent; touch up; sleep 1000"
    ticket = on_ray.start(bench.task("sh", "-c", script))
    assert bench.eventually((bench.directory / "up").exists)
    on_ray.ray.kill(on_ray._running[ticket].actor)
    [(_ticket, outcome)] = on_ray.wait(None)
    assert f"lost with its worker on the node {os.uname().nodename} (" in outcome.error
    assert bench.eventually(lambda: not bench.alive())


def test_close_ends_what_runs(bench: Bench, cluster: None) -> None:
    executor = RayExecutor(grace=0.5)
    executor.start(bench.task("sh", "-c", "touch up; sleep 1000"))
    assert bench.eventually((bench.directory / "up").exists)
    executor.close()
    executor.close()
    assert not bench.alive()
    assert [outcome.interrupted for _ticket, outcome in executor.wait(0)] == [True]
    assert not list((bench.directory / "logs").glob(".tipc-*"))


def test_a_script_on_a_node_is_watched_and_its_facts_come_here(bench: Bench, on_ray: RayExecutor) -> None:
    bench.script("open('picture.png', 'w')\nopen('picture.png')", "opens.py")
    base = facts_base(bench.directory, 0, "step")
    outcome = bench.run(on_ray, bench.task(sys.executable, "opens.py", facts=base))
    assert outcome.exit_code == 0
    (process,) = load_facts(bench.directory, 0, "step", outcome.facts).processes
    assert process.images == (str(bench.directory / "picture.png"),)


@pytest.mark.paddle
def test_what_an_evaluation_on_a_node_fed_and_got_comes_here_as_arrays(
    bench: Bench, on_ray: RayExecutor
) -> None:
    bench.script(EVALUATES, "evaluates.py")
    base = facts_base(bench.directory, 0, "step")
    task = bench.task(sys.executable, "evaluates.py", facts=base, timeout=240.0)
    outcome = bench.run(on_ray, task)
    assert outcome.exit_code == 0, bench.log()
    facts = load_facts(bench.directory, 0, "step", outcome.facts)
    assert facts.main is not None
    [evaluation] = facts.main.evaluations
    [call] = evaluation.kept
    arrays = read_arrays(facts)
    printed = [float(word) for word in bench.log().splitlines()[-1].split()]
    [given] = [arrays[key] for key in call.inputs.values()]
    [got] = [arrays[key] for key in call.outputs.values()]
    assert np.array_equal(given, np.arange(6, dtype="float32").reshape(2, 3))
    assert np.allclose(got.reshape(-1), printed)


@pytest.mark.paddle
def test_every_rank_of_a_launch_on_a_node_is_seen(bench: Bench, on_ray: RayExecutor) -> None:
    bench.script(RANKS, "ranks.py")
    launch = (sys.executable, "-m", "paddle.distributed.launch", "--nproc_per_node=2", "--log_dir", "ranks")
    base = facts_base(bench.directory, 0, "step")
    env = {**bench.env, "OMP_NUM_THREADS": "1"}
    task = bench.task(*launch, "ranks.py", "a", env=env, facts=base, timeout=400.0, cores=2)
    outcome = bench.run(on_ray, task)
    assert outcome.exit_code == 0, bench.log()
    first, second = load_facts(bench.directory, 0, "step", outcome.facts).processes
    assert (first.rank, second.rank) == (0, 1)
    assert first.training is not None
    assert second.training is not None
    assert first.training.steps == second.training.steps == 4
    assert first.training.after == second.training.after  # they have exchanged gradients
