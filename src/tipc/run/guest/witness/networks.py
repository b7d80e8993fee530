"""The door of networks: the outermost call of a Layer, in training mode and in eval mode."""

from __future__ import annotations

import functools
import re
import threading
import weakref
from typing import Any

from tipc.run.guest.script import unseen
from tipc.run.guest.witness.door import Door, leave_no_frame
from tipc.run.guest.witness.tensors import (
    answers,
    are_one_sample,
    arguments,
    array,
    fingerprint,
    largest,
    row_prints,
    weights,
)

KEPT = 8  # calls in eval mode whose inputs and outputs are kept
SHARE = 16 << 20  # bytes that the arrays of one evaluation may take while training goes on
DIGESTS = 64
EVALUATIONS = 64  # that are told
DISTINCT = 10_000  # samples that are told apart
# Kinds of layers, of paddle's or others, that answer otherwise in training mode.
OTHER_IN_TRAINING = re.compile(r"drop|batch_?norm|instance_?norm|quant", re.IGNORECASE)


class Calls:
    """The calls of one network in training mode."""

    def __init__(self, parameters: int) -> None:
        self.parameters = parameters
        self.count = 0
        self.in_auto_cast = 0
        self.learning = False  # one of the calls in auto_cast was made with gradients
        self.samples = 0
        self.batch_sizes: list[int] = []
        self.digests: list[str] = []
        self.looked = 0  # batches of several samples, the first ones
        self.of_one = 0  # of which all samples are the same


class Evaluation:
    """The calls of one network in eval mode between two optimiser steps, and between two loadings."""

    def __init__(self, network: Any, parameters: int, at_step: int, generation: int) -> None:
        self.network = type(network).__name__
        self.parameters = parameters
        self.at_step = at_step
        self.generation = generation
        self.weights = weights(network.state_dict().items())
        self.calls = 0
        self.samples = 0
        self.kept: list[dict[str, Any]] = []
        self.held: list[tuple[dict[str, Any], dict[str, Any]]] = []  # arrays that are sent at the end
        self.statistics: dict[str, list[float]] = {}
        self.batches: set[int] = set()  # what tells batches apart
        self.rows: set[int] = set()  # and samples


class _Here(threading.local):
    inside = False  # this thread is in a network's call


