"""The parameters of an exported model (``.pdiparams``), read without paddle.

The file is one tensor after the other, each as::

    uint32 version · uint64 levels of detail (0) · uint32 version · int32 length of a description
    the description, a protobuf message: field 1 the type of number, field 2 each side · the values
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from tipc.bounded import read_bounded

HEAD = struct.Struct("<IQIi")
# The numbers of paddle's VarType; bfloat16 comes as the 16 bits that it is.
TYPES = {0: "?", 1: "<i2", 2: "<i4", 3: "<i8", 4: "<f2", 5: "<f4", 6: "<f8", 20: "u1", 21: "i1", 22: "<u2"}
LIMIT = 4 * 2**30


def read_params(path: Path) -> list[NDArray[Any]]:
    """The tensors of the file in its order; raises ValueError or OSError where it is not in this form."""
    return [array for array, _ in _places(read_bounded(path, LIMIT))]


def kinds_of_numbers(path: Path) -> frozenset[str]:
    """The types of the file's tensors that have several numbers; read once, unless it changes. Raises as
    ``read_params`` does."""
    state = path.stat()
    return _kinds_of_numbers(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _kinds_of_numbers(path: Path, _size: int, _changed: int) -> frozenset[str]:
    found = set()
    for array in read_params(path):
        if array.size > 1:
            found.add(array.dtype.name)
    return frozenset(found)


def _tensor(data: bytes, at: int) -> tuple[NDArray[Any], int]:
    if at + HEAD.size > len(data):
        raise ValueError("the file is cut off")
    version, levels, inner, length = HEAD.unpack_from(data, at)
    if version != 0 or inner != 0 or levels != 0 or not 0 < length < 1000:
        raise ValueError("not a file of parameters")
    at += HEAD.size
    kind, sides = _description(data[at : at + length])
    at += length
    count = math.prod(sides)
    size = count * kind.itemsize
    if at + size > len(data):
        raise ValueError("the file is cut off")
    array = numpy.frombuffer(data, kind, count, at).reshape(sides)
    return array, at + size


def _description(data: bytes) -> tuple[numpy.dtype[Any], tuple[int, ...]]:
    kind, sides, at = -1, [], 0
    while at < len(data):
        key, at = _varint(data, at)
        if key == 8:  # field 1, a number
            kind, at = _varint(data, at)
        elif key == 16:  # field 2, a number
            side, at = _varint(data, at)
            sides.append(side)
        else:
            raise ValueError("not a file of parameters")
    if kind not in TYPES:
        raise ValueError(f"a type of number that is not known: {kind}")
    return numpy.dtype(TYPES[kind]), tuple(sides)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("the file is cut off")


def write_rounded(source: Path, target: Path, seed: int = 0) -> None:
    """The same parameters, each number replaced by one of its two neighbours.

    What becomes of a network's outputs then is what rounding makes of them: two engines round differently.
    """
    data = bytearray(read_bounded(source, LIMIT))
    random = numpy.random.default_rng(seed)
    for array, start in _places(bytes(data)):
        if array.dtype.kind == "f":
            data[start : start + array.nbytes] = neighbours(array, random).tobytes()
    target.write_bytes(data)


def _places(data: bytes) -> Iterator[tuple[NDArray[Any], int]]:
    """The tensors, each with where its values begin."""
    at = 0
    while at < len(data):
        array, end = _tensor(data, at)
        yield array, end - array.nbytes
        at = end


def neighbours(array: NDArray[Any], random: numpy.random.Generator) -> NDArray[Any]:
    """Each number replaced by the next larger or the next smaller one; zeros and integers stay."""
    if array.dtype.kind != "f":
        return array
    towards = numpy.where(random.random(array.shape) < 0.5, numpy.inf, -numpy.inf).astype(array.dtype)
    moved = numpy.nextafter(array, towards)
    return numpy.where(array == 0, array, moved).astype(array.dtype)
