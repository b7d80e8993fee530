"""Files of trained weights, read without running anything that lies in them."""

from __future__ import annotations

import hashlib
import io
import pickle
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tipc.bounded import read_bounded
from tipc.message import english_text

SUFFIX = ".pdparams"
LIMIT = 4 * 2**30
NAMES = "StructuredToParameterName@@"  # paddle's own entry: names, no values


# Numbers and texts of a fixed length; objects could be anything.
TYPE = re.compile(r"\??|[biufcSU][0-9]{1,4}")


class StoredType:
    """Stands for ``numpy.dtype`` while a file is read. numpy's own classes take a state from a pickle as it
    is, and one that was damaged can end the process."""

    def __init__(self, text: str, *_flags: object) -> None:
        if not isinstance(text, str) or not TYPE.fullmatch(text):
            raise pickle.UnpicklingError(f"a type of numbers `{text!r:.40}`, which no array has")
        self.text = text
        self.order = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if state[1] in ("<", ">", "|", "="):
            self.order = state[1]

    def array(self, data: bytes, shape: tuple[int, ...], order: str) -> NDArray[Any]:
        """Numbers of this type; ValueError or TypeError where the bytes do not fit."""
        import numpy

        kind = numpy.dtype(self.text).newbyteorder(self.order)  # type: ignore[arg-type]
        return numpy.frombuffer(data, kind).reshape(shape, order=order)  # type: ignore[call-overload,no-any-return]


class StoredArray:
    """Stands for ``numpy.ndarray``: empty, until it gets its state."""

    def __init__(self, *_nothing: object) -> None:
        self.array: NDArray[Any] | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _version, shape, kind, by_column, data = state
        order = "F" if by_column else "C"
        self.array = kind.array(data, shape, order)


class StoredBuffer(StoredArray):
    """What newer pickles write: ``numpy._core.numeric._frombuffer``."""

    def __init__(self, data: bytes, kind: StoredType, shape: tuple[int, ...], order: str) -> None:
        super().__init__()
        self.array = kind.array(data, shape, order)


class StoredScalar:
    """A single number of numpy's, the best accuracy for one: no tensor of the network."""

    def __init__(self, *_value: object) -> None:
        pass


class StoredText:
    """``_codecs.encode`` of bytes that an old pickle holds as text."""

    def __new__(cls, text: str, _encoding: str = "latin1") -> bytes:  # type: ignore[misc]
        return text.encode("latin1")


# All that a dictionary of arrays needs, and what stands for it. Anything else in a pickle could run code.
STAND_INS = {
    ("numpy", "ndarray"): StoredArray,
    ("numpy", "dtype"): StoredType,
    ("numpy.core.multiarray", "_reconstruct"): StoredArray,
    ("numpy._core.multiarray", "_reconstruct"): StoredArray,
    ("numpy.core.multiarray", "scalar"): StoredScalar,
    ("numpy._core.multiarray", "scalar"): StoredScalar,
    ("numpy._core.numeric", "_frombuffer"): StoredBuffer,
    ("numpy.core.numeric", "_frombuffer"): StoredBuffer,
    ("_codecs", "encode"): StoredText,
    ("collections", "OrderedDict"): OrderedDict,
    ("builtins", "tuple"): tuple,  # paddle.save of a tensor inside a dictionary of a checkpoint
}


class ArraysOnly(pickle.Unpickler):
    """An unpickler that admits arrays, numbers, strings and containers of them."""

    def find_class(self, module: str, name: str) -> Any:
        """What stands for the class of an array; UnpicklingError for any other."""
        if (module, name) not in STAND_INS:
            raise pickle.UnpicklingError(f"{module}.{name} is not an array: the file was not opened")
        return STAND_INS[module, name]


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
    widened: frozenset[str] = frozenset()  # of tensors of 16 bits, as a network of float32 has them
    values: int = 0
    not_finite: tuple[str, ...] = ()
    clips: tuple[Clip, ...] = ()

    @property
    def tensors(self) -> int:
        return len(self.digests)

    @property
    def known(self) -> frozenset[str]:
        """The tensors by what is in them, in each form that a network may have them in."""
        return self.widened.union(self.digests.values())


def find_weights(path: Path) -> Path:
    """The file that a config names, where it may leave the ending out, or the only one of a folder that it
    names; as it is named if there is none."""
    for candidate in (path, path.with_name(path.name + SUFFIX)):
        if candidate.is_file():
            return candidate
    in_folder = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else []
    return in_folder[0] if len(in_folder) == 1 else path


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file of weights by name, however deep they lie; raises ValueError, OSError or an error
    of pickle."""
    content = ArraysOnly(io.BytesIO(read_bounded(path, LIMIT))).load()
    return dict(_arrays(content, ""))


def _arrays(value: Any, name: str) -> Iterator[tuple[str, NDArray[Any]]]:
    if isinstance(value, StoredArray):
        if value.array is None:
            raise ValueError(f"the array {name} has no values")
        yield name, value.array
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != NAMES:
                yield from _arrays(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], StoredArray):
        yield from _arrays(value[1], name)  # paddle.save of a bare parameter: (name, array)


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
        return WeightsInFile(
            path,
            error=english_text("a damaged file: {error}", error=f"{type(error).__name__}: {error}"[:300]),
        )
    floats = {}
    for name, array in arrays.items():
        if array.dtype.kind == "f":
            floats[name] = array
    return WeightsInFile(
        path,
        digests={name: digest(array) for name, array in arrays.items()},
        widened=frozenset(digest(array) for array in _widened(arrays.values())),
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


def _widened(arrays: Iterable[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """Numbers of 16 bits as float32, which holds every one of them exactly."""
    import numpy

    for array in arrays:
        if array.dtype == numpy.float16:
            yield array.astype(numpy.float32)
        elif array.dtype == numpy.uint16:  # how a file has bfloat16
            yield (array.astype(numpy.uint32) << 16).view(numpy.float32)


def _clips(arrays: dict[str, NDArray[Any]]) -> Iterator[Clip]:
    """Learnt clipping values: scalars named ``…alpha``, with their start where ``…alpha_start`` keeps it."""
    for name, array in arrays.items():
        if array.size == 1 and (name.endswith("alpha") or "pact_alpha" in name):
            first = None
            start = arrays.get(f"{name}_start")
            if start is not None:
                first = float(start.reshape(-1)[0])
            yield Clip(name, float(array.reshape(-1)[0]), first)
