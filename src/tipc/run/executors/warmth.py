"""Which tasks can run as a fork of a process that has imported paddle, and the servers that do it.

A server serves one interpreter, directory and environment. It is started with the first script of that kind
that speaks of paddle, which then waits for it instead of importing paddle itself, or when a step was seen to
load paddle: who does not use it pays nothing. Wherever a server cannot be the same as a fresh interpreter, a
task runs cold.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tipc.command import Command
from tipc.errors import EnvironmentProblem
from tipc.run.executors.executor import Task
from tipc.run.executors.foretold import variables_before_paddle
from tipc.run.executors.spawner import Spawner
from tipc.run.guest.installed import Installed, installed_in
from tipc.run.guest.wire import receive

# Variables that may differ from task to task: no import reads them (where a GPU is seen there is no server).
FREE = re.compile(r"TIPC_.*|CUDA_VISIBLE_DEVICES|PWD|OLDPWD|SHLVL|_|COLUMNS|LINES")
LAUNCHER = "paddle.distributed.launch"
OPTIONS_OF_RANKS = ("-u",)  # with which it starts its ranks, whatever its own are
MOST_SERVERS = 3  # each holds some 300 MB
MOST_ATTEMPTS = 5  # to have a server with more packages


@dataclass(frozen=True)
class Kind:
    """Tasks that one server can serve, if what their scripts set before they import is the same as well."""

    interpreter: str
    options: tuple[str, ...]  # of the interpreter: ``-I`` for a probe, ``-X dev``, …
    cwd: Path
    env: frozenset[tuple[str, str]]


@dataclass
class WarmServer:
    """A server that has imported paddle, or is about to."""

    kind: Kind
    needs: Mapping[str, str | None]  # what scripts set before they import, on top of the kind's variables
    output: IO[bytes]
    spawner: Spawner
    ready: bool = False
    origin: WarmServer | None = None  # the one that it is a fork of, with more packages
    packages: Sequence[str] = ()  # modules of those
    refused: Sequence[str] = ()  # those of them that it could not have
    attempt: int = 1  # to have packages; each leaves out what the one before could not have
    installed: Installed = field(default_factory=dict)  # packages, when it was started
    used: float = field(default_factory=time.monotonic)  # the last time

    @property
    def is_outdated(self) -> bool:
        """Whether packages were installed or removed since it was started."""
        return _are_others_now(self.installed)


def kind_of(task: Task) -> Kind | None:
    """The kind of a task that is ``python [options] script.py …`` on a CPU, or the launcher of one; None if
    it must run cold."""
    command = Command(task.argv)
    if not task.warm or task.gpus or not command.script.endswith(".py"):
        return None
    options = command.before_script[1:]
    if command.launcher:
        if options[:2] != ("-m", LAUNCHER):
            return None
        options = OPTIONS_OF_RANKS
    interpreter = shutil.which(command.interpreter, path=task.env.get("PATH"))
    if interpreter is None or not (task.cwd / command.script).is_file():
        return None
    env = set()
    for name, value in task.env.items():
        if not FREE.fullmatch(name):
            env.add((name, value))
    program = os.path.join(task.cwd, interpreter)
    return Kind(program, options, task.cwd, frozenset(env))


@dataclass
class Warmth:
    """The servers of one executor, and what it has learnt about scripts."""

    servers: list[WarmServer] = field(default_factory=list)
    problems: dict[Kind, str] = field(default_factory=dict)  # why a kind stays cold
    _installed: dict[Kind, Installed] = field(default_factory=dict)  # packages, when it had that problem
    _extended: set[Kind] = field(default_factory=set)  # for which more packages were asked
    _retired: list[WarmServer] = field(default_factory=list)
    _needs: dict[tuple[Kind, str], Mapping[str, str | None]] = field(default_factory=dict)
    _latest: dict[Kind, Mapping[str, str | None]] = field(default_factory=dict)
    _foretold: dict[tuple[Kind, str], Mapping[str, str] | None] = field(default_factory=dict)
    _misread: set[Kind] = field(default_factory=set)  # a script of it did not do what its text tells

    def server(self, task: Task) -> WarmServer | None:
        """A server that is ready for the task."""
        if not self.servers:
            return None
        return self._server(task, ready=True)

    def outdated(self, task: Task) -> list[WarmServer]:
        """Servers of the task's kind that lack what was installed since, as by a step that prepares."""
        kind = kind_of(task)
        return [server for server in self.servers if server.kind == kind and server.is_outdated]

    def start_again(self, outdated: WarmServer) -> WarmServer | None:
        """A server in the place of one that lacks what was installed since."""
        self._extended.discard(outdated.kind)
        return self._start(outdated.kind, outdated.needs)

    def coming(self, task: Task) -> WarmServer | None:
        """A server for the task that is about to be ready."""
        return self._server(task, ready=False)

    def _server(self, task: Task, *, ready: bool) -> WarmServer | None:
        kind = kind_of(task)
        if kind is None:
            return None
        needs = self._needs_of(kind, task)
        if needs and Command(task.argv).launcher:
            return None  # the launcher itself needs nothing: it would be another than it is
        for server in self.servers:
            if server.ready == ready and server.kind == kind and server.needs == needs:
                return server
        return None

    def _needs_of(self, kind: Kind, task: Task) -> Mapping[str, str | None]:
        """What a script sets before it imports: as it was seen to do, else as its text tells, else as others
        of its kind do."""
        known = self._needs.get((kind, Command(task.argv).script))
        if known is None:
            known = self._told_of(kind, task)
        if known is None:
            known = self._latest.get(kind, {})
        return known

    def _told_of(self, kind: Kind, task: Task) -> Mapping[str, str] | None:
        """What a script sets before it imports paddle, by its text; None: that does not tell it."""
        if kind in self._misread:
            return None
        script = Command(task.argv).script
        if (kind, script) not in self._foretold:
            told = variables_before_paddle(task.cwd / script, task.cwd)
            if told is not None:
                told = {name: value for name, value in told.items() if task.env.get(name) != value}
            self._foretold[kind, script] = told
        return self._foretold[kind, script]

    def start_for(self, task: Task) -> WarmServer | None:
        """A server for a task whose script was not seen yet, if that will import paddle as far as can be
        told, and no server is like it."""
        kind = kind_of(task)
        if kind is None or (kind, Command(task.argv).script) in self._needs:
            return None
        needs = self._told_of(kind, task)
        if needs is None or (needs and Command(task.argv).launcher):
            return None
        return self._start(kind, needs)

    def paddle_seen(self, task: Task, changed: Mapping[str, str | None] | None = None) -> WarmServer | None:
        """A task loads paddle: start a server for the next of its kind. None: it cannot, or is there.

        ``changed`` are the variables that its script has changed before, where that is known.
        """
        kind = kind_of(task)
        if kind is None:
            return None
        if changed is not None:
            self._learn(kind, task, changed)
        needs = self._latest.get(kind, {})
        if needs and Command(task.argv).launcher:
            return None
        return self._start(kind, needs)

    def needs_seen(
        self, task: Task, server: WarmServer, changed: Mapping[str, str | None]
    ) -> WarmServer | None:
        """A script changes variables before it imports: others probably do the same. A server for those."""
        self._learn(server.kind, task, {**server.needs, **changed})
        if Command(task.argv).launcher:
            return None
        return self._start(server.kind, self._latest[server.kind])

    def _learn(self, kind: Kind, task: Task, changed: Mapping[str, str | None]) -> None:
        """Keep what of these variables the script of a task really changes."""
        needs = {}
        for name, value in changed.items():
            if task.env.get(name) != value:
                needs[name] = value
        script = Command(task.argv).script
        if self._foretold.get((kind, script), needs) not in (needs, None):
            self._misread.add(kind)
        self._needs[kind, script] = needs
        self._latest[kind] = needs

    def packages_seen(self, server: WarmServer, names: Sequence[str]) -> WarmServer | None:
        """A step that runs warm has loaded modules of packages: a server that has them for the next steps.

        None: it is there, or has been tried.
        """
        if not names or server.kind in self._extended or server not in self.servers:
            return None
        self._extended.add(server.kind)
        return self._branch(server, names)

    def without_refused(self, server: WarmServer) -> WarmServer | None:
        """Another server in place of one that could not have all its packages. None: that is not the case."""
        left = [name for name in server.packages if name not in server.refused]
        if server.origin not in self.servers or not left or len(left) == len(server.packages):
            return None
        if server.attempt == MOST_ATTEMPTS:
            return None
        return self._branch(server.origin, left, server.attempt + 1)

    def _branch(self, server: WarmServer, names: Sequence[str], attempt: int = 1) -> WarmServer | None:
        try:
            spawner = server.spawner.branch({"packages": list(names)})
        except OSError:
            return None
        branch = WarmServer(server.kind, server.needs, server.output, spawner, origin=server, packages=names)
        branch.attempt = attempt
        branch.installed = server.installed
        self.servers.insert(0, branch)  # before the one that has less
        return branch

    def surplus(self) -> list[WarmServer]:
        """The servers above the limit, those first that have not been used for longest."""
        whole = [server for server in self.servers if server.origin is None]
        by_age = sorted(whole, key=lambda server: server.used)
        return by_age[: max(0, len(by_age) - MOST_SERVERS)]

    def suits(self, task: Task, server: WarmServer) -> None:
        """The task ran warm on this server, and so will the next of the same script."""
        self._needs[server.kind, Command(task.argv).script] = server.needs
        server.used = time.monotonic()

    def is_useless(self, server: WarmServer) -> bool:
        """No script that was seen can use this server."""
        for (kind, _script), needs in self._needs.items():
            if kind == server.kind and needs == server.needs:
                return False
        return True

    def _start(self, kind: Kind, needs: Mapping[str, str | None]) -> WarmServer | None:
        if kind in self.problems:
            if not _are_others_now(self._installed.get(kind, {})):
                return None
            del self.problems[kind]  # it may have been a package that was not there yet
        for server in self.servers:
            if server.kind == kind and server.needs == needs:
                return None
        env = dict(kind.env)
        for name, value in needs.items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        output = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the server)
        try:
            interpreter = [kind.interpreter, *kind.options]
            spawner = Spawner(interpreter, env=env, cwd=kind.cwd, output=output, arguments=["warm"])
        except EnvironmentProblem as problem:
            self.problems[kind] = problem.message
            return None
        server = WarmServer(kind, needs, output, spawner)
        self.servers.append(server)
        return server

    def hear(self, server: WarmServer) -> bool:
        """A server has something to say: that it is ready. False: it has gone, or is of no use."""
        told = receive(server.spawner.socket)
        if told is not None and "refused" in told:
            server.refused = told["refused"]
            return False
        if told is not None and "installed" in told:
            server.installed = told["installed"]
            return True
        if told is not None:
            server.ready = not server.is_outdated
            return server.ready
        if not server.ready and server.origin is None:
            server.output.seek(0)
            text = server.output.read().decode("utf-8", "replace").strip()
            self.problems[server.kind] = text.rpartition("\n")[2] or "it ended while it imported paddle"
            self._installed[server.kind] = server.installed
        return False

    def retire(self, server: WarmServer) -> list[WarmServer]:
        """Give it and its forks nothing more to do; they leave when their last steps have ended. All of
        them."""
        if server not in self.servers:
            return []
        self.servers.remove(server)
        self._retired.append(server)
        server.spawner.let_go()
        gone = [server]
        for branch in [other for other in self.servers if other.origin is server]:
            gone += self.retire(branch)
        return gone

    def close(self) -> None:
        """Let every server end."""
        every = [*self.servers, *self._retired]
        for server in every:
            if not server.ready:  # it has no step yet: do not wait until it has imported
                server.spawner.kill()
            server.spawner.let_go()
        for server in every:
            server.spawner.close()
            server.output.close()
        self.servers.clear()
        self._retired.clear()


def _are_others_now(installed: Installed) -> bool:
    """Whether other packages lie in these folders than did."""
    return installed_in(installed) != installed
