"""The door of operators: how often paddle calls each, by type of number. Evidence of mixed precision."""

from __future__ import annotations

import sys
from typing import Any

from tipc.run.guest.witness.door import Door

COLUMNS = ("fp16", "bf16", "fp32", "other")  # in the order of paddle's own statistics
FLAG = "FLAGS_low_precision_op_list"


class Operators(Door):
    """Counts from paddle's import to the end of the process.

    A script that takes the same statistics itself gets its own, from the moment that it asks for them; they
    are counted here as well.
    """

    name = "operators"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.operators: dict[str, dict[str, int]] = {}
        self.scripts = False  # the script is taking statistics of its own
        self.attached = False
        self.in_training: dict[str, int] = {}  # calls inside those of a network in training mode, of some

    def attach(self, paddle: Any) -> None:
        """Begin."""
        self.core: Any = paddle.base.core
        self.debugging: Any = paddle.amp.debugging
        self._restart()
        self._share_with_the_script()
        self.attached = True

    def _restart(self) -> None:
        self.core.clear_low_precision_op_list()
        sys.modules["paddle"].set_flags({FLAG: 1})

    def begin_call(self) -> None:
        """A network is about to be called."""
        if self.attached and not self.scripts:
            self._take()

    def end_call(self) -> None:
        """It has answered: what was counted since is its own."""
        if not self.attached or self.scripts:
            return
        for name, calls in self._take().items():
            self.in_training[name] = self.in_training.get(name, 0) + calls

    def _take(self) -> dict[str, int]:
        """Add what paddle has counted since the last time; the calls of each operator since then."""
        taken: dict[str, int] = {}
        for name, counts in self.core.get_low_precision_op_list().items():
            numbers = counts.split(",") if isinstance(counts, str) else counts
            row = self.operators.setdefault(name, dict.fromkeys(COLUMNS, 0))
            for place, column in enumerate(COLUMNS):
                row[column] += int(numbers[place])
                taken[name] = taken.get(name, 0) + int(numbers[place])
        self.core.clear_low_precision_op_list()
        return taken

    def _share_with_the_script(self) -> None:
        enable = self.debugging.enable_operator_stats_collection
        disable = self.debugging.disable_operator_stats_collection

        def enable_operator_stats_collection() -> None:
            self._take()
            self.scripts = True
            enable()

        def disable_operator_stats_collection() -> None:
            if self.scripts:  # else paddle, too, does nothing
                self.scripts = False
                disable()
                self._take()
                self._restart()

        self.debugging.enable_operator_stats_collection = enable_operator_stats_collection
        self.debugging.disable_operator_stats_collection = disable_operator_stats_collection

    def facts(self, *, final: bool) -> dict[str, Any]:
        """``operators`` and ``operators_in_training``."""
        if self.attached and not self.scripts:
            self._take()
        return {"operators": self.operators, "operators_in_training": self.in_training}
