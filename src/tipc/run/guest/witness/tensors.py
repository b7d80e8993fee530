"""Tensors as arrays, digests and sums. Nothing here writes to a tensor or draws a random number."""

from __future__ import annotations

import functools
import hashlib
import math
import os
from collections.abc import Iterable, Iterator
from typing import Any

BLOCK = 1 << 20
Kind = Any  # a class or several, as isinstance takes them


def leaves(value: Any, path: str, kind: Kind) -> Iterator[tuple[str, Any]]:
    """The tensors in nested lists and dicts with the way to each: ``0``, ``1.image``."""
    if isinstance(value, kind):
        yield path, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}" if path else str(name), kind)
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            yield from leaves(item, f"{path}.{place}" if path else str(place), kind)


def arguments(args: tuple[Any, ...], kwargs: dict[str, Any], kind: Kind) -> list[tuple[str, Any]]:
    """The tensors among the arguments of a call: ``0`` for the first, ``image`` for one by name."""
    return [*leaves(args, "", kind), *leaves(kwargs, "", kind)]


def answers(value: Any, kind: Kind) -> list[tuple[str, Any]]:
    """The tensors that a call has returned; a single one is ``0``."""
    return list(leaves(value if isinstance(value, (list, tuple, dict)) else [value], "", kind))


def largest(tensors: list[tuple[str, Any]]) -> Any | None:
    """The tensor with most numbers that has a side: of a network's inputs, the images."""
    sided = [tensor for _path, tensor in tensors if len(tensor.shape) > 0]
    return max(sided, key=lambda tensor: math.prod(tensor.shape)) if sided else None


def array(tensor: Any) -> Any:
    """A copy of a tensor as an array; bfloat16 comes as the 16 bits that it is."""
    import numpy

    value = tensor.numpy() if hasattr(tensor, "numpy") else tensor
    return numpy.array(value, copy=True, order="C")


def fingerprint(tensor: Any) -> str:
    """Tells tensors apart at the speed of memory. Not a digest: it could be forged, which gains nothing."""
    import numpy

    value = numpy.ascontiguousarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
    data = value.reshape(-1).view(numpy.uint8)
    whole = data[: len(data) // 8 * 8].view(numpy.uint64)
    mixed = int(numpy.bitwise_xor.reduce(whole)) if len(whole) else 0
    total = int(numpy.add.reduce(whole)) if len(whole) else 0
    rest = data[len(data) // 8 * 8 :].tobytes().hex()
    return f"{mixed:016x}{total:016x}{rest}{'x'.join(map(str, value.shape))}"


def row_prints(tensor: Any) -> list[int]:
    """Tells the rows of a batch apart at the speed of memory, each by its numbers and where they stand."""
    import numpy

    value = numpy.ascontiguousarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
    if not value.size:
        return []
    data = value.reshape(len(value), -1).view(numpy.uint8)
    width = next(width for width in (8, 4, 2, 1) if data.shape[1] % width == 0)
    words = data.view(f"u{width}").astype(numpy.uint64, copy=False)
    prints: list[int] = (words @ _factors(words.shape[1])).tolist()
    return prints


def are_one_sample(given: list[tuple[str, Any]], batch: int) -> bool:
    """Whether all samples of a batch are the same. The largest of a network's inputs may be no images, but
    the targets of a detector, which are all empty: each input is looked at."""
    for _path, tensor in given:
        if len(tensor.shape) and int(tensor.shape[0]) == batch and len(set(row_prints(tensor))) > 1:
            return False
    return True


@functools.lru_cache(maxsize=4)
def _factors(count: int) -> Any:
    """As many odd numbers without a pattern, the same ones each time."""
    import numpy

    mixed = numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> numpy.uint64(29))) * numpy.uint64(0xBF58476D1CE4E5B9)
    return mixed | numpy.uint64(1)


def weights(named: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Named tensors at this moment, as ``Weights``."""
    import numpy

    digests, squares, finite = {}, 0.0, True
    for name, tensor in named:
        value = numpy.ascontiguousarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
        total = hashlib.sha256(f"{value.dtype.str}{value.shape}".encode())
        total.update(memoryview(value.reshape(-1).view(numpy.uint8)))  # type: ignore[arg-type]
        digests[str(name)] = total.hexdigest()[:16]
        if value.dtype.kind == "f":
            flat = value.reshape(-1).astype(numpy.float32, copy=False)
            square = float(numpy.einsum("i,i->", flat, flat))
            if not math.isfinite(square):
                finite = finite and bool(numpy.isfinite(flat).all())
                square = 0.0
            squares += square
    text = "".join(f"{name}\0{digest}\n" for name, digest in sorted(digests.items()))
    return {
        "digest": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32],
        "count": len(digests),
        "norm": math.sqrt(squares),
        "tensors": digests,
        "finite": finite,
    }


def file_digests(paths: Iterable[str]) -> dict[str, str]:
    """SHA-256 of the files that are there, by absolute path."""
    found = {}
    for path in paths:
        total = hashlib.sha256()
        try:
            with open(path, "rb") as file:
                for block in iter(lambda: file.read(BLOCK), b""):
                    total.update(block)
        except OSError:
            continue
        found[os.path.abspath(path)] = total.hexdigest()
    return found
