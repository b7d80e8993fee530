"""The executors by name: ``tipc run --executor NAME``. Plug-ins add others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from tipc import hooks
from tipc.errors import UsageError, wording
from tipc.run.executors.executor import Executor
from tipc.suggestions import one_of


@dataclass(frozen=True)
class ExecutorKind:
    """A place where steps can run."""

    name: str
    title: str
    make: Callable[[], Executor]
    cores: Callable[[Executor], int]  # of its largest machine
    queues: bool = False  # it has a queue of its own: it is given more steps than can run at once


def _local() -> Executor:
    from tipc.run.executors.local import LocalExecutor

    return LocalExecutor()


def _local_cores(_executor: Executor) -> int:
    from tipc.plan.target.machine import this_machine

    return this_machine().cores


def _ray() -> Executor:
    from tipc.run.executors.ray_cluster import RayExecutor

    return RayExecutor()


def _ray_cores(executor: Executor) -> int:
    from tipc.run.executors.ray_cluster import RayExecutor

    assert isinstance(executor, RayExecutor)
    nodes = []
    for node in executor.ray.nodes():
        if node["Alive"]:
            nodes.append(node["Resources"])
    return max((int(node.get("CPU", 0)) for node in nodes), default=1) or 1


def tipc_executors() -> list[ExecutorKind]:
    """The built-in executors."""
    return [
        ExecutorKind("local", "on this machine", _local, _local_cores),
        ExecutorKind("ray", "on an existing Ray cluster", _ray, _ray_cores, queues=True),
    ]


def executor_kind(name: str) -> ExecutorKind:
    """An executor by its name, or an error that lists them. Plug-ins are asked for other names."""
    built_in = {kind.name: kind for kind in tipc_executors()}
    if name in built_in:
        return built_in[name]
    known = hooks.collect(
        "tipc_executors", ExecutorKind, lambda kind: kind.name, built_in=sys.modules[__name__]
    )
    if name not in known:
        raise UsageError(wording("there is no executor `{name}`", name=name), remedy=one_of(name, known))
    return known[name]
