"""What the tests of execution share: a bench that finds what was left behind, and an executor."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from execution_bench import Bench, warmed

from tipc.run.executors.local import LocalExecutor
from tipc.run.guest.hearing import Hearing


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


@pytest.fixture
def ear() -> Iterator[tuple[Hearing, Callable[[], None]]]:
    """A keeper's ear that listens to this process, and a function that waits until all is heard."""
    poll = select.poll()
    hearing = Hearing(poll, launched=False)
    hearing.step = os.getpid()
    stop = threading.Event()

    def listen() -> None:
        while not stop.is_set():
            for descriptor, _event in poll.poll(10):
                hearing.hear(descriptor)

    thread = threading.Thread(target=listen)
    thread.start()

    def end() -> None:
        stop.set()
        thread.join()
        hearing.close()

    yield hearing, end
    if thread.is_alive():
        end()


@pytest.fixture(scope="session")
def paddle_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, LocalExecutor]]:
    """A directory for scripts that use paddle, and an executor that has a warm server for them."""
    pytest.importorskip("paddle")
    bench = Bench(tmp_path_factory.mktemp("paddle"))
    executor = warmed(bench)
    yield bench, executor
    executor.close()
    assert bench.eventually(lambda: not bench.alive())
