"""The door of training without an optimiser of paddle's: gradients are asked for, weights moved by hand."""

from __future__ import annotations

from typing import Any

from tipc.run.guest.witness.door import Door

MOVING = ("set_value", "copy_", "add_", "subtract_", "__setitem__")
DOWNHILL = 0.05  # cosine between a step and the way against the gradient: momentum and Adam are far above


class OwnSteps(Door):
    """Counts a step where a weight moves against the gradient that was just computed for it. Weights that are
    moved otherwise, or without a gradient, are no training."""

    name = "paddle.grad"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.steps = 0
        self.gradients: dict[int, Any] = {}  # identity of a parameter → what ``paddle.grad`` gave for it

    def attach(self, paddle: Any) -> None:
        """Watch the other ways to gradients, and what moves a tensor."""
        self.around(paddle, "grad", after=self._asked)
        self.around(paddle.autograd, "backward", before=self._backward)
        for name in MOVING:
            if hasattr(paddle.Tensor, name):
                self.around(paddle.Tensor, name, before=self._begin, after=self._end)

    def facts(self, *, final: bool) -> dict[str, Any]:
        """Nothing: they are the training's."""
        return {}

    def _asked(
        self, _note: None, answer: Any, outputs: Any, inputs: Any, *_args: Any, **_kwargs: Any
    ) -> None:
        """Gradients of something else than weights (a penalty on inputs, say) are no backward of a loss."""
        found = list(zip(_several(inputs), _several(answer), strict=False))
        found = [(item, gradient) for item, gradient in found if hasattr(item, "optimize_attr")]
        if not found:
            return
        training = self.witness.training
        training.seen_backward(_several(outputs)[0])
        training.add([item for item, gradient in found if gradient is not None])
        self.gradients = {id(item): gradient for item, gradient in found}

    def _backward(self, tensors: Any, *_args: Any, **_kwargs: Any) -> None:
        self.witness.training.seen_backward(_several(tensors)[0])

    def _begin(self, tensor: Any, *_args: Any, **_kwargs: Any) -> tuple[Any, Any] | None:
        """What a weight was and its gradient; None: this can be no step."""
        training = self.witness.training
        if training.steps != self.steps or training.is_stepping or not training.unused:
            return None
        gradient = self._gradient(tensor)
        if id(tensor) not in training.parameters or gradient is None:
            return None
        return _flat(tensor), _flat(gradient)

    def _end(
        self, note: tuple[Any, Any] | None, _answer: Any, tensor: Any, *_args: Any, **_kwargs: Any
    ) -> None:
        if note is None:
            return
        before, gradient = note
        moved = _flat(tensor) - before
        size = float((moved @ moved) * (gradient @ gradient)) ** 0.5
        if size > 0.0 and float(-(moved @ gradient)) > DOWNHILL * size:
            self.steps += 1
            training = self.witness.training
            training.step_by_hand({key: self._gradient(item) for key, item in training.parameters.items()})
            self.gradients = {}

    def _gradient(self, tensor: Any) -> Any:
        gradient = self.gradients.get(id(tensor))
        if gradient is None:
            gradient = tensor.grad
        return gradient


def _several(value: Any) -> list[Any]:
    """One tensor or a list of them, as a list."""
    if isinstance(value, (list, tuple)):
        return list(value)
    return [value]


def _flat(tensor: Any) -> Any:
    return tensor.numpy().reshape(-1).astype("float64")
