"""Checkpoints: written so that half a file is never seen, read so that only arrays come in.

A file holds a pickled dict of numpy arrays, text and numbers, as ``paddle.save`` writes it, so
``paddle.load`` reads ours and this reads paddle's. Pickle can run any code when it is read; here it cannot.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections import OrderedDict, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from paddlezoo.errors import ZooError, explain_os_error

# Every global that a pickle of arrays can name, for numpy 1 and 2.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("collections", "OrderedDict"): OrderedDict,
    ("builtins", "tuple"): tuple,
    ("__builtin__", "tuple"): tuple,
}
for _module in ("numpy.core.multiarray", "numpy._core.multiarray"):
    _ALLOWED[_module, "_reconstruct"] = np.zeros(0).__reduce__()[0]
    _ALLOWED[_module, "scalar"] = np.float32(0).__reduce__()[0]


class _Forbidden(pickle.UnpicklingError):
    """The pickle would do more than make arrays."""


def _latin1(text: str, encoding: str = "latin1") -> bytes:
    """Stands for ``_codecs.encode``, which old pickles call to make bytes."""
    if encoding != "latin1":
        raise _Forbidden(f"it names the encoding {encoding}")
    return text.encode("latin1")


_ALLOWED["_codecs", "encode"] = _latin1


class ArrayUnpickler(pickle.Unpickler):
    """Reads arrays, text, numbers and containers; refuses every other global by name."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise _Forbidden(f"it names {module}.{name}") from None


# What pickle raises for bytes that are no pickle, or half of one.
_DAMAGED = (
    *(pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError),
    *(ImportError, OverflowError, MemoryError, RecursionError),
)


def read(path: str | Path) -> dict[str, Any]:
    """The dict in a checkpoint file; ZooError if it is missing, cut short, or holds more than arrays."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = ArrayUnpickler(file).load()
    except _Forbidden as error:
        raise ZooError(f"{path}: refused: not a checkpoint of arrays only ({error})") from None
    except FileNotFoundError:
        raise ZooError(f"{path}: no such checkpoint") from None
    except OSError as error:
        raise ZooError(f"cannot read {explain_os_error(error)}") from None
    except _DAMAGED as error:
        raise ZooError(f"{path}: damaged checkpoint ({type(error).__name__}: {error})") from None
    if not isinstance(content, dict):
        raise ZooError(f"{path}: not a checkpoint: it holds a {type(content).__name__}")
    return content


def write(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write a checkpoint at once or not at all: an earlier file stays whole if the disk fills up."""
    write_bytes(path, lambda file: pickle.dump(dict(content), file, protocol=4))


def write_bytes(path: str | Path, fill: Any) -> None:
    """Let ``fill(file)`` write a new file beside ``path``, then put it in its place."""
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        kept = "; the earlier one is kept" if path.is_file() else ""
        reason = explain_os_error(OSError(error.errno, error.strerror))
        raise ZooError(f"cannot write {path}: {reason}{kept}") from None
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)


def write_text(path: str | Path, text: str) -> None:
    """``write`` for text."""
    write_bytes(path, lambda file: file.write(text.encode("utf-8")))


def weights_of(model: Any) -> dict[str, np.ndarray]:
    """A network's parameters and buffers as arrays, by their structured names."""
    return {name: tensor.numpy() for name, tensor in model.state_dict().items()}


def arrays_in(content: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The weights in what ``read`` gave: paddle adds a table of names and may pickle (name, array)."""
    found = {}
    for name, value in content.items():
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], np.ndarray):
            value = value[1]
        if isinstance(value, np.ndarray):
            found[name] = value
    return found


def is_quantised(arrays: Mapping[str, Any]) -> bool:
    """True for the weights of a network that was trained with PACT."""
    return any(name.endswith(".alpha") for name in arrays)


def load_weights(model: Any, arrays: Mapping[str, np.ndarray], path: str | Path) -> None:
    """Put weights into a network. All names and all shapes must fit; else ZooError says what does not."""
    own = model.state_dict()
    missing = [name for name in own if name not in arrays]
    surplus = [name for name in arrays if name not in own]
    if missing or surplus:
        first = f"lacks {missing[0]}" if missing else f"has {surplus[0]}, which the network lacks"
        raise ZooError(
            f"{path}: a checkpoint of another model: {len(missing)} of {len(own)} weights are missing and "
            f"{len(surplus)} are strange (it {first})"
        )
    for name, tensor in own.items():
        if list(arrays[name].shape) != list(tensor.shape):
            raise ZooError(
                f"{path}: {name} has the shape {list(arrays[name].shape)}, "
                f"the network's is {list(tensor.shape)}: another number of classes or another model"
            )
    model.set_state_dict(dict(arrays))


class Kept:
    """The numbered checkpoints of a training: beyond ``most`` of them, the oldest is removed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._paths: deque[tuple[Path, ...]] = deque()

    def add(self, *paths: Path) -> None:
        """A checkpoint was written: its files, or its folder."""
        self._paths.append(paths)
        while len(self._paths) > self._most:
            for path in self._paths.popleft():
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
