"""Steps on the nodes of a Ray cluster: there a LocalExecutor runs them, so they end and are measured alike.

The repository must be at the same path on every node, and tipc installed there: what a step leaves is needed
by the next, wherever that runs. Only the log needs no shared file system: if the node does not see the
driver's directory, the log is sent.

What is the failure of a node is not that of its step: a node that does not see the repository is shut out,
from one that dies its steps go to others, and both are named.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tipc.errors import EnvironmentProblem, wording
from tipc.message import english_text
from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.executors.local import GRACE, LocalExecutor
from tipc.run.record.facts import forget_facts, put_facts, take_facts

POLL = 0.2  # seconds: how soon a node hears of a kill
STREAM = 1.0  # seconds between two looks at a log that is sent
BLOCK = 8 << 20
PATIENCE = 10.0  # after the grace of a kill: then the node does not answer
MOST_LOST = 3  # nodes that may die under one task, and it begins again


@dataclass(frozen=True)
class ClusterNode:
    """A machine of the cluster."""

    id: str  # Ray's
    name: str  # people's: its host name and address


@dataclass(frozen=True)
class Unseen:
    """In place of an outcome: the node lacks what the task needs, so it was not started there."""

    path: str
    node: ClusterNode


class RemoteStep:
    """Lives on a node for one task: runs it, ends it when told to, reads its log aloud."""

    def __init__(
        self, task: Task, marker: str, grace: float, assigned_gpus: bool, landmarks: tuple[str, ...]
    ) -> None:
        self.landmarks = landmarks
        self.shared = os.path.exists(marker)
        self.log = task.log
        if not self.shared:
            self.log = Path(tempfile.mkdtemp(prefix="tipc-")) / "step.log"
        self.facts: Path | None = None
        if task.facts:
            self.facts = Path(tempfile.mkdtemp(prefix="tipc-")) / "step"
        self.task = replace(task, log=self.log, facts=self.facts)
        if assigned_gpus and "CUDA_VISIBLE_DEVICES" in os.environ:  # those that Ray has chosen here
            chosen = os.environ["CUDA_VISIBLE_DEVICES"]
            env = {**task.env, "CUDA_VISIBLE_DEVICES": chosen}
            self.task = replace(self.task, env=env, gpus=tuple(chosen.split(",")))
        self.grace = grace
        self.stop = threading.Event()

    def node(self) -> ClusterNode:
        """Where this is."""
        import ray

        address = ray.util.get_node_ip_address()
        return ClusterNode(ray.get_runtime_context().get_node_id(), f"{os.uname().nodename} ({address})")

    def run(self) -> TaskOutcome | Unseen:
        """Run the task to its end, if what it needs is here."""
        for path in self.landmarks:
            if not os.path.exists(path):
                return Unseen(path, self.node())
        executor = LocalExecutor(warm=False, grace=self.grace)
        try:
            ticket = executor.start(self.task)
            ended: list[tuple[int, TaskOutcome]] = []
            while not ended:
                if self.stop.is_set():
                    executor.kill(ticket)
                ended = executor.wait(POLL)
            return ended[0][1]
        finally:
            executor.close()

    def kill(self) -> None:
        """End the task."""
        self.stop.set()

    def take_facts(self) -> tuple[bytes, bytes] | None:
        """What the witness saw of the task that has ended: its files, which leave this node."""
        if self.facts is None:
            return None
        try:
            return take_facts(self.facts)
        except OSError:
            return None
        finally:
            shutil.rmtree(self.facts.parent, ignore_errors=True)

    def read(self, offset: int) -> bytes | None:
        """What the log has from ``offset`` on; None if it is the driver's own file."""
        if self.shared:
            return None
        try:
            with self.log.open("rb") as file:
                file.seek(offset)
                return file.read(BLOCK)
        except FileNotFoundError:
            return b""


@dataclass
class _Running:
    task: Task
    actor: Any
    node: Any  # Ray's reference to where it is
    result: Any  # and to the outcome
    started: float
    notes: tuple[str, ...] = ()
    lost: int = 0  # nodes that died under it
    killed: float | None = None
    received: int = 0  # bytes of the log
    shared: bool = False
    look: float = 0.0  # when the log is looked at next
    begun: float = 0.0  # when it was seen on a node, by the monotonic clock; 0: it waits in Ray's queue


def landmarks(task: Task) -> tuple[str, ...]:
    """What a node must see to run a task: its directory, and the files that its command names."""
    files = []
    for word in task.argv:
        if word and "\0" not in word:
            files.append(task.cwd / word)
    return (str(task.cwd), *(str(path) for path in files if path.is_file()))


def _knock(address: str) -> None:
    """Raise OSError at once where nobody listens: Ray itself would try for minutes."""
    host, _colon, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()


