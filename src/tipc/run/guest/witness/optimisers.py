"""The door of training: backward, the optimisers, the loss scaler; the weights before and after."""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Iterable
from typing import Any

from tipc.run.guest.witness.carried import Carried
from tipc.run.guest.witness.door import Door, is_watched
from tipc.run.guest.witness.frozen import Frozen
from tipc.run.guest.witness.tensors import array, weights

FIRST = 1000  # losses and times that are kept, and as many of the last losses
RATES = 8
HABIT = 8  # times that a tensor is overwritten after a step: then that is a part of the training
OVERWRITING = ("set_value", "copy_", "fill_", "zero_", "scale_", "clip_", "__setitem__")
EARLY = 3  # steps after which the weights of several ranks are compared
GRADIENTS = 3  # steps before which gradients are looked at
COMPARED = 4 << 20  # numbers of the weights that are kept to tell by how much they change
SWALLOWED = 0.25  # of the distance to the next number: adding less than half of it changes nothing
FAR = 0.01  # of the way of the tensor that went farthest: less shows no rate, a first gradient may be tiny
BEYOND = 10.0  # times that way: so far goes no tensor whose first gradient came after those that were seen
DECAYED = 1e-3  # of a tensor's size: weight decay alone moves it no farther in steps that rounding swallows


