"""Mixed precision on a CPU by rounding: what a GPU's float16 would lose is lost, the speed is not gained.

While ``rounding`` is active the operators that ``paddle.amp`` runs in low precision get their inputs and
results rounded by a cast there and back; the cast's own backward rounds the gradients the same way. O1 rounds
what multiplies matrices; O2 also what lies between (activations, additions, pooling). Batch norm, softmax and
losses stay float32, as paddle keeps them. Operators of python's ``*`` and ``+`` on tensors are not seen; the
next one rounds their result.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

FIRST_SCALE = 2.0**15

LOW_IN_O1 = (
    "conv2d",
    "depthwise_conv2d",
    "conv2d_transpose",
    "depthwise_conv2d_transpose",
    "linear",
    "matmul",
    "bmm",
)
LOW_IN_O2 = (
    *LOW_IN_O1,
    *("add", "add_", "multiply", "multiply_", "subtract", "concat", "dropout", "pad3d"),
    *(
        "relu",
        "relu_",
        "relu6",
        "leaky_relu",
        "prelu",
        "sigmoid",
        "silu",
        "swish",
        "hardswish",
        "hardsigmoid",
        "tanh",
    ),
    *("pool2d", "bilinear_interp", "nearest_interp"),
)
FLOAT32 = (
    *("batch_norm", "batch_norm_", "sync_batch_norm_", "layer_norm", "softmax", "log_softmax"),
    *("cross_entropy_with_softmax", "mean", "mean_all", "sum", "exp", "log"),
)


class Counts:
    """Calls by operator, in low precision and in float32."""

    def __init__(self) -> None:
        self.low: Counter[str] = Counter()
        self.full: Counter[str] = Counter()

    def __str__(self) -> str:
        low = ", ".join(f"{name} {count}" for name, count in self.low.most_common()) or "none"
        full = ", ".join(f"{name} {count}" for name, count in self.full.most_common()) or "none"
        return f"rounded to low precision: {low}; float32: {full}"


def layers_in(model: Any) -> str:
    """How many layers of each kind multiply matrices: ``Conv2D 52, Linear 2``."""
    names = Counter(
        type(layer).__name__ for layer in model.sublayers() if getattr(layer, "weight", None) is not None
    )
    kinds = {name: count for name, count in names.items() if "Conv" in name or "Linear" in name}
    return ", ".join(f"{name} {count}" for name, count in sorted(kinds.items())) or "none"


@contextlib.contextmanager
def rounding(level: str, dtype: str, counts: Counts) -> Iterator[None]:
    """Round the low-precision operators of ``level`` to ``dtype`` while the context lasts, and count all."""
    from paddle import _C_ops

    low = LOW_IN_O2 if level == "O2" else LOW_IN_O1
    full = (*FLOAT32, *(name for name in LOW_IN_O2 if name not in low))
    saved: dict[str, Callable[..., Any]] = {}
    try:
        for name in (*low, *full):
            if hasattr(_C_ops, name):
                saved[name] = getattr(_C_ops, name)
                setattr(
                    _C_ops,
                    name,
                    _low(name, saved[name], dtype, counts)
                    if name in low
                    else _counted(name, saved[name], counts),
                )
        yield
    finally:
        for name, original in saved.items():
            setattr(_C_ops, name, original)


def _low(name: str, original: Callable[..., Any], dtype: str, counts: Counts) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        counts.low[name] += 1
        result = original(*(_round(arg, dtype) for arg in args), **kwargs)
        return _round(result, dtype)

    return call


def _counted(name: str, original: Callable[..., Any], counts: Counts) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        counts.full[name] += 1
        return original(*args, **kwargs)

    return call


def _round(value: Any, dtype: str) -> Any:
    """Tensors of float32, also in lists and tuples, through ``dtype`` and back."""
    import paddle

    if isinstance(value, paddle.Tensor):
        return value.cast(dtype).cast("float32") if value.dtype == paddle.float32 else value
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], paddle.Tensor):
        return type(value)(_round(item, dtype) for item in value)
    return value


class LossScaler:
    """Dynamic loss scaling as ``paddle.amp.GradScaler`` does it on a GPU; that one switches itself off on a
    CPU.
    """

    def __init__(
        self, first: float = FIRST_SCALE, grow: float = 2.0, shrink: float = 0.5, grow_every: int = 1000
    ) -> None:
        self.value, self._grow, self._shrink, self._grow_every = first, grow, shrink, grow_every
        self._good = 0
        self.skipped = 0

    def scale(self, loss: Any) -> Any:
        """The loss to call ``backward`` on."""
        return loss * self.value

    def step(self, optimizer: Any) -> None:
        """Unscale the gradients and step; skip the step and shrink the scale if one of them is not finite."""
        from paddle import _C_ops, to_tensor

        gradients = [p.grad for p in optimizer._parameter_list if p.grad is not None]
        found = _C_ops.check_finite_and_unscale_(gradients, to_tensor([self.value], dtype="float32"))[-1]
        if bool(found):
            self.value = max(self.value * self._shrink, 1.0)
            self._good = 0
            self.skipped += 1
            return
        optimizer.step()
        self._good += 1
        if self._good % self._grow_every == 0:
            self.value *= self._grow

    def state(self) -> dict[str, Any]:
        return {"value": self.value, "good": self._good, "skipped": self.skipped}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.value, self._good, self.skipped = state["value"], state["good"], state["skipped"]
