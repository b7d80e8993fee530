"""Runs an exported model on given arrays, and hands its answers back as arrays. It compares nothing."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import probe_simulation  # type: ignore[import-not-found]

Array = Any
Arrays = dict[str, Any]
SAME = 1e-3  # of the largest value: outputs that differ by less from sample to sample are looked behind
MOST_INNER = 4  # values inside a model that are handed back


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """``runs`` is a list of ``{"name", "model", "params", "engine" (a file), "feeds" (an .npz), "fill",
    "inner" (shapes), "skip" (passes), "simulated"}``. A run that is simulated has paddle's own kernels
    compute what the engine computes.

    The outputs of the run number n go into ``<answers>/<n>.npz``; the reply has for each run the names of
    the outputs, the inputs that could be fed, and the inputs for which nothing was given. Where all outputs
    are the same for every sample, the values inside the model of the shapes ``inner`` follow the outputs.
    """
    replies = []
    for number, asked in enumerate(question["runs"]):
        replies.append(_one(asked, os.path.join(question["answers"], f"{number}.npz")))
    return {"runs": replies}


def _one(asked: dict[str, Any], target: str) -> dict[str, Any]:
    try:
        with np.load(asked["feeds"], allow_pickle=False) as file:
            feeds = {name.partition(" ")[2]: file[name] for name in file.files}
        if asked["simulated"]:
            return _simulated(feeds, asked, target)
        predict = _predictor(asked)
        return predict(feeds, asked, target)
    except (RuntimeError, ValueError, OSError, NotImplementedError, AttributeError, TypeError) as error:
        if is_out_of_memory(error):
            raise
        return {"error": short(error)}


def _simulated(feeds: Arrays, asked: dict[str, Any], target: str) -> dict[str, Any]:
    round_anew = _engine(asked["engine"]).round_anew
    simulation = probe_simulation.Simulation(
        asked["model"], asked["params"], round_anew, tuple(asked["skip"])
    )
    names = simulation.names
    given = assign(names, feeds)
    count = max((len(value) for value in given.values() if value.ndim), default=1)
    unfed = [name for name in names if name not in given]
    for name in unfed:
        given[name] = simulation.filled(name, count, asked["fill"].get(name, 1.0))
    outputs = simulation.run(given)
    np.savez(target, **{f"{index}": value for index, value in enumerate(outputs.values())})
    return {"outputs": list(outputs), "inputs": names, "unfed": unfed, "inner": []}


def _engine(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("tipc_engine_" + os.path.basename(path)[:-3], path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_OPEN: dict[tuple[str, ...], Any] = {}  # a predictor that is asked again is not built again


def open_predictor(
    model: str, params: str, engine: str, skip: tuple[str, ...] = (), values_kept: bool = False
) -> Any:
    """A predictor on one CPU thread; ``engine`` is a file, ``skip`` names optimisations to leave out.

    Values inside a model of the older form share memory, where paddle would keep each until the next run:
    gigabytes for a few large pictures. They share names, too: ``values_kept`` leaves each its own. For a
    model of the newer form (.json) paddle frees values by itself, and refuses this setting.
    """
    from paddle import inference

    key = (model, params, engine, str(values_kept), *skip)
    if key not in _OPEN:
        config = inference.Config(model, params)
        config.disable_gpu()
        config.disable_glog_info()
        config.set_cpu_math_library_num_threads(1)
        _engine(engine).configure(config)
        for name in skip:
            config.delete_pass(name)
        if not values_kept and not model.endswith(".json"):
            config.enable_memory_optim()
        _OPEN[key] = inference.create_predictor(config)
    return _OPEN[key]


def _predictor(given: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    model = (given["model"], given["params"], given["engine"], tuple(given["skip"]))
    predictor = open_predictor(*model)

    def predict(feeds: Arrays, asked: dict[str, Any], target: str) -> dict[str, Any]:
        fill, batch = asked["fill"], int(asked["batch"])
        names = list(predictor.get_input_names())
        given = assign(names, feeds)
        count = max((len(value) for value in given.values() if value.ndim), default=1)
        unfed = [name for name in names if name not in given]
        for name in unfed:
            given[name] = _filled(predictor.get_input_handle(name), count, fill.get(name, 1.0))
        parts = [run(predictor, names, part) for part in _batches(given, count, batch)]
        outputs = {}
        for name in parts[0]:
            outputs[name] = _joined([part[name] for part in parts])
        inner: Arrays = {}
        if asked["inner"] and all(_is_flat(value, count) for value in outputs.values()):
            inner = inner_values(open_predictor(*model, values_kept=True), names, given, asked["inner"])
        arrays = [*outputs.values(), *inner.values()]
        np.savez(target, **{f"{index}": value for index, value in enumerate(arrays)})
        return {"outputs": list(outputs), "inputs": names, "unfed": unfed, "inner": list(inner)}

    return predict


def assign(names: list[str], feeds: Arrays) -> Arrays:
    """Which array goes into which input: by name, else by the last part of it (``0.image``), else, if both
    are as many, in order; a single input that is left takes the largest array that is left."""
    given: Arrays = {}
    left = dict(feeds)
    for name in names:
        for key in list(left):
            if name in (key, key.rpartition(".")[2]):
                given[name] = left.pop(key)
                break
    open_names = [name for name in names if name not in given]
    if open_names and len(open_names) == len(left):
        given.update(zip(open_names, left.values()))  # noqa: B905
    elif open_names and left:
        given[open_names[0]] = max(left.values(), key=lambda value: value.size)
    return given


def _filled(handle: Any, count: int, value: float) -> Array:
    """An input that nothing is given for (a scale, say): the value that the deployment gives it, else 1."""
    shape = [count if side < 0 else side for side in handle.shape()] or [count, 1]
    kinds = {"INT64": "int64", "INT32": "int32", "FLOAT16": "float16"}
    name = str(handle.type()).rpartition(".")[2]
    return np.full(shape, value, kinds.get(name, "float32"))


def _batches(given: Arrays, count: int, batch: int) -> list[Arrays]:
    """The inputs cut into batches; in one piece where no size is asked for."""
    if batch <= 0 or batch >= count:
        return [given]
    parts = []
    for start in range(0, count, batch):
        part = {}
        for name, value in given.items():
            cut = value.ndim and len(value) == count
            part[name] = value[start : start + batch] if cut else value
        parts.append(part)
    return parts


def run(predictor: Any, names: list[str], given: Arrays) -> Arrays:
    """One run: inputs by name, outputs by name."""
    for name in names:
        handle = predictor.get_input_handle(name)
        handle.reshape(given[name].shape)
        handle.copy_from_cpu(np.ascontiguousarray(given[name]))
    predictor.run()
    outputs = predictor.get_output_names()
    return {name: np.array(predictor.get_output_handle(name).copy_to_cpu()) for name in outputs}


def _is_flat(value: Array, count: int) -> bool:
    """Whether an output is the same for every sample, or nearly so."""
    if not value.ndim or len(value) != count or not value.size:
        return False
    if value.dtype.kind != "f":
        return bool((value == value[:1]).all())
    return bool(np.ptp(value, 0).max() <= SAME * np.abs(value).max())


def inner_values(predictor: Any, names: list[str], given: Arrays, shapes: list[list[int]]) -> Arrays:
    """What operators inside the model give in one more run, of the latest those that have a row a sample in
    one of these shapes; nothing where this paddle does not tell."""
    found: Arrays = {}
    if not hasattr(predictor, "register_output_hook"):
        return found
    count = max((len(value) for value in given.values() if value.ndim), default=1)
    wanted = {(count, *shape) for shape in shapes}
    outputs = set(predictor.get_output_names())
    open_ = True  # a hook cannot be taken off again

    def look(_operator: str, name: str, value: Any) -> None:
        if not open_ or name in outputs or tuple(value.shape) not in wanted:
            return
        array = np.array(value)
        if array.dtype.kind == "f":
            found.pop(name, None)
            found[name] = array
            if len(found) > MOST_INNER:
                found.pop(next(iter(found)))

    predictor.register_output_hook(look)
    try:
        run(predictor, names, given)
    finally:
        open_ = False
    return found


def _joined(parts: list[Array]) -> Array:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts[0].ndim else np.stack(parts)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether paddle or numpy asked for more memory than the probe may have."""
    return isinstance(error, MemoryError) or "ResourceExhausted" in str(error) or "bad_alloc" in str(error)


def short(error: BaseException) -> str:
    """The line of paddle's long message that tells what is wrong: not the condition that did not hold."""
    text = []
    for line in str(error).splitlines():
        if line.strip():
            text.append(line.strip())
    plain = [line for line in text if not line.startswith("[Hint")] or text
    telling = [line for line in plain if "Error" in line or line.startswith("(")] or plain
    told = f"{type(error).__name__}: {telling[-1] if telling else ''}"[:400]
    # A damaged model is quoted in it, with whatever bytes it has.
    return "".join([sign if sign.isprintable() else "\ufffd" for sign in told])
