"""A Ray cluster of several nodes on this machine, in a process of its own: one is blind, one is killed.

Prints what became of the tasks as JSON. Called with a directory for the repository and the logs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

os.environ["RAY_AUTH_MODE"] = "disabled"  # before Ray is imported

import ray
from ray.cluster_utils import Cluster

from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.executors.ray_cluster import RayExecutor

MEMORY = 80 << 20
SCRIPT = "import sys, time; print('begun', flush=True); time.sleep(float(sys.argv[1])); print('done')"


def task(place: Path, name: str, seconds: float) -> Task:
    argv = (sys.executable, "train.py", str(seconds))
    return Task(name, argv, place / "repo", dict(os.environ), place / f"logs/{name}.log", 200.0)


def add_blind_node(cluster: Cluster, repo: Path) -> subprocess.Popen[bytes]:
    """A node that has an empty directory where the others have the repository."""
    known = len(alive())
    join = f"ray start --address={cluster.address} --num-cpus=1 --object-store-memory={MEMORY} --block"
    words = ["unshare", "-m", "bash", "-c", f"mount -t tmpfs none {repo} && exec {join}"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    nothing = subprocess.DEVNULL
    node = subprocess.Popen(words, stdout=nothing, stderr=nothing, env={**os.environ, "PATH": path})
    while len(alive()) == known and node.poll() is None:
        time.sleep(0.1)
    return node


def alive() -> list[Any]:
    return [node for node in ray.nodes() if node["Alive"]]


def wait_for(executor: RayExecutor, tickets: list[int]) -> list[TaskOutcome]:
    ended: dict[int, TaskOutcome] = {}
    while len(ended) < len(tickets):
        ended.update(executor.wait(1.0))
    return [ended[ticket] for ticket in tickets]


def blind_node(cluster: Cluster, executor: RayExecutor, place: Path) -> list[TaskOutcome]:
    """Tasks of which some come to the blind node first."""
    node = add_blind_node(cluster, place / "repo")
    try:
        tickets = [executor.start(task(place, f"seen{number}", 0.5)) for number in range(3)]
        return wait_for(executor, tickets)
    finally:
        node.terminate()
        node.wait()


def lost_node(cluster: Cluster, executor: RayExecutor, place: Path) -> list[TaskOutcome]:
    """Two tasks on two nodes, of which one is killed."""
    cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
    names = ("lost0", "lost1")
    tickets = [executor.start(task(place, name, 5.0)) for name in names]
    logs = [place / f"logs/{name}.log" for name in names]
    while not all(log.read_bytes() for log in logs):
        assert not executor.wait(0.1)
    where = executor._node_of(executor._running[tickets[0]])
    assert where is not None
    (victim,) = [node for node in cluster.worker_nodes if node.node_id == where.id]
    cluster.remove_node(victim, allow_graceful=False)
    return wait_for(executor, tickets)


def main() -> None:
    place = Path(sys.argv[1])
    (place / "repo").mkdir()
    (place / "repo/train.py").write_text(SCRIPT)
    head = {"num_cpus": 0, "object_store_memory": MEMORY, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    executor = RayExecutor(grace=0.5)
    told = {}
    try:
        told["blind"] = [asdict(one) for one in blind_node(cluster, executor, place)]
        told["shut_out"] = list(executor._shut_out.values())
        told["lost"] = [asdict(one) for one in lost_node(cluster, executor, place)]
    finally:
        executor.close()
        ray.shutdown()
        cluster.shutdown()
    (place / "told.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
