"""The door of static graphs: programs that an ``Executor`` runs, to train, to evaluate or to predict."""

from __future__ import annotations

import inspect
from typing import Any

from tipc.run.guest.witness.door import Door
from tipc.run.guest.witness.tensors import array, largest

PROGRAMS = 32  # that are known; further ones are not looked at
# Operators that change weights, without the dialect and the underscore that newer programs write.
OPTIMISERS = (
    "adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "decayed_adagrad", "dgc_momentum", "dpsgd",
    "ftrl", "fused_adam", "lamb", "lars_momentum", "merged_adam", "merged_momentum", "momentum", "nadam",
    "radam", "rmsprop", "rprop", "sgd",
)  # fmt: skip


class ScopedTensor:
    """A tensor of a program, by its name: whoever asks for its numbers gets those of this moment."""

    def __init__(self, variable: Any, scope: Any) -> None:
        self.name = str(variable.name)
        self.stop_gradient = bool(getattr(variable, "stop_gradient", False))
        self.scope = scope

    @property
    def shape(self) -> list[int]:
        return list(self.numpy().shape)

    def numpy(self) -> Any:
        """The numbers as an array."""
        import numpy

        return numpy.array(self.scope.find_var(self.name).get_tensor())


class Network:
    """A program as a network."""

    def __init__(self, program: Any, scope: Any) -> None:
        self.program = program
        self.trains = any(_kind(operator) in OPTIMISERS for operator in program.global_block().ops)
        self.tensors = tensors_of(program, scope)

    def parameters(self) -> list[ScopedTensor]:
        """All of its tensors."""
        return self.tensors

    def state_dict(self) -> dict[str, ScopedTensor]:
        """The same by name."""
        return {tensor.name: tensor for tensor in self.tensors}


class StaticGraphs(Door):
    """Tells the runs of programs as what they are: a step of training, a call in eval mode, a prediction."""

    name = "Executor.run"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.networks: dict[tuple[int, int], Network] = {}  # by program, and how many operators it had
        self.losses: list[Any] = []  # variables that were minimised

    def attach(self, paddle: Any) -> None:
        """Watch the executor, and the loading of programs for inference."""
        self.paddle = paddle
        executor = paddle.static.Executor
        self.signature = inspect.signature(executor.run)
        self.around(executor, "run", before=self._before, after=self._after)
        self.around(paddle.static, "load_inference_model", after=self._loaded)
        self.around(paddle.optimizer.Optimizer, "minimize", before=self._minimised)

    def _minimised(self, _optimiser: Any, loss: Any, *_args: Any, **_kwargs: Any) -> None:
        if not self.paddle.in_dynamic_mode():
            self.losses.append(loss)

    def _loaded(self, _note: None, answer: Any, path: Any, *_args: Any, **_kwargs: Any) -> None:
        self.witness.predictors.add_program(answer[0], path)

    def _before(self, *args: Any, **kwargs: Any) -> Any:
        """Look at what a program is given; what to do with its answer."""
        call = self.signature.bind(*args, **kwargs).arguments
        program = call.get("program") or self.paddle.static.default_main_program()
        program = getattr(program, "_program", program)  # one that was compiled
        feed = call.get("feed")
        given = [(name, array(value)) for name, value in feed.items()] if isinstance(feed, dict) else []
        seen = self.witness.predictors.of_program(program)
        if seen is not None:
            return self.witness.predictors.program_called(seen, given)
        network = self._network(program, call.get("scope") or self.paddle.static.global_scope())
        main = largest(given)
        if network is None or not network.tensors:
            return None
        if network.trains:
            if main is not None:
                self.witness.networks.trained_on(network, given, main)
            wanted = list(call.get("fetch_list") or [])
            self.witness.training.begin_program(network.tensors)
            return lambda answer: self._trained(wanted, answer)
        if main is None:
            return None
        return self.witness.networks.evaluated_on(network, given, main)

    def _after(self, note: Any, answer: Any, *_args: Any, **_kwargs: Any) -> None:
        if note is not None:
            note(answer)

    def _network(self, program: Any, scope: Any) -> Network | None:
        key = (id(program), len(program.global_block().ops))
        if key not in self.networks:
            if len(self.networks) >= PROGRAMS:
                return None
            self.networks[key] = Network(program, scope)
        return self.networks[key]

    def _trained(self, wanted: list[Any], answer: Any) -> None:
        """A program with an optimiser has run: its loss is known where the script fetched it."""
        fetched = zip(wanted, answer or [])  # noqa: B905  (Python 3.8)
        losses = []
        for item, value in fetched:
            if any(_same(item, loss) for loss in self.losses):
                losses.append(float(array(value).reshape(-1)[0]))
        self.witness.training.end_program(losses)

    def facts(self, *, final: bool) -> dict[str, Any]:
        """Nothing of its own: it is told as training, as evaluations and as predictors."""
        return {}


def tensors_of(program: Any, scope: Any) -> list[ScopedTensor]:
    """The parameters of a program that have a value in a scope."""
    found = program.global_block().all_parameters()
    return [ScopedTensor(item, scope) for item in found if scope.find_var(str(item.name)) is not None]


def _same(item: Any, variable: Any) -> bool:
    """Whether what a script fetches is a variable: the variable itself, or its name."""
    if hasattr(variable, "is_same") and type(item) is type(variable):
        return bool(variable.is_same(item))
    return bool(item is variable or item == getattr(variable, "name", None))


def _kind(operator: Any) -> str:
    name = operator.name() if callable(getattr(operator, "name", None)) else operator.type
    return str(name).rpartition(".")[2].rstrip("_")
