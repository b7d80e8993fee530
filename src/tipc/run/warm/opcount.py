"""Counts the operators that paddle calls, by type of number: evidence of what mixed precision really did."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
from typing import Any

SCHEMA = "tipc.ops/1"
COLUMNS = ("fp16", "bf16", "fp32", "other")  # in the order of paddle's own statistics
FLAG = "FLAGS_low_precision_op_list"


class OperatorCounts:
    """Counts from paddle's import to the end of the process, and writes a JSON file then.

    A script that takes the same statistics itself gets its own, from the moment that it asks for them; they
    are counted here as well.
    """

    def __init__(self, out: str) -> None:
        self.out = os.path.abspath(out)  # the script may go elsewhere
        self.pid = os.getpid()
        self.operators: dict[str, dict[str, int]] = {}
        self.error = "paddle was not imported"
        self.scripts = False  # the script is taking statistics of its own
        if os.environ.get("PADDLE_TRAINER_ID", "0") == "0":  # one of several ranks speaks for all
            atexit.register(self.write)

    def attach(self) -> None:
        """Paddle has just been imported: begin."""
        paddle: Any = sys.modules["paddle"]
        self.core: Any = paddle.base.core
        try:
            self.debugging: Any = paddle.amp.debugging
            self._restart()
        except (AttributeError, ValueError, RuntimeError) as error:
            self.error = f"paddle {paddle.__version__} has no statistics of operators: {error}"
            return
        self.error = ""
        self._share_with_the_script()
        if os.environ.get("PADDLE_TRAINER_ID", "0") == "0":
            atexit.register(self.write)  # before what paddle itself does at the end

    def _restart(self) -> None:
        self.core.clear_low_precision_op_list()
        sys.modules["paddle"].set_flags({FLAG: 1})

    def _take(self) -> None:
        """Add what paddle has counted since the last time."""
        for name, counts in self.core.get_low_precision_op_list().items():
            numbers = counts.split(",") if isinstance(counts, str) else counts
            row = self.operators.setdefault(name, dict.fromkeys(COLUMNS, 0))
            for place, column in enumerate(COLUMNS):
                row[column] += int(numbers[place])
        self.core.clear_low_precision_op_list()

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

    def write(self) -> None:
        """Write the file, once, and only in the process that was asked to: workers are copies of it."""
        if os.getpid() != self.pid:
            return
        self.pid = 0
        paddle: Any = sys.modules.get("paddle")
        report: dict[str, Any] = {"schema": SCHEMA, "operators": self.operators}
        if self.error:
            report["error"] = self.error
        else:
            self._take()
            report["device"] = paddle.device.get_device()
            report["paddle"] = paddle.__version__
        write_report(self.out, report)


def write_report(out: str, report: dict[str, Any]) -> None:
    """Write the file in one piece. Where that cannot be there is no evidence, and the script goes on."""
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(out), exist_ok=True)
        with open(f"{out}.part", "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1, sort_keys=True)
        os.replace(f"{out}.part", out)
