"""The door of weights files: ``paddle.load`` and ``paddle.save``."""

from __future__ import annotations

import math
import os
from typing import Any

from tipc.run.guest.witness.door import Door
from tipc.run.guest.witness.optimisers import Training, norm_of, part_of
from tipc.run.guest.witness.tensors import array, leaves, weights

MOST = 256  # files of either kind; then the last one is replaced
NOT_WEIGHTS = (".pdopt", ".pdscaler", ".pdstates")
UNCORRECTED = 0.05  # by which an average that began with zeros may be too small or too large
# A tensor of few numbers can come back to where it began, with its average far away: of 1,600 random walks
# with 8 numbers none did, with one number up to every sixth.
JUDGED = 8
STRAYED = 1.5  # times its own way: a tensor's average lies no farther off
HALF_ROUNDING = 1e-3  # of a tensor's size: what storing it in 16 bits does
AVERAGING = 1e-6  # of the weights' size: what rounding does to an average of them, in 32 bits


class WeightsFiles(Door):
    """Which weights were read and written. What is done with those read shows at the other doors."""

    name = "paddle.load, paddle.save"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.loads: list[dict[str, Any]] = []
        self.saves: list[dict[str, Any]] = []

    def attach(self, paddle: Any) -> None:
        """Watch both, wherever paddle itself has them."""
        self.paddle = paddle
        self.around(paddle, "load", after=self._loaded)
        self.around(paddle, "save", after=self._saved)
        for module in (paddle.framework, paddle.framework.io):
            module.load = paddle.load
            module.save = paddle.save

    def _loaded(self, _note: None, content: Any, path: Any, *_args: Any, **_kwargs: Any) -> None:
        self._add(self.loads, path, content)

        self.witness.networks.generation += 1  # what networks answer from now on, other weights may answer

    def _saved(self, _note: None, _answer: Any, content: Any, path: Any, *_args: Any, **_kwargs: Any) -> None:
        tensors = self._add(self.saves, path, content)
        if tensors and self.witness.training.steps:
            self.saves[-1].update(compared(self.witness.training, tensors))

    def _add(self, files: list[dict[str, Any]], path: Any, content: Any) -> list[tuple[str, Any]]:
        """Remember a file; the tensors in it."""
        if not isinstance(path, (str, os.PathLike)):
            return []
        name = os.path.abspath(os.fspath(path))
        if name.endswith(NOT_WEIGHTS):
            return []
        import numpy

        core = self.paddle.base.core
        of_programs = getattr(core, "DenseTensor", None) or core.LoDTensor  # paddle 2.6 has the older name
        kinds = (self.paddle.Tensor, numpy.ndarray, of_programs)
        found = list(leaves(content, "", kinds))
        if not found:
            return []
        seen = {"path": name, "weights": weights(found), "at_step": self.witness.training.steps}
        if len(files) < MOST:
            files.append(seen)
        else:
            files[-1] = seen
        return found

    def facts(self, *, final: bool) -> dict[str, Any]:
        """``loads`` and ``saves``."""
        return {"loads": self.loads, "saves": self.saves}


def compared(training: Training, saved: list[tuple[str, Any]]) -> dict[str, Any]:
    """Tensors that are being saved against the optimised ones at this moment: ``trained`` is how many of
    these are among them, ``apart`` how far the others lie off the way that training has gone: what a
    detour by them from the start to here is longer, as a share of it. Averages of the way lie along it;
    the weights of another network lie elsewhere. -1 where that cannot be told. ``changed`` is one of
    them where the rest is as trained: an average would have moved all of them. ``judged`` is how many
    could be looked at one by one, ``strayed`` which of them lie off their own way. ``gone`` is how far from
    the start they are, as a share of the way."""
    ours = set()
    for identity, item in training.parameters.items():
        if training.as_left(item) is item:
            ours.add(identity)
    same = sum(id(tensor) in ours for _path, tensor in saved)
    if same < len(training.parameters):
        now = set(training.now()["tensors"].values())
        same = len(now & set(weights(saved)["tensors"].values()))
    if same < len(training.parameters):
        same += _halved(training, saved)
    told: dict[str, Any] = {"trained": same, "apart": -1.0, "gone": 1.0}
    told.update({"changed": "", "judged": 0, "strayed": []})
    if same < len(training.parameters):
        told.update(_detour(_moved(training, saved)))
    return told


