"""The door of ranks: what they exchange."""

from __future__ import annotations

from typing import Any

from tipc.run.guest.witness.door import Door

FUNCTIONS = (
    "all_reduce",
    "all_gather",
    "all_gather_object",
    "all_to_all",
    "alltoall",
    "alltoall_single",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
    "send",
    "recv",
)


class Collectives(Door):
    """Counts the networks that are made parallel and the calls of collective functions."""

    name = "paddle.distributed"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.counts: dict[str, int] = {}

    def attach(self, paddle: Any) -> None:
        """Watch what this paddle has of them."""
        for name in FUNCTIONS:
            if hasattr(paddle.distributed, name):
                self._count(paddle.distributed, name, name)
        self._count(paddle.DataParallel, "__init__", "DataParallel")
        # One that is made and gone around exchanges nothing.
        self._count(paddle.DataParallel, "forward", "DataParallel.forward")

    def _count(self, owner: Any, attribute: str, name: str) -> None:
        def count(*_args: Any, **_kwargs: Any) -> None:
            self.counts[name] = self.counts.get(name, 0) + 1

        self.around(owner, attribute, before=count)

    def facts(self, *, final: bool) -> dict[str, Any]:
        """``collectives``."""
        return {"collectives": self.counts}