class Networks(Door):
    """Watches ``Layer.__call__``. A layer inside a network costs one more call of a function, no more."""

    name = "Layer.__call__"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.here = _Here()
        self.sizes: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.training: dict[int, Calls] = {}
        self.current: dict[int, Evaluation] = {}  # by identity of the network
        self.evaluations: list[Evaluation] = []
        self.generation = 0  # of weights: files that were loaded, states that were set

    @property
    def trained(self) -> Calls | None:
        """The calls in training mode of the network with most parameters: a loss can be a Layer, too."""
        calls = list(self.training.values())
        return max(calls, key=lambda call: call.parameters) if calls else None

    def attach(self, paddle: Any) -> None:
        """Replace ``Layer.__call__``."""
        self.paddle = paddle
        layer = paddle.nn.Layer
        real = layer.__call__
        here, witness = self.here, self.witness

        @functools.wraps(real)
        def __call__(network: Any, *inputs: Any, **kwargs: Any) -> Any:
            outermost = not (here.inside or witness.silent) and self.size_of(network) > 0
            note = None
            if outermost:
                here.inside = True
                note = self.safely(self._before, network, inputs, kwargs)
            try:
                answer = real(network, *inputs, **kwargs)
            except BaseException as error:
                leave_no_frame(error)
                if outermost:
                    here.inside = False
                raise
            if outermost:
                if note is not None:
                    self.safely(note, answer)
                here.inside = False
            return answer

        self._real, self._watched = real, __call__
        layer.__call__ = unseen(__call__)
        self._stand_aside_for_static_graphs(layer)
        self._watch_states(layer)
        for name in ("flops", "summary"):  # they call the network on nothing
            if hasattr(paddle, name):
                self._ignore(paddle, name)

    def _watch_states(self, layer: Any) -> None:
        """From the moment that a network is given a state it answers with other weights."""

        def given(*_args: Any, **_kwargs: Any) -> None:
            self.generation += 1

        for name in ("set_state_dict", "set_dict", "load_dict"):
            if hasattr(layer, name):
                self.around(layer, name, before=given)

    def _ignore(self, owner: Any, name: str) -> None:
        """Calls of networks inside a function are not the script's."""
        real = getattr(owner, name)
        here = self.here

        @functools.wraps(real)
        def watched(*args: Any, **kwargs: Any) -> Any:
            inside, here.inside = here.inside, True
            try:
                return real(*args, **kwargs)
            except BaseException as error:
                leave_no_frame(error)
                raise
            finally:
                here.inside = inside

        setattr(owner, name, unseen(watched))

    def _stand_aside_for_static_graphs(self, layer: Any) -> None:
        """Inside a function that paddle translates Layer.__call__ is paddle's: the translator reads it."""
        from paddle.jit.dy2static import program_translator

        here = self.here
        for name in ("SymbolicStaticFunction", "ASTStaticFunction", "StaticFunction"):
            kind = getattr(program_translator, name, None)
            if kind is None or "__call__" not in vars(kind):
                continue
            real = kind.__call__

            def __call__(*args: Any, _real: Any = real, **kwargs: Any) -> Any:
                inside, current = here.inside, layer.__call__
                here.inside = True
                layer.__call__ = self._real
                try:
                    return _real(*args, **kwargs)
                except BaseException as error:
                    leave_no_frame(error)
                    raise
                finally:
                    layer.__call__ = current
                    here.inside = inside

            kind.__call__ = functools.wraps(real)(unseen(__call__))

    def size_of(self, network: Any) -> int:
        """How many parameters a layer has, those below it included."""
        try:
            return self.sizes[network]
        except (KeyError, TypeError):
            pass
        try:
            size = sum(1 for _parameter in network.parameters())
        except Exception:  # noqa: BLE001  (not yet initialised: it will fail by itself)
            return 0
        if size:
            self.sizes[network] = size
        return size

    def _before(self, network: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Look at the inputs; what to do with the answer."""
        self.witness.begin_work()
        if not self.paddle.in_dynamic_mode():
            return None
        given = arguments(inputs, kwargs, self.paddle.Tensor)
        main = largest(given)
        if main is None:
            return None
        if self.witness.predictors.is_loaded(network):
            return self.witness.predictors.loaded_called(network, given, int(main.shape[0]))
        if network.training and not self._may_evaluate(network):
            return self.trained_on(network, given, main)
        return self.evaluated_on(network, given, main)

    def _may_evaluate(self, network: Any) -> bool:
        """Whether a call in training mode is one of an evaluation that left ``eval()`` out: nothing was
        trained yet, no gradient is wanted, and no layer is of a kind that answers otherwise in training."""
        training = self.witness.training
        if training.steps or training.backwards or self.paddle.is_grad_enabled():
            return False
        for layer in network.sublayers(include_self=True):
            kinds = " ".join(kind.__name__ for kind in type(layer).__mro__)
            drops = getattr(layer, "dropout", 0)  # of a recurrent layer: a share
            if drops or OTHER_IN_TRAINING.search(kinds):
                return False
        return True

    def trained_on(self, network: Any, given: list[tuple[str, Any]], main: Any) -> Any:
        """A network is called in training mode; what to do when it has answered."""
        self.witness.training.seen_forward(network)
        calls = self.training.setdefault(id(network), Calls(self.size_of(network)))
        calls.count += 1
        if self.witness.amp.depth:
            calls.in_auto_cast += 1
            calls.learning = calls.learning or self.paddle.is_grad_enabled()
        batch = int(main.shape[0])
        calls.samples += batch
        # Statistics that are taken anew, and calibration, are no training.
        if batch not in calls.batch_sizes and self.paddle.is_grad_enabled():
            calls.batch_sizes.append(batch)
        if len(calls.digests) < DIGESTS:
            calls.digests.append(fingerprint(main))
        if batch > 1 and calls.looked < KEPT:
            calls.looked += 1
            calls.of_one += are_one_sample(given, batch)
        # Of the first, second, fourth, … call the operators are counted by themselves.
        if calls.count & (calls.count - 1) or not self.paddle.is_grad_enabled():
            return None
        self.witness.operators.begin_call()
        return self._has_trained

    def _has_trained(self, _answer: Any) -> None:
        self.witness.operators.end_call()

    def evaluated_on(self, network: Any, given: list[tuple[str, Any]], main: Any) -> Any:
        """A network is called in eval mode; what to do with its answer."""
        at_step = self.witness.training.steps
        evaluation = self.current.get(id(network))
        if _is_constant(main):
            return None  # a look at the network's form, no evaluation
        now = (at_step, self.generation)
        if evaluation is None or (evaluation.at_step, evaluation.generation) != now:
            evaluation = Evaluation(network, self.size_of(network), at_step, self.generation)
            self._replace(self.current.get(id(network)))
            self.current[id(network)] = evaluation
            if len(self.evaluations) < EVALUATIONS:
                self.evaluations.append(evaluation)
            else:
                self.evaluations[-1] = evaluation
        evaluation.calls += 1
        evaluation.samples += int(main.shape[0])
        if len(evaluation.rows) < DISTINCT:
            rows = row_prints(main)
            evaluation.rows.update(rows)
            evaluation.batches.add(hash(tuple(rows)))
        if evaluation.calls > KEPT:
            return None
        kept = {path: array(tensor) for path, tensor in given}
        self._add_statistics(evaluation, kept)
        return functools.partial(self._keep, evaluation, kept)

    def _replace(self, evaluation: Evaluation | None) -> None:
        """Another evaluation begins: the arrays of one that is not the last are not kept."""
        if evaluation is not None:
            evaluation.held.clear()

    def _add_statistics(self, evaluation: Evaluation, kept: dict[str, Any]) -> None:
        """Mean and deviation by channel of the first images."""
        for path, value in kept.items():
            if value.ndim == 4 and value.dtype.kind == "f" and path not in evaluation.statistics:
                mean, deviation = value.mean((0, 2, 3)), value.std((0, 2, 3))
                evaluation.statistics[path] = [float(number) for number in [*mean, *deviation]]

    def _keep(self, evaluation: Evaluation, given: dict[str, Any], answer: Any) -> None:
        import numpy

        kinds = (self.paddle.Tensor, numpy.ndarray)  # arrays: of a static graph
        got = {path: array(tensor) for path, tensor in answers(answer, kinds)}
        if not evaluation.at_step:
            self._send(evaluation, given, got)
            return
        size = sum(value.nbytes for value in [*given.values(), *got.values()])
        for held_given, held_got in evaluation.held:
            size += sum(value.nbytes for value in [*held_given.values(), *held_got.values()])
        if size <= SHARE:
            evaluation.held.append((given, got))
        else:
            self.witness.telling.dropped += 1

    def _send(self, evaluation: Evaluation, given: dict[str, Any], got: dict[str, Any]) -> None:
        both = {**{f"i{path}": value for path, value in given.items()}}
        both.update({f"o{path}": value for path, value in got.items()})
        keys = self.witness.telling.arrays(both)
        if keys is not None:
            evaluation.kept.append(
                {
                    "network": evaluation.network,
                    "inputs": {path: keys[f"i{path}"] for path in given},
                    "outputs": {path: keys[f"o{path}"] for path in got},
                }
            )

    def facts(self, *, final: bool) -> dict[str, Any]:
        """``evaluations``: those of networks that are no mere part of a larger one; ``training_calls``."""
        if final:
            for evaluation in self.current.values():
                for given, got in evaluation.held:
                    self._send(evaluation, given, got)
                evaluation.held.clear()
        most = max((evaluation.parameters for evaluation in self.evaluations), default=0)
        told = []
        for evaluation in self.evaluations:
            if evaluation.parameters * 4 >= most:
                told.append(_as_told(evaluation))
        calls = self.trained
        return {"evaluations": told, "training_calls": calls.count if calls else 0}


def _as_told(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "calls": evaluation.calls,
        "samples": evaluation.samples,
        "weights": evaluation.weights,
        "at_step": evaluation.at_step,
        "kept": evaluation.kept,
        "image_statistics": evaluation.statistics,
        "different_inputs": len(evaluation.batches),
        "different_samples": len(evaluation.rows),
    }


def _is_constant(tensor: Any) -> bool:
    """All of its numbers are the same: zeros, ones."""
    value = (tensor.numpy() if hasattr(tensor, "numpy") else tensor).reshape(-1)
    if not value.size or value[0] != value[-1] or value[0] != value[len(value) // 2]:
        return False  # nearly always
    return bool((value == value[0]).all())
