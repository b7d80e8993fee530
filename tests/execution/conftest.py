"""What the tests of execution share: a bench that finds what was left behind, and an executor."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from execution_bench import Bench, warmed

from tipc.run.executors.local import LocalExecutor


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    left = made.alive()
    for process in left:
        process.kill()
    assert not left, left


@pytest.fixture
def local() -> Iterator[LocalExecutor]:
    executor = LocalExecutor(grace=0.5)
    yield executor
    executor.close()


@pytest.fixture
def ignoring() -> Iterator[tuple[signal.Signals, ...]]:
    """The signals that nohup and a shell's background jobs ignore, ignored in this process."""
    numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def paddle_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, LocalExecutor]]:
    """A directory for scripts that use paddle, and an executor that has a warm server for them."""
    pytest.importorskip("paddle")
    bench = Bench(tmp_path_factory.mktemp("paddle"))
    executor = warmed(bench)
    yield bench, executor
    executor.close()
    assert bench.eventually(lambda: not bench.alive())
