"""Recording: names and arrays of each stage, in the order in which they came, in one ``.npz`` file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from tipc.errors import UsageError
from tipc.message import Message, wording

# In the order in which a reproduction is aligned: what comes later can only be right if this is.
STAGES = ("data", "forward", "loss", "optimizer", "backward", "weights")
NUMBERS = "biufc"  # numpy's kinds of type that can be compared


class Recorder:
    """Collects arrays and writes them when it is left, or when ``save`` is called."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._arrays: dict[str, np.ndarray] = {}

    def add(self, stage: str, name: str, value: Any) -> None:
        """Keep a copy of a tensor, an array or a number under a name that is new in its stage."""
        if stage not in STAGES:
            raise ValueError(f"{stage!r} is not a stage; there are {', '.join(STAGES)}")
        key = f"{stage}/{name}"
        if not name or key in self._arrays:
            raise ValueError(f"{key!r} needs a name of its own")
        array = as_array(value)
        if array.dtype.kind not in NUMBERS:
            raise ValueError(f"{key}: a {type(value).__name__} is neither a tensor nor a number")
        self._arrays[key] = array

    def data(self, name: str, value: Any) -> None:
        """What the network is fed, and the labels."""
        self.add("data", name, value)

    def forward(self, name: str, value: Any) -> None:
        """What a layer or the network answers."""
        self.add("forward", name, value)

    def loss(self, name: str, value: Any) -> None:
        """A loss or a metric."""
        self.add("loss", name, value)

    def optimizer(self, name: str, value: Any) -> None:
        """A learning rate, a momentum, a weight decay."""
        self.add("optimizer", name, value)

    def backward(self, name: str, value: Any) -> None:
        """The gradient of a parameter."""
        self.add("backward", name, value)

    def weights(self, name: str, value: Any) -> None:
        """A parameter after some steps."""
        self.add("weights", name, value)

    def save(self) -> None:
        """Write everything, at once or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        scratch = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with scratch.open("wb") as file:
                # Names have slashes and dots, which keyword arguments of savez take as they are.
                np.savez_compressed(file, **self._arrays)  # type: ignore[arg-type]
            scratch.replace(self.path)
        finally:
            scratch.unlink(missing_ok=True)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.save()


def as_array(value: Any) -> np.ndarray:
    """A copy as numpy: of arrays and numbers, of paddle's tensors, and of torch's on any device."""
    if "bfloat16" in str(getattr(value, "dtype", "")):
        value = _as_float32(value)
    for method in ("detach", "cpu", "numpy"):
        if not isinstance(value, np.ndarray) and hasattr(value, method):
            value = getattr(value, method)()
    return np.array(value)


def _as_float32(value: Any) -> Any:
    """numpy has no bfloat16: paddle would hand over the bits as uint16, and torch nothing at all."""
    if hasattr(value, "astype"):
        return value.astype("float32")
    return value.float()


def read_recording(path: str | Path) -> dict[str, np.ndarray]:
    """The arrays of a file by ``stage/name``, in their order; UsageError for what is no recording."""
    from tipc.npz import read_npz  # not in the interpreter that records

    try:
        arrays = read_npz(path)
    except FileNotFoundError:
        raise UsageError("there is no such recording", path=str(path)) from None
    except (OSError, ValueError) as error:
        raise UsageError(wording("this is not a recording: {error}", error=error), path=str(path)) from None
    wrong = _what_is_wrong(arrays)
    if wrong:
        raise UsageError(
            wording("this is not a recording of tipc.align: {found}", found=wrong),
            path=str(path),
            remedy=wording("record with tipc.align.Recorder; stages are {names}", names=", ".join(STAGES)),
        )
    return arrays


def _what_is_wrong(arrays: Mapping[str, np.ndarray]) -> Message | None:
    """Why these arrays are no recording; None where they are one."""
    if not arrays:
        return wording("it is empty")
    for name, array in arrays.items():
        stage, slash, _ = name.partition("/")
        if stage not in STAGES or not slash:
            return wording("`{name}` is not stage/name", name=name)
        if array.dtype.kind not in NUMBERS:
            return wording("`{name}` holds no numbers", name=name)
    return None
