"""Tasks in a scratch directory that carry a token, and a scan for processes that have it."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import psutil

from tipc.run.executors.executor import Executor, Task, TaskOutcome
from tipc.run.executors.local import LocalExecutor

TOKEN = "EXECUTION_TEST_TOKEN"  # not TIPC_…: those may differ within one warm server


class Bench:
    """Makes tasks that carry a token, runs them, and finds every process that has it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.token = uuid.uuid4().hex
        self.env = {**os.environ, TOKEN: self.token}

    def script(self, text: str, name: str = "script.py") -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def task(self, *argv: str, timeout: float | None = 60.0, name: str = "step", **fields: object) -> Task:
        log = self.directory / "logs" / f"{name}.log"
        values = {"cwd": self.directory, "env": self.env, "log": log, "warm": False, **fields}
        return Task(name, argv, timeout=timeout, **values)  # type: ignore[arg-type]

    def python(self, text: str, *arguments: str, **fields: object) -> Task:
        name = str(fields.get("name", "step"))
        return self.task(sys.executable, str(self.script(text, f"{name}.py")), *arguments, **fields)  # type: ignore[arg-type]

    def run(self, executor: Executor, task: Task) -> TaskOutcome:
        ticket = executor.start(task)
        ended: list[tuple[int, TaskOutcome]] = []
        while not ended:
            ended = executor.wait(60.0)
        assert [number for number, _outcome in ended] == [ticket]
        return ended[0][1]

    def log(self, name: str = "step") -> bytes:
        return (self.directory / "logs" / f"{name}.log").read_bytes()

    def alive(self) -> list[psutil.Process]:
        """Every living process that has the token in the environment it was started with, but this one."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.pid != os.getpid() and process.environ().get(TOKEN) == self.token:
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def eventually(self, condition: Callable[[], object], within: float = 30.0) -> bool:
        """The condition comes true; the time is only there so that a failure ends."""
        until = time.monotonic() + within
        while time.monotonic() < until:
            if condition():
                return True
            time.sleep(0.02)
        return False


def warmed(bench: Bench, python: str = sys.executable) -> LocalExecutor:
    """An executor whose warm server is ready for the scripts of a bench."""
    executor = LocalExecutor(grace=0.5)
    task = bench.task(python, str(bench.script("", "warm_up.py")), warm=True)
    executor.warm_up(task)
    waiting = executor.start(bench.task("sleep", "1000", timeout=None, name="waiting"))
    assert bench.eventually(lambda: executor.wait(0.05) or executor.warmth.server(task), within=120.0)
    executor.kill(waiting)
    executor.wait(None)
    return executor
