"""Whether gradients are cleared between the steps of an optimiser, or those of all batches add up."""

from __future__ import annotations

import math
from typing import Any

LOOKED_AT = 4  # steps


class Carried:
    """Looks at one small parameter of each optimiser: its gradient is 0 or gone at some call of backward
    between two steps, where it is cleared. Of two optimisers that take turns each clears its own.
    """

    def __init__(self) -> None:
        self.looked = 0  # steps that followed another one of the same optimiser
        self.carried = 0  # and began with its gradients
        self.stepped: set[int] = set()  # identities of optimisers
        self.uncleared: dict[int, Any] = {}  # one of those → a parameter with its gradient as at the step

    def before_backward(self) -> None:
        """Gradients are about to be computed."""
        for optimiser, parameter in list(self.uncleared.items()):
            if not has_gradient(parameter):
                del self.uncleared[optimiser]

    def before_step(self, optimiser: Any, parameters: list[Any]) -> None:
        """An optimiser is about to take a step."""
        if self.looked >= LOOKED_AT:
            self.uncleared.clear()
            return
        identity = id(optimiser)
        if identity in self.stepped:
            self.looked += 1
            self.carried += identity in self.uncleared
            self.stepped.discard(identity)
        self.uncleared.pop(identity, None)
        for parameter in sorted(parameters, key=lambda item: math.prod(item.shape)):
            if has_gradient(parameter):
                self.uncleared[identity] = parameter
                self.stepped.add(identity)
                return


def has_gradient(parameter: Any) -> bool:
    """Whether a parameter has a gradient that is not 0."""
    gradient = parameter.grad
    if gradient is None:
        return False
    try:
        return bool((gradient.numpy() != 0).any())
    except Exception:  # noqa: BLE001  (of rows of an embedding, which are no array)
        return False