class Training(Door):
    """Counts steps and keeps losses. A step inside a step (an optimiser that wraps another) is one."""

    name = "Optimizer.step"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.steps = 0
        self.skipped = 0
        self.backwards = 0
        self.unused = 0  # calls of backward since the latest step
        self.gathered = 0  # the most that came before a step: gradients of several batches may be added up
        self.first_losses: list[float] = []
        self.last_losses: deque[float] = deque(maxlen=FIRST)
        self.first_rates: list[float] = []
        self.rate = math.nan
        self.standing = 0  # steps at a rate of 0
        self.times: list[float] = []
        self.times_at_work: list[float] = []
        self.working = 0.0  # since when: the first forward after the latest step; 0.0: not yet
        self.begun = 0.0  # the first forward, backward or step
        self.ended = 0.0  # the latest step
        self.parameters: dict[int, Any] = {}  # by identity: those that are optimised
        self.given: dict[str, None] = {}  # names of those that an optimiser was given
        self.looked = 0  # steps before which gradients were looked at
        self.reached: set[str] = set()  # names of those that had a gradient then
        self.graded: dict[str, None] = {}  # and one that could move them
        self.pulls: dict[int, Any] = {}  # how large that was at most, number by number as in ``samples``
        self.zero: set[str] = set()  # and one that was 0 throughout
        self.samples: dict[int, Any] = {}  # their numbers before the first step, or a part of them
        self.before: dict[str, Any] | None = None
        # As the latest step left them: those that the script has overwritten since; and how often it has.
        self.left: dict[int, tuple[int, Any]] = {}
        self.overwritten: dict[int, int] = {}
        self.amp: dict[str, str] = {}
        self.frozen = Frozen()
        self.carried = Carried()
        self.network: Any = None  # the largest that was called in training mode
        self.largest = 0
        self.early: list[str] = []  # digests of the weights after the first steps, of several ranks
        self.ranks = int(os.environ.get("PADDLE_TRAINERS_NUM", "1") or 1)
        self.by_hand = False  # the script moves weights by itself, without an optimiser
        self._depth = 0
        self._sizes: dict[int, int] = {}  # identity of an optimiser → how many parameters it had
        self._scaled: dict[int, float] = {}  # identity of a scaled loss → the loss itself

    def attach(self, paddle: Any) -> None:
        """Watch every optimiser that there is, and those that the script defines when it makes one."""
        self.in_dynamic_mode = paddle.in_dynamic_mode
        base = paddle.optimizer.Optimizer
        for kind in _family(base):
            self._watch_optimiser(kind)
        self.around(base, "__init__", before=self._made)
        self.around(paddle.Tensor, "backward", before=self.seen_backward)
        for name in OVERWRITING:
            if hasattr(paddle.Tensor, name):
                self.around(paddle.Tensor, name, before=self._overwrite)
        scaler = paddle.amp.GradScaler
        for kind in reversed(scaler.__mro__[:-1]):
            for name, before, after in (
                ("scale", None, self._scale),
                ("step", None, self._scaler_stepped),
                ("minimize", None, self._scaler_stepped),
            ):
                if name in vars(kind) and not is_watched(vars(kind)[name]):
                    self.around(kind, name, before=before, after=after)

    def _watch_optimiser(self, kind: type) -> None:
        for name in ("step", "minimize"):
            if name in vars(kind) and not is_watched(vars(kind)[name]):
                self.around(kind, name, before=self._begin_step, after=self._end_step, failed=self._break_off)

    def _made(self, optimiser: Any, *_args: Any, **_kwargs: Any) -> None:
        for kind in type(optimiser).__mro__:
            self._watch_optimiser(kind)

    def seen_forward(self, network: Any) -> None:
        """A network was called in training mode."""
        size = self.witness.networks.size_of(network)
        if size >= self.largest:  # a loss can be a network, too
            self.network, self.largest = network, size
        self._begin_work()

    def _begin_work(self) -> None:
        """What the next step comes from has begun, where it had not yet."""
        if not self.working:
            self.working = time.perf_counter()
            self.begun = self.begun or self.working

    def seen_backward(self, tensor: Any, *_args: Any, **_kwargs: Any) -> None:
        """Gradients of a loss are computed."""
        self.backwards += 1
        self.unused += 1
        self.carried.before_backward()
        if self.before is None and self.network is not None:
            self.frozen.look(self.network, self.witness.networks.generation)
            self.add([item for item in self.network.parameters() if is_trainable(item)])
        if tensor.size != 1:
            return
        loss = self._scaled.pop(id(tensor), None)
        if loss is None:
            loss = float(tensor)
        self._keep_loss(loss)

    def _overwrite(self, tensor: Any, *_args: Any, **_kwargs: Any) -> None:
        """A tensor gets other numbers, not by an optimiser: remember it as the latest step has left it."""
        identity = id(tensor)
        if not self.steps or self._depth or self.by_hand or identity not in self.parameters:
            return
        if identity in self.left and self.left[identity][0] == self.steps:
            return
        self.overwritten[identity] = self.overwritten.get(identity, 0) + 1
        self.left.pop(identity, None)
        if self.overwritten[identity] <= HABIT:
            self.left[identity] = (self.steps, array(tensor))

    def as_left(self, parameter: Any) -> Any:
        """A parameter as the latest step has left it."""
        step, value = self.left.get(id(parameter), (-1, None))
        return value if step == self.steps else parameter

    def now(self) -> dict[str, Any]:
        """All parameters, as the latest step has left them."""
        return weights((item.name, self.as_left(item)) for item in self.parameters.values())

    def _keep_loss(self, loss: float) -> None:
        if len(self.first_losses) < FIRST:
            self.first_losses.append(loss)
        else:
            self.last_losses.append(loss)

    def _is_step(self, optimiser: Any) -> bool:
        """In a static graph ``minimize`` only writes operators: the executor takes the steps."""
        return hasattr(optimiser, "_parameter_list") and bool(self.in_dynamic_mode())

    def begin_program(self, tensors: list[Any]) -> None:
        """A static program is about to train."""
        self._begin_work()
        parameters = [item for item in tensors if not item.stop_gradient]
        self.add(parameters)
        self.given.update((item.name, None) for item in parameters)

    def end_program(self, losses: list[float]) -> None:
        """It has run once: backward and a step."""
        self.backwards += 1
        for loss in losses:
            self._keep_loss(loss)
        self._count_step()

    def _begin_step(self, optimiser: Any, *_args: Any, **_kwargs: Any) -> None:
        if not self._is_step(optimiser):
            return
        self._depth += 1
        if self._depth > 1:
            return
        self._begin_work()
        parameters = _parameters(optimiser)
        self.add(parameters)
        self.carried.before_step(optimiser, parameters)
        if self._sizes.get(id(optimiser)) != len(parameters):
            self._sizes[id(optimiser)] = len(parameters)
            self.given.update((item.name, None) for item in parameters)
        if self.looked < GRADIENTS:
            self._look_at([(item, item.grad) for item in parameters])
        self.rate = float(optimiser.get_lr())
        self.standing += self.rate == 0.0
        if len(self.first_rates) < RATES:
            self.first_rates.append(self.rate)

    def _look_at(self, gradients: list[tuple[Any, Any]]) -> None:
        """Parameters and their gradients before one of the first steps."""
        self.looked += 1
        for item, gradient in gradients:
            if gradient is not None:
                self.reached.add(item.name)
                if _can_move(item, gradient):
                    self.graded[item.name] = None
                    self._keep_pull(item, gradient)
                elif is_zero(gradient):
                    self.zero.add(item.name)

    def _keep_pull(self, parameter: Any, gradient: Any) -> None:
        import numpy

        identity = id(parameter)
        try:
            pull = abs(part_of(gradient, self.samples[identity][0]))
        except Exception:  # noqa: BLE001  (of rows of an embedding, which are no array)
            return
        self.pulls[identity] = numpy.maximum(pull, self.pulls.get(identity, 0.0))

    @property
    def is_stepping(self) -> bool:
        """An optimiser is at work."""
        return self._depth > 0

    def step_by_hand(self, gradients: dict[int, Any]) -> None:
        """The script has taken a step without an optimiser, with these gradients by identity."""
        self.by_hand = True
        if self.looked < GRADIENTS:
            self._look_at([(self.parameters[key], gradient) for key, gradient in gradients.items()])
        self._count_step()

    def _end_step(self, _note: None, _answer: Any, optimiser: Any, *_args: Any, **_kwargs: Any) -> None:
        if not self._is_step(optimiser):
            return
        self._depth -= 1
        if self._depth == 0:
            self._count_step()

    def _count_step(self) -> None:
        self.steps += 1
        self.gathered = max(self.gathered, self.unused)
        self.unused = 0
        now = time.perf_counter()
        if len(self.times) < FIRST:
            self.times.append(now - (self.ended or self.begun))
            self.times_at_work.append(now - (self.working or self.ended))
        self.ended, self.working = now, 0.0
        if self.ranks > 1 and len(self.early) < EARLY:
            self.early.append(self.now()["digest"])
        self.witness.report_if_due()

    def _break_off(self) -> None:
        self._depth = max(0, self._depth - 1)

    def _scale(self, _note: None, scaled: Any, scaler: Any, loss: Any, *_args: Any) -> None:
        enabled = bool(getattr(scaler, "_enable", False))
        self.amp["scaler"] = "enabled" if enabled else "disabled"
        if enabled and loss.size == 1:
            self._scaled = {id(scaled): float(loss)}

    def _scaler_stepped(self, _note: None, _answer: Any, scaler: Any, *_args: Any, **_kwargs: Any) -> None:
        found = getattr(scaler, "_cache_found_inf", None)
        if getattr(scaler, "_enable", False) and found is not None and bool(found):
            self.skipped += 1
            self.unused, self.working = 0, 0.0

    def add(self, parameters: list[Any]) -> None:
        """Remember parameters as they are before they are first changed."""
        new = [item for item in parameters if id(item) not in self.parameters]
        if not new:
            return
        self.parameters.update((id(item), item) for item in new)
        seen = weights((item.name, item) for item in new)
        self.before = seen if self.before is None else _joined(self.before, seen)
        room = COMPARED - sum(len(part) for _stride, part in self.samples.values())
        total = sum(math.prod(item.shape) for item in new)
        stride = max(1, math.ceil(total / max(1, room)))
        for item in new:
            self.samples[id(item)] = (stride, part_of(item, stride))

    def _differences(self) -> dict[int, Any]:
        """By how much each tensor is another than before the first step, number by number."""
        found = {}
        for identity, (stride, before) in self.samples.items():
            found[identity] = part_of(self.as_left(self.parameters[identity]), stride) - before
        return found

    def _change(self, differences: dict[int, Any]) -> float:
        """Of all tensors, or of those that had a gradient: clipping values of 100 that none has reached yet
        would be nearly all that the weights are measured by."""
        change = self._change_of(differences, self.samples)
        if len(self.pulls) * 2 > len(self.samples):
            graded = self._change_of(differences, self.pulls)
            if math.isfinite(graded):
                change = max(change, graded)
        return change

    def _change_of(self, differences: dict[int, Any], identities: Iterable[int]) -> float:
        difference = size = 0.0
        for identity in identities:
            difference += float((differences[identity] ** 2).sum())
            size += float((self.samples[identity][1] ** 2).sum())
        if size == 0.0:
            return 0.0 if difference == 0.0 else math.inf
        return math.sqrt(difference / size)

    def _kernels(self, differences: dict[int, Any]) -> dict[str, int]:
        """How many kernels and matrices the network has, and how many of them are others than at first."""
        count = self.frozen.kernels()
        moved = 0
        for identity, difference in differences.items():
            if len(self.parameters[identity].shape) > 1:
                count += 1
                moved += bool(difference.any())
        return {"kernels": count, "kernels_moved": moved}

    def _rate(self, differences: dict[int, Any]) -> float:
        """How far a step went for a gradient, of the tensors that went farthest: one that was moved by hand
        is among them. 0 if none had a gradient, or if one that had none went by more than decay and farther
        than a gradient that came later would take it."""
        ways = {key: float(abs(value).max(initial=0.0)) for key, value in differences.items()}
        farthest = max((ways[key] for key in self.pulls), default=0.0)
        rate = 0.0
        for identity, way in ways.items():
            pull = float(self.pulls[identity].max(initial=0.0)) if identity in self.pulls else 0.0
            if pull > 0.0 and way >= FAR * farthest:
                rate = max(rate, way / pull / max(1, self.steps))
            size = norm_of(self.samples[identity][1])
            if pull == 0.0 and way > BEYOND * farthest and norm_of(differences[identity]) > DECAYED * size:
                return 0.0
        return rate

    def _lost(self, differences: dict[int, Any]) -> set[str]:
        """Names of tensors that stayed because rounding swallows steps as small as those that were taken,
        as a warm-up begins with."""
        import numpy

        rate = self._rate(differences)
        lost = set()
        for identity, pull in self.pulls.items():
            if rate == 0.0 or differences[identity].any():
                continue
            room = numpy.spacing(abs(self.samples[identity][1]))
            if (rate * pull.astype("float64") <= SWALLOWED * room).all():
                lost.add(self.parameters[identity].name)
        return lost

    def facts(self, *, final: bool) -> dict[str, Any]:
        """``training``, if there was any."""
        calls = self.witness.networks.trained
        if not (self.steps or self.backwards):
            return {}
        last = [self.rate] if self.steps > RATES else []
        told: dict[str, Any] = {
            "steps": self.steps,
            "skipped_steps": self.skipped,
            "backwards": self.backwards,
            "losses": [*self.first_losses, *self.last_losses],
            "before": self.before,
            "after": None,
            "change": 0.0,
            "learning_rates": [*self.first_rates, *last],
            "batch_sizes": calls.batch_sizes if calls else [],
            "samples": calls.samples if calls else 0,
            "forwards": calls.count if calls else 0,
            "seconds": max(0.0, self.ended - self.begun),
            "step_seconds": self.times,
            "work_seconds": self.times_at_work,
            "input_digests": calls.digests if calls else [],
            "batches_looked_at": calls.looked if calls else 0,
            "batches_of_one": calls.of_one if calls else 0,
            "amp": self.amp,
            "given": list(self.given),
            "gradients_seen": self.looked,
            "with_gradient": list(self.graded),
            "without_gradient": [name for name in self.given if self.looked and name not in self.reached],
            "zero_gradient": [name for name in self.given if name in self.zero and name not in self.graded],
            "early": self.early,
            "unused": self.unused,
            "gathered": self.gathered,
            "standing": self.standing,
            "carried": self.carried.carried,
            "carried_of": self.carried.looked,
        }
        if final:
            told.update(self.frozen.facts())
            told["after"] = self.now()
            differences = self._differences()
            told["change"] = self._change(differences)
            told.update(self._kernels(differences))
            lost = self._lost(differences)
            told["with_gradient"] = [name for name in self.graded if name not in lost]
        told["own_seconds"] = self.witness.own_seconds
        return {"training": told}


