"""All doors together, from the import of paddle to the end of the process."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tipc.run.guest.witness.autocast import Amp
from tipc.run.guest.witness.children import Children
from tipc.run.guest.witness.collectives import Collectives
from tipc.run.guest.witness.door import Door
from tipc.run.guest.witness.exports import Exports
from tipc.run.guest.witness.files import WeightsFiles
from tipc.run.guest.witness.images import Images
from tipc.run.guest.witness.networks import Networks
from tipc.run.guest.witness.operators import Operators
from tipc.run.guest.witness.optimisers import Training
from tipc.run.guest.witness.own_steps import OwnSteps
from tipc.run.guest.witness.predictors import Predictors
from tipc.run.guest.witness.static import StaticGraphs
from tipc.run.guest.witness.telling import Telling

EVERY = 5.0  # seconds between two reports of what was seen so far: a process may be killed


class Witness:
    """What one process does. ``silent`` while we use paddle ourselves, and at the end.

    A process that the script starts has something to tell only if it trains, evaluates, exports or predicts:
    the workers of a loader do not. A fork knows what was seen before it.
    """

    def __init__(self, telling: Telling) -> None:
        self.telling = telling
        self.silent = False
        self.own_seconds = 0.0
        self.one_at_a_time = threading.RLock()
        self.paddle: Any = None
        self.problem = ""
        self.at_work: Callable[[], None] | None = None  # called when the script has begun with its work
        self.training = Training(self)
        self.networks = Networks(self)
        self.amp = Amp(self)
        self.predictors = Predictors(self)
        self.operators = Operators(self)
        self.exports = Exports(self)
        self.weights_files = WeightsFiles(self)
        self.images = Images(self)
        self.children = Children(self)
        self.doors: list[Door] = [
            self.amp,  # before the training, whose facts it completes
            self.training,
            OwnSteps(self),
            self.networks,
            self.weights_files,
            self.exports,
            self.predictors,
            StaticGraphs(self),
            Collectives(self),
            self.operators,
            self.images,
            self.children,
        ]
        self.before_paddle: tuple[Door, ...] = (self.images, self.children)  # they need none of it
        # In a process that the script has started: how much had been done before it.
        self.inherited: tuple[int, ...] | None = self.done if telling.child else None
        self._due = time.monotonic() + EVERY
        self._over = False

    def begin(self) -> None:
        """The script is about to start."""
        self.images.begin()
        os.register_at_fork(after_in_child=self._forked)
        atexit.register(self.finish)
        self._watch_the_quick_exit()
        self.tell()

    def attach(self) -> None:
        """Paddle has just been imported."""
        paddle = sys.modules["paddle"]
        for door in self.doors:
            try:
                door.attach(paddle)
            except Exception as error:  # noqa: BLE001
                door.why = f"{type(error).__name__}: {error}"[:300]
        self.paddle = paddle
        atexit.register(self.finish)  # once more: now it is before what paddle itself does at the end

    def begin_work(self) -> None:
        """A network is called: what the script imports at its beginning has been imported."""
        at_work, self.at_work = self.at_work, None
        if at_work is not None:
            at_work()

    @contextmanager
    def silence(self) -> Iterator[None]:
        """What happens in here is our doing."""
        before, self.silent = self.silent, True
        try:
            yield
        finally:
            self.silent = before

    def report_if_due(self) -> None:
        """Report what was seen so far, if the last time is long enough ago."""
        if time.monotonic() >= self._due:
            self.tell()
            self._due = time.monotonic() + EVERY

    def tell(self, *, final: bool = False) -> None:
        """Report what was seen so far."""
        with self.one_at_a_time:
            self._tell(final=final)

    def _tell(self, *, final: bool) -> None:
        if self.inherited is not None and self.inherited == self.done:
            return
        facts: dict[str, Any] = {"rank": self.telling.rank, "pid": os.getpid(), "doors": {}}
        facts["paddle"] = str(getattr(self.paddle, "__version__", "")) if self.paddle else ""
        if self.paddle is None and "paddle" in sys.modules:
            facts["paddle"] = str(getattr(sys.modules["paddle"], "__version__", "unknown"))
            facts["doors"]["paddle"] = "its import was not seen"
        for door in self.doors:
            seen = door.safely(door.facts, final=final) if self.paddle or door in self.before_paddle else {}
            facts.update(seen or {})
            if self.paddle:
                facts["doors"][door.name] = door.why
        if self.paddle and hasattr(self.paddle.device, "get_device"):
            facts["device"] = str(self.paddle.device.get_device())
        facts["dropped"] = self.telling.dropped
        self.telling.facts(facts, final=final)

    def finish(self) -> None:
        """The process ends: the last word."""
        if self._over:
            return
        self._over = True
        self.silent = True
        try:
            self.tell(final=True)
        except Exception as error:  # noqa: BLE001  (the interpreter may be half gone)
            self.problem = str(error)
        self.telling.close()

    @property
    def done(self) -> tuple[int, ...]:
        """How much of what verdicts rest on this process has done."""
        return (
            self.training.steps + self.training.backwards,
            sum(evaluation.calls for evaluation in self.networks.evaluations),
            sum(seen.facts["runs"] for seen in self.predictors.seen),
            len(self.exports.exports) + len(self.weights_files.saves),
        )

    def _forked(self) -> None:
        """In a process that the script has forked."""
        self.one_at_a_time = threading.RLock()  # a thread that is not here may have had the old one
        if self._over:
            return
        self.telling.fork()
        self.inherited = self.done

    def _watch_the_quick_exit(self) -> None:
        """``os._exit`` leaves nothing time to end; some scripts use it to leave threads behind."""
        leave = os._exit

        def _exit(status: int) -> None:
            self.finish()
            leave(status)

        os._exit = _exit  # type: ignore[assignment]
