"""Mixed precision: paddle's own on a GPU, an emulation on a CPU that says that it is one.

On a CPU ``paddle.amp`` switches itself off with nothing but a UserWarning: a run "with AMP" is bit-equal to
fp32. The emulation (``amp_emulation``) rounds instead, and ``emulate="never"`` refuses.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from paddlezoo import amp_emulation
from paddlezoo.device import Device, amp_warning
from paddlezoo.errors import ZooError

LEVELS = ("O1", "O2")
DTYPES = ("float16", "bfloat16")


class FullPrecision:
    """No mixed precision; and the interface of the other two."""

    _simulated = ""  # the layers that PACT rounds to 8 bits; empty: none

    def prepare(self, model: Any, optimizer: Any) -> tuple[Any, Any]:
        """The network and optimizer to train with."""
        return model, optimizer

    def autocast(self) -> contextlib.AbstractContextManager[None]:
        """Around the forward pass and the loss."""
        return contextlib.nullcontext()

    def evaluating(self) -> contextlib.AbstractContextManager[None]:
        """Around forward passes without training: where weights are kept in low precision, inputs must be."""
        return contextlib.nullcontext()

    def backward_and_step(self, loss: Any, optimizer: Any) -> None:
        """Gradients and one step of the optimizer; the caller clears the gradients."""
        loss.backward()
        optimizer.step()

    def first_line(self, model: Any) -> str:
        """For the head of the log."""
        self._simulated = quantised_in(model)
        return "precision: float32" + (" arithmetic, int8 simulated" if self._simulated else "")

    def last_line(self) -> str:
        """For the end of the log."""
        if self._simulated:
            return f"precision: float32 arithmetic, int8 simulated in the layers {self._simulated}"
        return "precision: float32 throughout"

    def state(self) -> dict[str, Any]:
        """What ``restore`` needs after a restart."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue where ``state`` was taken."""


class PaddleAmp(FullPrecision):
    """``paddle.amp`` on a GPU: decorate, auto_cast, GradScaler."""

    def __init__(self, level: str, dtype: str, warning: str = "") -> None:
        import paddle

        self.level, self.dtype, self._warning = level, dtype, warning
        self._scaler = paddle.amp.GradScaler(init_loss_scaling=amp_emulation.FIRST_SCALE)
        self._amp = paddle.amp

    def prepare(self, model: Any, optimizer: Any) -> tuple[Any, Any]:
        if self.level == "O1":
            return model, optimizer
        return self._amp.decorate(
            models=model, optimizers=optimizer, level=self.level, dtype=self.dtype, save_dtype="float32"
        )

    def autocast(self) -> contextlib.AbstractContextManager[None]:
        return self._amp.auto_cast(level=self.level, dtype=self.dtype)

    def evaluating(self) -> contextlib.AbstractContextManager[None]:
        return self.autocast()

    def backward_and_step(self, loss: Any, optimizer: Any) -> None:
        self._scaler.scale(loss).backward()
        self._scaler.step(optimizer)
        self._scaler.update()

    def first_line(self, model: Any) -> str:
        text = f"precision: AMP {self.level} {self.dtype} by paddle.amp on the GPU"
        return f"{text}. {self._warning}" if self._warning else text

    def last_line(self) -> str:
        return (
            f"precision: AMP {self.level} {self.dtype} by paddle.amp on the GPU, {self._scaler.state_dict()}"
        )

    def state(self) -> dict[str, Any]:
        return {
            name: value.numpy() if hasattr(value, "numpy") else value
            for name, value in self._scaler.state_dict().items()
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self._scaler.load_state_dict(dict(state))


class EmulatedAmp(FullPrecision):
    """Rounding to the low precision on a CPU, with a real dynamic loss scaler."""

    def __init__(self, level: str, dtype: str) -> None:
        self.level, self.dtype = level, dtype
        self.counts = amp_emulation.Counts()
        self.scaler = amp_emulation.LossScaler()

    @contextlib.contextmanager
    def autocast(self) -> Iterator[None]:
        with amp_emulation.rounding(self.level, self.dtype, self.counts):
            yield

    def backward_and_step(self, loss: Any, optimizer: Any) -> None:
        self.scaler.scale(loss).backward()
        self.scaler.step(optimizer)

    def first_line(self, model: Any) -> str:
        return (
            f"precision: AMP {self.level} {self.dtype} EMULATED: this CPU has no {self.dtype} kernels, so "
            "inputs and results of the low-precision operators are rounded and the arithmetic is float32; "
            f"loss scaling is real (first scale {self.scaler.value:g}). "
            f"Layers in low precision: {amp_emulation.layers_in(model)}"
        )

    def last_line(self) -> str:
        return (
            f"precision: AMP {self.level} {self.dtype} EMULATED on the CPU, operator calls: {self.counts}; "
            f"loss scale {self.scaler.value:g}, {self.scaler.skipped} steps skipped for infinite gradients"
        )

    def state(self) -> dict[str, Any]:
        return self.scaler.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        self.scaler.restore(state)


def quantised_in(model: Any) -> str:
    """How many layers of each kind compute with values rounded to 8 bits: ``Conv2D 52, Linear 2``."""
    prefix = "Quanted"  # of paddle's layers for training that knows of quantisation
    names = [type(layer).__name__ for layer in model.sublayers()]
    kinds = Counter(name.removeprefix(prefix) for name in names if name.startswith(prefix))
    return ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))


def choose(level: str | None, dtype: str, device: Device, emulate: str = "auto") -> FullPrecision:
    """The precision for ``--amp_level``, ``--amp_dtype`` and ``--amp_emulate`` (auto or never) on this
    device.
    """
    if not level or level == "O0":
        return FullPrecision()
    if device.is_gpu:
        return PaddleAmp(level, dtype, amp_warning(device))
    if emulate == "never":
        raise ZooError(
            f"--amp_level={level} cannot run here: paddle's mixed precision does nothing on a CPU "
            "(leave out --amp_emulate=never to round instead)"
        )
    return EmulatedAmp(level, dtype)