def _family(base: type) -> list[type]:
    """A class and all below it."""
    found: list[type] = [base]
    below: list[type] = base.__subclasses__()
    for kind in below:
        found += _family(kind)
    return found


def _parameters(optimiser: Any) -> list[Any]:
    """What an optimiser changes, also where it has groups of them."""
    found: list[Any] = []
    for item in optimiser._parameter_list or []:
        found += item["params"] if isinstance(item, dict) else [item]
    return [item for item in found if is_trainable(item)]


def is_trainable(parameter: Any) -> bool:
    """Whether gradients are for it. A statistic that an operator writes in place (a quantiser's scale) is
    made frozen, and looks trainable after the first call: then it is the operator's result, and no leaf."""
    return not parameter.stop_gradient and bool(getattr(parameter, "is_leaf", True))


def _can_move(parameter: Any, gradient: Any) -> bool:
    """Whether a step with this gradient must change the parameter."""
    if str(parameter.dtype).rpartition(".")[2].lower() not in ("float32", "fp32"):
        return False  # in low precision a small step may be lost in rounding
    if getattr(parameter, "optimize_attr", {}).get("learning_rate") == 0:
        return False
    return not is_zero(gradient)


def is_zero(gradient: Any) -> bool:
    """Whether a gradient is 0 throughout."""
    try:
        return not bool((gradient.numpy() != 0).any())
    except Exception:  # noqa: BLE001  (of rows of an embedding, which are no array)
        return False


def part_of(parameter: Any, stride: int) -> Any:
    import numpy

    value = parameter.numpy() if hasattr(parameter, "numpy") else parameter
    value = value.reshape(-1)[::stride]
    if value.dtype.name == "uint16":  # how bfloat16 comes: the upper half of a float32
        value = (value.astype("uint32") << 16).view("float32")
    return numpy.array(value, dtype=numpy.float32)


def norm_of(values: Any) -> float:
    return math.sqrt(float(values @ values))


def _joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two sets of weights as one. Its digest is over the digests, which is what it is for one set, too."""
    import hashlib

    tensors = {**first["tensors"], **second["tensors"]}
    text = "".join(f"{name}\0{digest}\n" for name, digest in sorted(tensors.items()))
    return {
        "digest": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32],
        "count": len(tensors),
        "norm": math.hypot(first["norm"], second["norm"]),
        "tensors": tensors,
        "finite": first["finite"] and second["finite"],
    }
