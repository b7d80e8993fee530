"""Steps as processes of this machine, each with a keeper that ends and measures its whole tree."""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tipc.command import Command
from tipc.errors import EnvironmentProblem
from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.executors.gpu_use import EVERY, GpuUse, watch
from tipc.run.executors.spawner import Spawner
from tipc.run.executors.warmth import WarmServer, Warmth
from tipc.run.guest.proctree import Handle, descendants, memory
from tipc.run.guest.wire import receive, receive_bytes, send
from tipc.run.record.disk import disk_problem
from tipc.run.record.facts import forget_facts, store_facts

GRACE = 5.0  # seconds between TERM and KILL
# Modules of packages for which a server is extended. To have 77 took a server 0.3 s; a script imports them
# in 0.06 s.
WORTH_A_SERVER = 200
PATIENCE = 20.0  # seconds that a task waits for a server to be ready: then it runs cold


@dataclass
class _Running:
    """A task that was handed to a server."""

    task: Task
    spawner: Spawner
    server: WarmServer | None  # the warm one that it was given to
    control: socket.socket
    interrupted: bool = False  # we have asked for its end
    gpu: GpuUse | None = None
    keeper: int = 0  # its pid, once the program runs
    step: Handle | None = None  # on the program
    begun: float = 0.0  # by the monotonic clock; 0: it has not


@dataclass(frozen=True)
class _Parked:
    """A task that waits for its server to be ready."""

    task: Task
    server: WarmServer
    until: float  # by the monotonic clock


