"""The door of exports: the network that is handed to ``jit.save``, and its own answers to seeded inputs."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import random
import sys
from collections.abc import Iterator
from typing import Any

from tipc.run.guest.witness.door import Door
from tipc.run.guest.witness.static import tensors_of
from tipc.run.guest.witness.tensors import answers, array, file_digests, weights

SUFFIXES = (".pdmodel", ".json", ".pdiparams")
BATCH = 2  # samples in a seeded input whose first side is open
SIDES = (64, 224, 320)  # for other open sides: the first that the network takes
# Seeded pictures, until one is not answered by a single class: (pixels of one colour in a row, contrast).
GRAINS = ((1, 1.0), (8, 1.0), (8, 4.0))
MOST = 64 << 20


class Exports(Door):
    """After an export the network answers inputs of its InputSpec, as dynamic graph and in eval mode."""

    name = "paddle.jit.save"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.exports: list[dict[str, Any]] = []

    def attach(self, paddle: Any) -> None:
        """Watch both ways to save a model for inference."""
        self.paddle = paddle
        self.signature = inspect.signature(paddle.jit.save)
        self.around(paddle.jit, "save", before=self._about_to_save, after=self._saved)
        self.around(paddle.static, "save_inference_model", before=_times, after=self._saved_program)

    def _about_to_save(self, *args: Any, **kwargs: Any) -> dict[str, int]:
        return _times(self.signature.bind(*args, **kwargs).arguments["path"])

    def _saved(self, old: dict[str, int], _answer: Any, *args: Any, **kwargs: Any) -> None:
        call = self.signature.bind(*args, **kwargs).arguments
        layer, spec = call["layer"], call.get("input_spec")
        export = self._new(call["path"], old)
        network = self._network(layer)
        if network is not None:
            export["weights"] = weights(network.state_dict().items())
        try:
            given, got = self._ask(layer, network, spec)
        except Exception as error:  # noqa: BLE001  (of a network that was given what it cannot take)
            export["problem"] = f"{type(error).__name__}: {error}"[:300]
        else:
            self._keep(export, given, got)
        self.witness.tell()

    def _saved_program(
        self, old: dict[str, int], _answer: Any, path: Any, *_args: Any, **kwargs: Any
    ) -> None:
        export = self._new(path, old)
        network = self._network_saved_there(export["path"])
        if network is not None:
            # A quantised network is saved, and its program is read, changed and written once more.
            export.update({name: network[name] for name in ("weights", "inputs", "outputs")})
            self.witness.tell()
            return
        export["problem"] = "a static program was saved: there is no dynamic network to ask"
        program = kwargs.get("program") or self.paddle.static.default_main_program()
        tensors = tensors_of(program, self.paddle.static.global_scope())
        export["weights"] = weights((tensor.name, tensor) for tensor in tensors)
        self.witness.tell()

    def _network_saved_there(self, path: str) -> dict[str, Any] | None:
        """The latest export to this place of which the network's own answers are known."""
        there = []
        for export in self.exports:
            if export["path"] == path and export["outputs"]:
                there.append(export)
        return there[-1] if there else None

    def _new(self, path: Any, old: dict[str, int]) -> dict[str, Any]:
        prefix = os.path.abspath(os.fspath(path))
        written = []
        for name, when in _times(path).items():
            if old.get(name) != when:
                written.append(name)
        export: dict[str, Any] = {
            "path": prefix,
            "weights": None,
            "files": file_digests(written),
            "inputs": {},
            "outputs": {},
        }
        self.exports.append(export)
        return export

    def _keep(self, export: dict[str, Any], given: dict[str, Any], got: dict[str, Any]) -> None:
        both = {**{f"i{name}": value for name, value in given.items()}}
        both.update({f"o{name}": value for name, value in got.items()})
        keys = self.witness.telling.arrays(both, MOST)
        if keys is None:
            export["problem"] = "inputs and outputs are beyond the limit"
            return
        export["inputs"] = {name: keys[f"i{name}"] for name in given}
        export["outputs"] = {name: keys[f"o{name}"] for name in got}

    def _network(self, layer: Any) -> Any | None:
        """The network behind what is saved: itself, or the one whose method it is."""
        if isinstance(layer, self.paddle.nn.Layer):
            return layer
        owner = getattr(layer, "_class_instance", None) or getattr(layer, "class_instance", None)
        owner = owner or getattr(layer, "__self__", None)
        return owner if isinstance(owner, self.paddle.nn.Layer) else None

    def _ask(self, layer: Any, network: Any | None, spec: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Seeded inputs by name, and the network's own answers by index."""
        forward = getattr(layer, "forward", layer)
        known = getattr(getattr(forward, "_function_spec", None), "input_spec", None)
        spec = known or spec
        if spec is None:
            raise ValueError("the export has no InputSpec")
        failure: Exception | None = None
        for side in SIDES:
            try:
                return self._answers(layer, network, spec, side)
            except Exception as error:  # noqa: BLE001
                failure = failure or error
        raise failure or ValueError("no input was found that it takes")

    def _answers(
        self, layer: Any, network: Any | None, spec: Any, side: int
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """An arg-max may give a single class to noise, which shows nothing: then coarser pictures follow."""
        first: tuple[dict[str, Any], dict[str, Any]] | None = None
        for grain, contrast in GRAINS:
            inputs = Seeded(self.paddle, side, grain, contrast)
            with self.witness.silence(), dynamic(self.paddle), undisturbed(self.paddle, network):
                given = [inputs.of(item, str(place)) for place, item in enumerate(spec)]
                before = {name: array(tensor) for name, tensor in inputs.tensors.items()}
                answer = layer(*given)
                got = {path: array(tensor) for path, tensor in answers(answer, self.paddle.Tensor)}
            if not all(_is_one_value(value) for value in got.values()):
                return before, got
            first = first or (before, got)
        assert first is not None
        return first

    def facts(self, *, final: bool) -> dict[str, Any]:
        """``exports``."""
        return {"exports": self.exports}


def _times(path: Any, *_args: Any, **_kwargs: Any) -> dict[str, int]:
    """When the files of an export were last written, those that are there."""
    found = {}
    for suffix in SUFFIXES:
        name = os.path.abspath(os.fspath(path)) + suffix
        with contextlib.suppress(OSError):
            found[name] = os.stat(name).st_mtime_ns
    return found


def _is_one_value(value: Any) -> bool:
    return bool(value.size and (value == value.reshape(-1)[0]).all())


class Seeded:
    """Makes the inputs that a spec asks for, the same at every export."""

    def __init__(self, paddle: Any, side: int, grain: int = 1, contrast: float = 1.0) -> None:
        self.paddle = paddle
        self.side = side
        self.grain = grain  # of pictures: so many equal values in a row and below each other
        self.contrast = contrast
        self.tensors: dict[str, Any] = {}  # by name in the spec, else by the way to it

    def of(self, spec: Any, path: str) -> Any:
        """A spec, or lists and dicts of them, as tensors; anything else as it is."""
        if isinstance(spec, dict):
            return {name: self.of(item, f"{path}.{name}") for name, item in spec.items()}
        if isinstance(spec, (list, tuple)):
            return [self.of(item, f"{path}.{place}") for place, item in enumerate(spec)]
        if not isinstance(spec, self.paddle.static.InputSpec):
            return spec
        name = spec.name or path
        made = self.paddle.to_tensor(self._numbers(spec, name, path))
        self.tensors[name] = made
        return made

    def _numbers(self, spec: Any, name: str, path: str) -> Any:
        import numpy

        shape = [self._length(place, length) for place, length in enumerate(spec.shape)]
        kind = str(spec.dtype).replace("paddle.", "").lower().replace("vartype.fp", "float")
        random_numbers = numpy.random.default_rng(sum(path.encode()) + len(shape))
        words = f"{path} {name}"
        if "scale_factor" in words:  # a detection network divides by it
            return numpy.ones(shape, "float32")
        if "im_shape" in words:
            return numpy.full(shape, self.side, "float32")
        if "int" in kind or "bool" in kind:
            return random_numbers.integers(0, 2, shape).astype(kind)
        numbers = random_numbers.standard_normal(shape) * self.contrast
        if len(shape) == 4 and self.grain > 1:
            rows, columns = (numpy.arange(length) // self.grain for length in shape[2:])
            numbers = numbers[:, :, rows][:, :, :, columns]
        return numbers.astype("float32" if "bfloat" in kind else kind)

    def _length(self, place: int, length: Any) -> int:
        if length is not None and int(length) > 0:
            return int(length)
        return BATCH if place == 0 else self.side


@contextlib.contextmanager
def dynamic(paddle: Any) -> Iterator[None]:
    """Dynamic graph, also where the script saves in static mode (as ``OldIrGuard`` does): a network answers
    with numbers only there."""
    if paddle.in_dynamic_mode():
        yield
        return
    paddle.disable_static()
    try:
        yield
    finally:
        paddle.enable_static()


@contextlib.contextmanager
def undisturbed(paddle: Any, network: Any | None) -> Iterator[None]:
    """Eval mode, not translated, no gradients, nothing printed; and afterwards everything as it was: modes,
    random generators, running statistics, names that are given out by number."""
    numpy = sys.modules["numpy"]
    translator = paddle.jit.dy2static.program_translator.ProgramTranslator()
    translated = translator.enable_to_static
    generators = (random.getstate(), numpy.random.get_state(), paddle.get_rng_state())
    layers = list(network.sublayers(include_self=True)) if network is not None else []
    modes = [layer.training for layer in layers]
    buffers = []
    for layer in layers:
        for buffer in layer.buffers(include_sublayers=False):
            buffers.append((buffer, array(buffer)))
    try:
        for layer in layers:
            layer.training = False
        paddle.jit.enable_to_static(False)
        with paddle.no_grad(), paddle.utils.unique_name.guard(), unheard():
            yield
    finally:
        paddle.jit.enable_to_static(translated)
        for layer, mode in zip(layers, modes):  # noqa: B905  (Python 3.8)
            layer.training = mode
        for buffer, value in buffers:
            if not numpy.array_equal(buffer.numpy(), value, equal_nan=value.dtype.kind == "f"):
                buffer.set_value(value)
        random.setstate(generators[0])
        numpy.random.set_state(generators[1])
        paddle.set_rng_state(generators[2])


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """What a network prints, logs or warns of when we ask it, it has not been asked by the script."""
    level = logging.root.manager.disable
    with open(os.devnull, "w") as nowhere:
        try:
            logging.disable(logging.CRITICAL)
            with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                yield
        finally:
            logging.disable(level)
