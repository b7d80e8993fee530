"""Ranks that come too early to where all meet wait until the first one is there, and not for seconds."""

from __future__ import annotations

import os
import socket
import threading
import traceback
from types import SimpleNamespace
from typing import Any

import pytest

from tipc.run.guest import rendezvous


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> int:
    """A port that nobody listens on, at which this process, a second rank, is to meet the first."""
    with socket.socket() as kept:
        kept.bind(("127.0.0.1", 0))
        number = kept.getsockname()[1]
    monkeypatch.setenv("PADDLE_NNODES", "1")
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    monkeypatch.setenv("PADDLE_MASTER", f"127.0.0.1:{number}")
    return number


def listening(port: int, family: socket.AddressFamily = socket.AF_INET) -> socket.socket:
    server = socket.socket(family)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("", port))
    server.listen()
    return server


def paddle_that(connects: Any) -> Any:
    """A package with paddle's function that meets the others."""
    core = SimpleNamespace(**{rendezvous.CONNECT: connects})
    return SimpleNamespace(base=SimpleNamespace(core=core))


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_port_is_open_while_somebody_listens(port: int, family: socket.AddressFamily) -> None:
    if family is socket.AF_INET6 and not os.path.exists("/proc/net/tcp6"):
        pytest.skip("this machine has no IPv6")
    assert not rendezvous.is_open(port)
    with listening(port, family):
        assert rendezvous.is_open(port)
    assert not rendezvous.is_open(port)


def test_a_port_that_is_only_connected_is_not_open(port: int) -> None:
    with listening(port) as server, socket.create_connection(("127.0.0.1", port)) as client:
        other = client.getsockname()[1]
        accepted, _address = server.accept()
        with accepted:
            assert rendezvous.is_open(port)
            assert not rendezvous.is_open(other)


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, True),
        ({"PADDLE_TRAINER_ID": "0"}, False),  # the first rank opens it
        ({"PADDLE_TRAINER_ID": None}, False),
        ({"PADDLE_NNODES": "2"}, False),  # it may be on another machine
        ({"PADDLE_NNODES": None}, False),
        ({"PADDLE_MASTER": None}, False),
        ({"PADDLE_MASTER": "nowhere"}, False),
        ({"PADDLE_MASTER": "host:port"}, False),
    ],
)
def test_only_a_further_rank_of_this_machine_waits(
    port: int, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str | None], found: bool
) -> None:
    for name, value in changed.items():
        if value is None:
            monkeypatch.delenv(name)
        else:
            monkeypatch.setenv(name, value)
    assert rendezvous.port_of_first_rank() == (port if found else None)


def test_a_rank_that_is_too_early_connects_when_the_port_is_open(port: int) -> None:
    seen = []
    paddle = paddle_that(lambda *args, **kwargs: seen.append((rendezvous.is_open(port), args, kwargs)))
    rendezvous.attach(paddle)
    servers: list[socket.socket] = []
    timer = threading.Timer(0.2, lambda: servers.append(listening(port)))
    timer.start()
    getattr(paddle.base.core, rendezvous.CONNECT)("store", timeout=5)
    timer.join()
    servers[0].close()
    assert seen == [(True, ("store",), {"timeout": 5})]


def test_where_nobody_comes_paddle_tries_by_itself(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendezvous, "AT_MOST", 0.05)
    paddle = paddle_that(lambda: "what paddle says")
    rendezvous.attach(paddle)
    assert getattr(paddle.base.core, rendezvous.CONNECT)() == "what paddle says"


def test_the_first_rank_and_a_paddle_without_the_function_are_left_alone(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendezvous.attach(SimpleNamespace())  # type: ignore[arg-type]
    monkeypatch.setenv("PADDLE_TRAINER_ID", "0")
    own = object()
    paddle = paddle_that(own)
    rendezvous.attach(paddle)
    assert getattr(paddle.base.core, rendezvous.CONNECT) is own


def test_an_error_of_paddle_comes_through_without_our_frame(port: int) -> None:
    def fail() -> None:
        raise RuntimeError("no store")

    paddle = paddle_that(fail)
    with listening(port):
        rendezvous.attach(paddle)
        with pytest.raises(RuntimeError, match="no store") as caught:
            getattr(paddle.base.core, rendezvous.CONNECT)()
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert set(files) == {__file__}