class RayExecutor:
    """Runs tasks on a Ray cluster that is there; each claims the cores and GPUs that it asks for.

    ``address`` is Ray's: None or "auto" finds the cluster of this machine or of ``RAY_ADDRESS``; "local"
    starts one here, for this process only. None is ever started unasked.
    """

    name = "ray"

    def __init__(self, address: str | None = None, *, grace: float = GRACE) -> None:
        try:
            import ray
        except ImportError as error:
            raise EnvironmentProblem("ray is not installed", remedy="pip install 'tipc[ray]'") from error
        self.ray: Any = ray
        self.grace = grace
        self._ours = not ray.is_initialized()
        if self._ours:
            address = address or os.environ.get("RAY_ADDRESS", "auto")
            try:
                _knock(address)
                ray.init(address, log_to_driver=False, logging_level="ERROR")
            except (OSError, ValueError, RuntimeError) as error:
                raise EnvironmentProblem(
                    wording(
                        "no Ray cluster answers at {address}: {why}",
                        address=address,
                        why=str(error).splitlines()[0],
                    ),
                    remedy="ray start --head, or set RAY_ADDRESS to the address of one;"
                    " if it wants a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN as Ray documents",
                ) from error
        self._remote = ray.remote(max_concurrency=4)(RemoteStep)
        self._running: dict[int, _Running] = {}
        self._ended: list[tuple[int, TaskOutcome]] = []
        self._tickets = 0
        self._markers: dict[Path, Path] = {}
        self._shut_out: dict[str, str] = {}  # nodes that do not see the repository: id → name

    def start(self, task: Task) -> int:
        """Start the task, return its ticket; it waits in the cluster until its cores and GPUs are free."""
        self._tickets += 1
        ticket = self._tickets
        if task.facts is not None:
            forget_facts(task.facts)
        try:
            task.log.parent.mkdir(parents=True, exist_ok=True)
            task.log.write_bytes(b"")
        except OSError as error:
            why = f"the log {task.log} cannot be written: {error.strerror}"
            self._ended.append((ticket, TaskOutcome(126, error=why, started=time.time())))
            return ticket
        self._running[ticket] = self._send(task)
        return ticket

    def _send(self, task: Task) -> _Running:
        """Give a task to the cluster, but to no node that is shut out."""
        marker = self._marker(task.log.parent)
        options: dict[str, Any] = {
            "num_cpus": task.cores,
            "num_gpus": len(task.gpus),
            "name": f"tipc-{uuid.uuid4().hex[:8]}",
        }
        if self._shut_out:
            from ray.util.scheduling_strategies import NodeLabelSchedulingStrategy, NotIn

            options["scheduling_strategy"] = NodeLabelSchedulingStrategy(
                hard={"ray.io/node-id": NotIn(*self._shut_out)}
            )
        actor = self._remote.options(**options).remote(
            task, str(marker), self.grace, bool(task.gpus), landmarks(task)
        )
        return _Running(task, actor, actor.node.remote(), actor.run.remote(), time.time())

    def wait(self, timeout: float | None) -> list[tuple[int, TaskOutcome]]:
        """The tasks that have ended since the last call; waits for one at most ``timeout`` seconds."""
        until = float("inf")
        if timeout is not None:
            until = time.monotonic() + timeout
        while self._running and not self._ended:
            left = min(STREAM, max(0.0, until - time.monotonic()))
            results = {running.result: ticket for ticket, running in self._running.items()}
            done, _waiting = self.ray.wait(list(results), timeout=left)
            for result in done:
                self._end(results[result])
            self._look_after()
            if time.monotonic() >= until:
                break
        ended, self._ended = self._ended, []
        return ended

    def begun(self, ticket: int) -> float:
        """When the task was seen on a node, by the monotonic clock; 0: it waits in the cluster's queue."""
        running = self._running.get(ticket)
        if running is None:
            return 0.0
        return running.begun

    def kill(self, ticket: int) -> None:
        """End a task's whole tree, TERM then KILL; its outcome comes through ``wait`` as interrupted."""
        running = self._running.get(ticket)
        if running and running.killed is None:
            running.killed = time.monotonic()
            running.actor.kill.remote()

    def close(self) -> None:
        """Kill what still runs, wait for it, and let go of the cluster. Can be called twice."""
        for ticket in list(self._running):
            self.kill(ticket)
        ended = []
        while self._running:
            ended += self.wait(None)
        self._ended = ended + self._ended
        for marker in self._markers.values():
            marker.unlink(missing_ok=True)
        self._markers.clear()
        if self._ours:
            self._ours = False
            self.ray.shutdown()

    def _marker(self, directory: Path) -> Path:
        """A file beside the logs: a node that sees it can write there itself."""
        if directory not in self._markers:
            marker = directory / f".tipc-{uuid.uuid4().hex}"
            marker.touch()
            self._markers[directory] = marker
        return self._markers[directory]

    def _look_after(self) -> None:
        """Fetch the logs that are sent, and give up on nodes that do not end what they were told to end."""
        now = time.monotonic()
        self._see_begun(now)
        for ticket, running in list(self._running.items()):
            if running.killed is not None and now > running.killed + self.grace + PATIENCE:
                self._lost(ticket, "the node did not answer")
            elif now >= running.look and not running.shared:
                running.look = now + STREAM
                self._fetch(running, timeout=POLL)

    def _see_begun(self, now: float) -> None:
        """Note which tasks have left the queue: one on a node can say where it is."""
        waiting = {}
        for running in self._running.values():
            if not running.begun:
                waiting[running.node] = running
        if waiting:
            placed, _queued = self.ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
            for node in placed:
                waiting[node].begun = now

    def _fetch(self, running: _Running, timeout: float) -> None:
        """Append to the log what is new of it on the node."""
        with contextlib.suppress(self.ray.exceptions.RayError, OSError):
            block = b" " * BLOCK
            while block and len(block) == BLOCK:
                block = self.ray.get(running.actor.read.remote(running.received), timeout=timeout)
                if block is None:
                    running.shared = True
                    return
                with running.task.log.open("ab") as file:
                    running.received += file.write(block)

    def _end(self, ticket: int) -> None:
        running = self._running[ticket]
        try:
            outcome = self.ray.get(running.result)
        except self.ray.exceptions.ActorUnavailableError:
            # Whether only the worker is gone or its node with it, Ray knows some seconds later: ask again.
            time.sleep(POLL)
            running.result = running.actor.node.remote()
            return
        except self.ray.exceptions.RayError as error:
            self._end_lost(ticket, error)
            return
        if isinstance(outcome, ClusterNode):
            note = english_text(
                "the node {name} could not be reached; the step starts again", name=outcome.name
            )
            self._send_again(ticket, note)
            return
        if isinstance(outcome, Unseen):
            self._end_unseen(ticket, outcome)
            return
        if not running.shared:
            self._fetch(running, timeout=PATIENCE)
        self._drop(ticket, self._with_facts(running, outcome))

    def _with_facts(self, running: _Running, outcome: TaskOutcome) -> TaskOutcome:
        """Bring the facts here; what was written is what was seen, whatever the node did with it since."""
        if running.task.facts is None or not outcome.facts:
            return outcome
        files = None
        with contextlib.suppress(self.ray.exceptions.RayError):
            files = self.ray.get(running.actor.take_facts.remote(), timeout=PATIENCE)
        digest = ""
        if files:
            digest = put_facts(running.task.facts, files)
        return replace(outcome, facts=digest)

    def _end_unseen(self, ticket: int, unseen: Unseen) -> None:
        """A node lacks what the task needs: no more tasks for it, and this one to another."""
        node = unseen.node
        self._shut_out[node.id] = node.name
        note = english_text(
            "the node {name} does not see {path} and is not used any more",
            name=node.name,
            path=str(unseen.path),
        )
        if self._alive() - set(self._shut_out):
            self._send_again(ticket, note)
        else:
            names = ", ".join(self._shut_out.values())
            self._lost(ticket, f"no node of the cluster sees {unseen.path}: {names}")

    def _end_lost(self, ticket: int, error: Exception) -> None:
        """The worker has died. With its node: the task begins again on another."""
        running = self._running[ticket]
        node = self._node_of(running)
        name = node.name if node else "unknown"
        node_died = "node has died" in str(error) or (node is not None and node.id not in self._alive())
        if node_died and running.killed is None and running.lost < MOST_LOST and self._alive():
            running.lost += 1
            self._send_again(
                ticket, english_text("the node {name} was lost; the step starts again on another", name=name)
            )
            return
        what = "its node" if node_died else "its worker on the node"
        self._lost(ticket, f"the step was lost with {what} {name}: {str(error).splitlines()[0]}")

    def _send_again(self, ticket: int, note: str) -> None:
        """Begin a task anew, as if it had never been begun: with an empty log."""
        before = self._running[ticket]
        self.ray.kill(before.actor)
        before.task.log.write_bytes(b"")
        again = self._send(before.task)
        self._running[ticket] = replace(again, notes=(*before.notes, note), lost=before.lost)
        if before.killed is not None:
            self.kill(ticket)

    def _alive(self) -> set[str]:
        """The ids of the nodes that the cluster has now."""
        found = set()
        for node in self.ray.nodes():
            if node["Alive"]:
                found.add(node["NodeID"])
        return found

    def _node_of(self, running: _Running) -> ClusterNode | None:
        """Where a task runs or ran; None if it never came to a node."""
        try:
            node: ClusterNode = self.ray.get(running.node, timeout=POLL)
        except self.ray.exceptions.RayError:
            return None
        return node

    def _lost(self, ticket: int, why: str) -> None:
        """The node is gone or silent: what ran there has ended with Ray's worker, and so it is told."""
        running = self._running[ticket]
        killed = running.killed is not None
        if killed:
            why = ""  # it was to end
        wall = time.time() - running.started
        outcome = TaskOutcome(None, interrupted=killed, error=why, started=running.started, wall=wall)
        self._drop(ticket, outcome)

    def _drop(self, ticket: int, outcome: TaskOutcome) -> None:
        running = self._running.pop(ticket)
        self.ray.kill(running.actor)
        self._ended.append((ticket, replace(outcome, notes=running.notes)))
