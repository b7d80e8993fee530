"""A file of trained weights: is it whole, are its values finite, did its clipping values move?"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

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
}


class ArraysOnly(pickle.Unpickler):
    """An unpickler that admits arrays, numbers, strings and containers of them."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is no array: the file was not opened")
        return super().find_class(module, name)


def load(path: str) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a ``.pdparams`` file by name, however deep they lie."""
    with open(path, "rb") as stream:
        data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise ValueError(f"{path} is larger than {LIMIT} bytes")
    found: dict[str, np.ndarray[Any, Any]] = {}
    _collect(ArraysOnly(io.BytesIO(data)).load(), "", found)
    return found


def _collect(value: Any, name: str, found: dict[str, np.ndarray[Any, Any]]) -> None:
    if isinstance(value, np.ndarray):
        found[name] = value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "StructuredToParameterName@@":
                _collect(item, f"{name}.{key}" if name else str(key), found)
    elif isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], np.ndarray):
        found[name] = value[1]  # paddle.save of a bare parameter: (name, array)


def answer(question: dict[str, Any]) -> dict[str, Any]:
    arrays = load(question["weights"])
    floats = {name: array for name, array in arrays.items() if array.dtype.kind == "f"}
    return {
        "tensors": len(arrays),
        "values": int(sum(array.size for array in arrays.values())),
        "not_finite": [name for name, array in floats.items() if not np.isfinite(array).all()][:5],
        "zero": sum(array.size > 0 and not array.any() for array in floats.values()),
        "clips": clips(floats),
    }


def clips(arrays: dict[str, np.ndarray[Any, Any]]) -> list[dict[str, Any]]:
    """Learnt clipping values: scalars named ``…alpha``, with their start where ``…alpha_start`` keeps it."""
    found = []
    for name, array in arrays.items():
        if array.size == 1 and (name.endswith("alpha") or "pact_alpha" in name):
            start = arrays.get(f"{name}_start")
            found.append(
                {
                    "name": name,
                    "end": float(array.reshape(-1)[0]),
                    "start": None if start is None else float(start.reshape(-1)[0]),
                }
            )
    return found
