"""What of a network is not to be trained: tensors that are frozen when training begins, and stay so."""

from __future__ import annotations

import math
from typing import Any

from tipc.run.guest.witness.tensors import fingerprint

NAMED = 1000


class Frozen:
    """The parameters of a network that have ``stop_gradient`` at the first call of backward."""

    def __init__(self) -> None:
        self.tensors: list[tuple[Any, str]] = []  # and what tells their values apart
        self.trainable = 0  # numbers of the others
        self.states_set = 0  # files that were loaded and states that were set before

    def look(self, network: Any, states_set: int) -> None:
        """Training of a network begins. Where nothing of it is to be trained it may seem to several times."""
        if self.tensors or self.trainable:
            return
        self.states_set = states_set
        for item in network.parameters():
            if item.stop_gradient:
                self.tensors.append((item, fingerprint(item)))
            else:
                self.trainable += math.prod(item.shape)

    def kernels(self) -> int:
        """How many of the frozen tensors have two sides or more: kernels and matrices, no biases."""
        return sum(len(item.shape) > 1 for item, _before in self.tensors)

    def facts(self) -> dict[str, Any]:
        """What is as it was: statistics, and copies that follow the network, are not."""
        stayed = [item for item, before in self.tensors if fingerprint(item) == before]
        return {
            "frozen": [item.name for item in stayed[:NAMED]],
            "frozen_numbers": sum(math.prod(item.shape) for item in stayed),
            "trainable_numbers": self.trainable,
            "states_set": self.states_set,
        }