class LocalExecutor:
    """Runs tasks here. A server of ours starts them, so that they end with us even if we are killed."""

    name = "local"
    worth_a_server = WORTH_A_SERVER

    def __init__(self, *, warm: bool = True, grace: float = GRACE) -> None:
        self.grace = grace
        self.warm = warm
        self.warmth = Warmth()
        self.host = socket.gethostname()
        self._selector = selectors.DefaultSelector()
        self._running: dict[int, _Running] = {}
        self._parked: dict[int, _Parked] = {}
        self._ended: list[tuple[int, TaskOutcome]] = []
        self._tickets = 0
        self._spawner: Spawner | None = None

    def start(self, task: Task) -> int:
        """Start the task, return its ticket; an impossible task ends at once with ``TaskOutcome.error``."""
        self._tickets += 1
        if task.facts is not None:
            forget_facts(task.facts)
        for key, _events in self._selector.select(0):  # a server may have become ready since the last wait
            if isinstance(key.data, WarmServer):
                self._hear_server(key.data)
        server = self._coming(task) if self.warm else None
        if server is None:
            self._begin(self._tickets, task, warm=self.warm)
        else:
            self._parked[self._tickets] = _Parked(task, server, time.monotonic() + PATIENCE)
        return self._tickets

    def _coming(self, task: Task) -> WarmServer | None:
        """The server that the task should wait for, which costs no more than to import paddle itself."""
        for outdated in self.warmth.outdated(task):
            self._forget(outdated)
            self._expect(self.warmth.start_again(outdated))
        if self.warmth.server(task) is not None:
            return None
        server = self.warmth.coming(task)
        if server is None:
            server = self.warmth.start_for(task)
            self._expect(server)
        return server

    def _unpark(self, server: WarmServer | None = None) -> None:
        """Begin tasks that have waited for this server, or long enough: warm if it is ready, else cold."""
        now = time.monotonic()
        for ticket, parked in list(self._parked.items()):
            if parked.server is server or parked.until <= now:
                del self._parked[ticket]
                self._begin(ticket, parked.task, warm=True)

    def _begin(self, ticket: int, task: Task, *, warm: bool) -> None:
        try:
            request = _request(task, self.grace)
            gpu = watch(task.gpus)
            server, spawner, control = self._hand_over(task, request, warm=warm)
        except (OSError, EnvironmentProblem) as error:
            self._end(
                ticket, TaskOutcome(None, error=f"nothing can be started: {error}", started=time.time())
            )
        else:
            self._running[ticket] = _Running(task, spawner, server, control, gpu=gpu)
            self._selector.register(control, selectors.EVENT_READ, ticket)

    def warm_up(self, task: Task) -> None:
        """Start the warm server for tasks of this kind now, without waiting for it, if they can have one."""
        if self.warm:
            self._expect(self.warmth.paddle_seen(task))

    def get_ready(self, task: Task) -> None:
        """A task like this one will come: start its warm server now if its script speaks of paddle."""
        if self.warm:
            self._expect(self.warmth.start_for(task))

    def is_warm(self, task: Task) -> bool:
        """Whether a warm server is ready for the task, with nothing in it that some script has set."""
        if not self.warm:
            return False
        server = self.warmth.server(task)
        return server is not None and not server.needs

    def memory(self, ticket: int) -> int:
        """Bytes that a task holds now; 0: it has not begun, or has ended."""
        running = self._running.get(ticket)
        if running is None or not running.keeper:
            return 0
        return memory(running.keeper)

    def processes(self, ticket: int) -> list[int]:
        """The processes of a task; none: it has not begun, or has ended."""
        running = self._running.get(ticket)
        if running is None or not running.keeper:
            return []
        return _below(running.keeper)

    def wait(self, timeout: float | None) -> list[tuple[int, TaskOutcome]]:
        """The tasks that have ended since the last call; waits for one at most ``timeout`` seconds."""
        until = float("inf")
        if timeout is not None:
            until = time.monotonic() + timeout
        while (self._running or self._parked) and not self._ended:
            for key, _events in self._selector.select(self._pause(until)):
                if isinstance(key.data, WarmServer):
                    self._hear_server(key.data)
                else:
                    self._hear(key.data)
            self._unpark()
            if time.monotonic() >= until:
                break
        ended, self._ended = self._ended, []
        return ended

    def begun(self, ticket: int) -> float:
        """When the task's own program began, by the monotonic clock; 0: it waits for its server."""
        running = self._running.get(ticket)
        if running is None:
            return 0.0
        return running.begun

    def _pause(self, until: float) -> float | None:
        """Seconds to sleep: until then, until a task has waited long enough for its server, or until the GPUs
        are to be asked again. None: for ever."""
        for parked in self._parked.values():
            until = min(until, parked.until)
        pause = min(self._sample_gpus(), max(0.0, until - time.monotonic()))
        if pause == float("inf"):
            return None
        return pause

    def kill(self, ticket: int) -> None:
        """End a task's whole tree, TERM then KILL; its outcome comes through ``wait`` as interrupted."""
        if self._parked.pop(ticket, None) is not None:
            self._end(ticket, TaskOutcome(None, interrupted=True, started=time.time(), host=self.host))
        running = self._running.get(ticket)
        if running and not running.interrupted:
            running.interrupted = True
            with contextlib.suppress(OSError):  # it has just ended by itself
                send(running.control, {"kill": True})

    def close(self) -> None:
        """Kill what still runs, wait for it, and let go of everything. Can be called twice."""
        for ticket in [*self._running, *self._parked]:
            self.kill(ticket)
        ended = []
        while self._running:
            ended += self.wait(None)
        self._ended = ended + self._ended
        self.warmth.close()
        if self._spawner:
            self._spawner.close()
            self._spawner = None
        self._selector.close()

    def _sample_gpus(self) -> float:
        """Ask NVML about the steps that hold a GPU; the seconds until the next time, which may never come."""
        pause = float("inf")
        for running in self._running.values():
            if running.gpu and running.keeper:
                running.gpu.sample_if_due(partial(_below, running.keeper))
                pause = EVERY
        return pause

    def _hand_over(
        self, task: Task, request: dict[str, Any], *, warm: bool
    ) -> tuple[WarmServer | None, Spawner, socket.socket]:
        """Give the request to a warm server if one is ready for it, else to the cold one."""
        server = None
        if warm:
            server = self.warmth.server(task)
        if server:
            with contextlib.suppress(OSError):  # it has just died: nothing has started yet
                return server, server.spawner, server.spawner.start(request)
        return None, *self._cold(request)

    def _cold(self, request: dict[str, Any]) -> tuple[Spawner, socket.socket]:
        """Hand a request to the server, started when first needed, and again if it was killed."""
        if self._spawner:
            with contextlib.suppress(OSError):
                return self._spawner, self._spawner.start(request)
            self._spawner.close()
        self._spawner = Spawner()
        return self._spawner, self._spawner.start(request)

    def _hear(self, ticket: int) -> None:
        """Take one message of a keeper."""
        running = self._running[ticket]
        message = receive(running.control)
        if message is None and running.server and not running.keeper and not running.interrupted:
            self._selector.unregister(running.control)
            running.control.close()
            self._begin(ticket, running.task, warm=False)  # the warm server died before the step had begun
        elif message is None:
            if running.step:
                running.step.kill_tree()  # its server does that, too, unless it was killed as well
            error = "the keeper of the step was killed"
            if running.interrupted:
                error = ""  # by us
            self._end(ticket, TaskOutcome(None, error=error, interrupted=running.interrupted, host=self.host))
        elif "outcome" in message:
            self._hear_outcome(ticket, running, message)
        elif "pid" in message:
            running.keeper = message["keeper"]
            running.step = Handle.on(message["pid"])
            running.begun = time.monotonic()
        elif self.warm:
            self._hear_of_imports(running, message)

    def _hear_of_imports(self, running: _Running, message: Mapping[str, Any]) -> None:
        """What a step imports: the next one can have it from a server."""
        server = running.server
        if server is None:
            if "paddle" in message:
                self._expect(self.warmth.paddle_seen(running.task, message["paddle"]))
        elif "packages" in message:
            if len(message["packages"]) >= self.worth_a_server:
                self._expect(self.warmth.packages_seen(server, message["packages"]))
        elif message.get("needs"):
            self._expect(self.warmth.needs_seen(running.task, server, message["needs"]))
            if self.warmth.is_useless(server):
                self._forget(server)

    def _hear_outcome(self, ticket: int, running: _Running, message: Mapping[str, Any]) -> None:
        """The step has ended. What its witness told follows the message."""
        outcome = self._outcome(running, message["outcome"])
        told = message.get("witness")
        try:
            if running.task.facts is not None:
                bodies = []
                if told:
                    bodies = [receive_bytes(running.control, head["bytes"]) for head in told["arrays"]]
                outcome = replace(outcome, facts=store_facts(running.task.facts, told, bodies))
        except OSError as error:
            raise disk_problem(error, running.task.log.parent) from error
        finally:
            # Also where there is no room for the facts: a task that never ended would be waited for.
            self._end(ticket, outcome, idle=message.get("idle", False))

    def _expect(self, server: WarmServer | None) -> None:
        if server:
            self._selector.register(server.spawner.socket, selectors.EVENT_READ, server)
        for old in self.warmth.surplus():
            self._forget(old)

    def _forget(self, server: WarmServer) -> None:
        for gone in self.warmth.retire(server):
            # Closed as it is: the number of its descriptor is free, and the next socket may have it.
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(gone.spawner.socket)
            self._unpark(gone)

    def _hear_server(self, server: WarmServer) -> None:
        """A warm server is ready, or has gone."""
        if server in self.warmth.servers and not self.warmth.hear(server):
            self._forget(server)
            self._expect(self.warmth.without_refused(server))
        elif server.ready:
            self._unpark(server)

    def _outcome(self, running: _Running, told: Mapping[str, Any]) -> TaskOutcome:
        known = {}
        for name in TaskOutcome.__dataclass_fields__:
            if name in told:
                known[name] = told[name]
        if running.gpu:
            known.update(peak_gpu=running.gpu.peak, gpu_util=running.gpu.mean)
        return replace(TaskOutcome(None, host=self.host), **known)

    def _end(self, ticket: int, outcome: TaskOutcome, idle: bool = False) -> None:
        running = self._running.pop(ticket, None)
        if running:
            self._selector.unregister(running.control)
            if running.step:
                running.step.close()
            if running.server and outcome.warm:
                self.warmth.suits(running.task, running.server)
            if idle:
                running.spawner.give_back(running.control)
            else:
                running.control.close()
        self._ended.append((ticket, outcome))


def _below(keeper: int) -> list[int]:
    return [pid for pid, _parent in descendants(keeper)]


def _request(task: Task, grace: float) -> dict[str, Any]:
    """A task as a keeper wants to be told it."""
    command = Command(task.argv)
    return {
        "argv": list(task.argv),
        "script_at": command.program_at,
        "watched": task.facts is not None and command.program_at is not None,
        "launched": bool(command.launcher),
        "cwd": str(task.cwd),
        "env": dict(task.env),
        "log": str(task.log),
        "timeout": task.timeout,
        "grace": grace,
    }
