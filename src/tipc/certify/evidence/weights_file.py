"""Files of trained weights, read without running anything that lies in them."""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tipc.bounded import read_bounded

SUFFIX = ".pdparams"
LIMIT = 4 * 2**30
# All that a dictionary of arrays needs. Anything else in a pickle could run code.
ALLOWED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("numpy.core.numeric", "_frombuffer"),
    ("_codecs", "encode"),
    ("collections", "OrderedDict"),
    ("builtins", "tuple"),  # paddle.save of a tensor inside a dictionary of a checkpoint
}
NAMES = "StructuredToParameterName@@"  # paddle's own entry: names, no values


class ArraysOnly(pickle.Unpickler):
    """An unpickler that admits arrays, numbers, strings and containers of them."""

    def find_class(self, module: str, name: str) -> Any:
        """The class of an array; UnpicklingError for any other."""
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is no array: the file was not opened")
        return super().find_class(module, name)


@dataclass(frozen=True)
class Clip:
    """A learnt clipping value."""

    name: str
    end: float
    start: float | None = None


@dataclass(frozen=True)
class WeightsInFile:
    """What lies in a file of weights, or why it cannot be read."""

    path: Path
    error: str = ""
    digests: dict[str, str] = field(default_factory=dict)  # name → as the witness makes them
    values: int = 0
    not_finite: tuple[str, ...] = ()
    clips: tuple[Clip, ...] = ()

    @property
    def tensors(self) -> int:
        return len(self.digests)


def find_weights(path: Path) -> Path:
    """The file that a config names, where it may leave the ending out; as it is named if there is none."""
    for candidate in (path, path.with_name(path.name + SUFFIX)):
        if candidate.is_file():
            return candidate
    return path


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file of weights by name, however deep they lie; raises ValueError, OSError or an error
    of pickle."""
    try:
        content = ArraysOnly(io.BytesIO(read_bounded(path, LIMIT))).load()
    except SystemError as error:  # numpy's own code, given the state of an array that none has
        raise ValueError(f"a damaged file: {error}") from error
    return dict(_arrays(content, ""))


def _arrays(value: Any, name: str) -> Iterator[tuple[str, NDArray[Any]]]:
    import numpy

    if isinstance(value, numpy.ndarray):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != NAMES:
                yield from _arrays(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], numpy.ndarray):
        yield name, value[1]  # paddle.save of a bare parameter: (name, array)


def read_weights(path: Path) -> WeightsInFile:
    """What lies in a file of weights; read once, unless it changes."""
    try:
        state = path.stat()
    except OSError:
        return WeightsInFile(path, error="it is not there")
    return _read_weights(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _read_weights(path: Path, size: int, changed: int) -> WeightsInFile:
    import numpy

    try:
        arrays = load_arrays(path)
    except (
        OSError,
        ValueError,
        EOFError,
        pickle.UnpicklingError,
        TypeError,
        AttributeError,
        KeyError,
    ) as error:
        return WeightsInFile(path, error=f"{type(error).__name__}: {error}"[:300])
    except (ImportError, LookupError, MemoryError, OverflowError, RuntimeError) as error:
        return WeightsInFile(path, error=f"a damaged file: {type(error).__name__}: {error}"[:300])
    floats = {name: array for name, array in arrays.items() if array.dtype.kind == "f"}
    return WeightsInFile(
        path,
        digests={name: digest(array) for name, array in arrays.items()},
        values=sum(array.size for array in arrays.values()),
        not_finite=tuple(name for name, array in floats.items() if not numpy.isfinite(array).all())[:5],
        clips=tuple(_clips(floats)),
    )


def digest(array: NDArray[Any]) -> str:
    """Tells tensors apart by type, shape and every byte: the same that the witness makes of them."""
    import numpy

    value = numpy.ascontiguousarray(array)
    total = hashlib.sha256(f"{value.dtype.str}{value.shape}".encode())
    total.update(value.reshape(-1).view(numpy.uint8).data)
    return total.hexdigest()[:16]


def _clips(arrays: dict[str, NDArray[Any]]) -> Iterator[Clip]:
    """Learnt clipping values: scalars named ``…alpha``, with their start where ``…alpha_start`` keeps it."""
    for name, array in arrays.items():
        if array.size == 1 and (name.endswith("alpha") or "pact_alpha" in name):
            first = None
            start = arrays.get(f"{name}_start")
            if start is not None:
                first = float(start.reshape(-1)[0])
            yield Clip(name, float(array.reshape(-1)[0]), first)
