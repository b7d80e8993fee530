"""The door of mixed precision: what the script asks for. What really ran, the operators tell."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from tipc.run.guest.witness.call_text import words_of_argument
from tipc.run.guest.witness.door import Door

LONGEST = 2000  # characters of a list of operators


class Amp(Door):
    """Level and type of ``auto_cast`` and ``decorate``."""

    name = "paddle.amp"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.depth = 0  # of ``with auto_cast()``
        self.countable = True
        self.kept: set[str] | None = None  # operators that every auto_cast keeps in fp32

    def attach(self, paddle: Any) -> None:
        """Watch both."""
        for name in ("auto_cast", "decorate"):
            signature = inspect.signature(getattr(paddle.amp, name))

            def asked(*args: Any, _signature: inspect.Signature = signature, **kwargs: Any) -> bool:
                return self._asked(_signature.bind(*args, **kwargs))

            self.around(paddle.amp, name, before=asked, after=self._entered if name == "auto_cast" else None)

    def _asked(self, call: inspect.BoundArguments) -> bool:
        call.apply_defaults()
        enabled = bool(call.arguments.get("enable", True)) and call.arguments.get("level") != "O0"
        amp = self.witness.training.amp
        if enabled:
            amp["level"] = str(call.arguments.get("level", ""))
            amp["dtype"] = str(call.arguments.get("dtype", ""))
            if "custom_black_list" in call.arguments:
                self._keep(call.arguments["custom_black_list"])
        elif "off" not in amp:
            amp["off"] = words_of_argument("enable") or words_of_argument("level")
        return enabled

    def _keep(self, names: Any) -> None:
        """What this auto_cast leaves in fp32; said are the operators that each of them does."""
        kept = {str(name) for name in names or ()}
        self.kept = kept if self.kept is None else self.kept & kept
        self.witness.training.amp["black"] = " ".join(sorted(self.kept))[:LONGEST]

    def _entered(self, enabled: Any, context: Any, *_args: Any, **_kwargs: Any) -> None:
        """Count the calls of networks inside ``with auto_cast()``; used otherwise, they cannot be counted."""
        if not enabled:
            return
        if not hasattr(context, "gen") or not hasattr(context, "_recreate_cm"):
            self.countable = False
            return
        context.gen = self._inside(context.gen)
        again = context._recreate_cm

        def recreate() -> Any:  # it is used as a decorator
            self.countable = False
            return again()

        context._recreate_cm = recreate

    def _inside(self, steps: Iterator[Any]) -> Iterator[Any]:
        self.depth += 1
        try:
            return (yield from steps)
        finally:
            self.depth -= 1

    def facts(self, *, final: bool) -> dict[str, Any]:
        """Nothing of its own: it is part of the training's."""
        if self.countable and not self.why:
            calls = self.witness.networks.trained
            inside = 0
            if calls and calls.learning:  # calls without a gradient alone train nothing
                inside = calls.in_auto_cast
            self.witness.training.amp["forwards"] = str(inside)
        return {}