def _moved(training: Training, saved: list[tuple[str, Any]]) -> list[tuple[str, Any, Any, Any]]:
    """Tensors that training has moved and that are saved by the same name: the name, what is saved, what
    it is now, what it was at the start."""
    found = []
    for path, tensor, mine in _by_name(training, saved):
        stride, before = training.samples[id(mine)]
        here = _wide(part_of(training.as_left(mine), stride))
        if (here != before).any():
            found.append((path, _wide(part_of(tensor, stride)), here, _wide(before)))
    return found


def _by_name(training: Training, saved: list[tuple[str, Any]]) -> list[tuple[str, Any, Any]]:
    """The tensors that are saved under the name of an optimised one, and that one."""
    if training.network is None:
        return []
    state = training.network.state_dict()
    named = {name: tensor for name, tensor in state.items() if id(tensor) in training.samples}
    found = []
    for path, tensor in saved:
        mine = named.get(path, named.get(path.partition(".")[2]))
        if mine is not None and list(mine.shape) == list(tensor.shape):
            found.append((path, tensor, mine))
    return found


def _halved(training: Training, saved: list[tuple[str, Any]]) -> int:
    """How many optimised tensors of 32 bits are saved as they are now, but in 16 bits."""
    count = 0
    for _path, tensor, mine in _by_name(training, saved):
        there = array(tensor)
        if there.dtype.name not in ("float16", "uint16"):
            continue
        here = array(training.as_left(mine))
        if here.dtype.name == "float32" and _is_half_of(there, here):
            count += 1
    return count


def _is_half_of(there: Any, here: Any) -> bool:
    """Numbers of 16 bits are those of 32 bits, rounded or cut off: paddle does either."""
    import numpy

    if there.dtype.name == "float16":
        with numpy.errstate(over="ignore"):  # numpy would warn, in the script's own output
            rounded = here.astype("float16")
        too_far = abs(rounded.astype("float32")) > abs(here)
        cut = numpy.where(too_far, numpy.nextafter(rounded, numpy.float16(0)), rounded)
    else:  # bfloat16 is the upper half of a float32; of two that are as near it is the even one
        bits = here.view("uint32").astype("uint64")
        cut = bits >> 16
        rounded = (bits + 0x7FFF + (cut & 1)) >> 16
    return bool(((there == cut) | (there == rounded)).all())


def _detour(moved: list[tuple[str, Any, Any, Any]]) -> dict[str, Any]:
    """How far tensors that are not saved as trained lie off the way, and whether others are."""
    others = [one for one in moved if (one[1] != one[2]).any()]
    mixed = 0 < len(others) < len(moved)
    product = sum(float(there @ here) for _path, there, here, _before in others)
    size = sum(float(here @ here) for _path, _there, here, _before in others)
    way = math.sqrt(sum(float(((here - before) ** 2).sum()) for _path, _there, here, before in others))
    if way == 0.0 or size == 0.0:
        return {}
    # An average that begins with zeros and is corrected for it may be off by a factor.
    factor = product / size
    if mixed or abs(factor - 1.0) > UNCORRECTED:
        factor = 1.0
    length = 0.0
    for end in (2, 3):
        length += math.sqrt(sum(float(((one[1] / factor - one[end]) ** 2).sum()) for one in others))
    gone = math.sqrt(sum(float(((there - before) ** 2).sum()) for _path, there, _here, before in others))
    judged = [one for one in others if one[1].size >= JUDGED]
    strayed = []
    for path, there, here, before in judged:
        if _strayed(there / factor, here, before):
            strayed.append(path)
    length -= 2.0 * AVERAGING * math.sqrt(size)
    return {
        "apart": max(0.0, length / way - 1.0),
        "gone": gone / way,
        "changed": others[0][0] if mixed else "",
        "judged": len(judged),
        "strayed": strayed,
    }


def _strayed(there: Any, here: Any, before: Any) -> bool:
    """One tensor lies off its own way from the start to here: trained weights that were scaled do, where they
    are large and were moved little."""
    length = norm_of(there - before) + norm_of(there - here)
    way = norm_of(here - before)
    return length > (1.0 + STRAYED) * way + 2.0 * HALF_ROUNDING * norm_of(here)


def _wide(part: Any) -> Any:
    return part.astype("float64")
