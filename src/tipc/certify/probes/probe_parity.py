"""The training engine against the inference engine, on the same images, through ``test_tipc/parity.py``."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import probe_model  # type: ignore[import-not-found]

MOST_SAMPLES = 8
FEW = 4  # images that are enough to see noise, another batch size, or an engine that differs
SLOW = {0.4: 4, 1.0: 2}  # processor seconds of one image: how many are compared at most
INT8_STEPS = 127  # from 0 to the largest value
INT8_OPERATORS = {"conv2d", "depthwise_conv2d", "fused_conv2d"}
NEEDED = ("samples", "train_preprocess", "deploy_preprocess", "reference")

Array = np.ndarray[Any, Any]


def answer(question: dict[str, Any]) -> dict[str, Any]:
    path = os.path.join(question["repo"], "test_tipc", "parity.py")
    if not os.path.isfile(path):
        return {"missing": "test_tipc/parity.py"}
    protocol = _load(path, question["repo"])
    absent = [name for name in NEEDED if not callable(getattr(protocol, name, None))]
    if absent:
        return {"missing": f"{absent[0]}() in test_tipc/parity.py"}
    try:
        return _compare_all(protocol, question)
    except NotImplementedError as error:
        return {"missing": f"test_tipc/parity.py is a skeleton: {error or 'NotImplementedError'}"}


def _load(path: str, repo: str) -> Any:
    """The repository's protocol file, with the repository's root on the path; once a process."""
    name = "tipc_parity_protocol"
    if name not in sys.modules:
        sys.path.insert(0, repo)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def _compare_all(protocol: Any, question: dict[str, Any]) -> dict[str, Any]:
    request, configured, int8 = question["request"], int(question["batch_size"]), bool(question["int8"])
    structure, parameters = probe_model.files(request["model_dir"])
    paths = list(protocol.samples(request))[:MOST_SAMPLES]
    if not paths:
        return {"missing": "images: samples() in test_tipc/parity.py gave none"}
    reference = protocol.reference(request)
    # One image first: its time tells how many can be afforded.
    batch = np.asarray(protocol.train_preprocess(request, paths))
    begin = time.process_time()
    _forward(reference, batch[:1])
    each = time.process_time() - begin
    most = min((count for seconds, count in SLOW.items() if each > seconds), default=MOST_SAMPLES)
    paths = paths[: max(configured, most)]
    batch = batch[: len(paths)]
    deployed = np.asarray(protocol.deploy_preprocess(request, paths))
    wanted = _forward(reference, batch)
    again = _forward(reference, batch[:FEW])
    reply = {
        "samples": len(paths),
        "noise": _largest(wanted[:FEW], again),
        "rounding": _largest(wanted, _forward(reference, _off_by_a_rounding(batch, int8))),
        "scale": float(np.abs(wanted).max(initial=0.0)) if wanted.dtype.kind == "f" else 0.0,
        "shape": list(wanted.shape),
        "constant": len(paths) > 1
        and bool((wanted == wanted[:1]).all())
        and not bool((batch == batch[:1]).all()),
        **_preprocessing(batch, deployed),
    }
    engines = ["native", "onednn"] + (["int8"] if int8 else [])
    table, outputs, decisions = [], {"reference": wanted}, {}
    for engine in engines:
        try:
            run = _predictor(structure, parameters, engine, getattr(protocol, "SKIP_PASSES", ()))
        except (RuntimeError, ValueError, OSError, NotImplementedError) as error:
            table.append({"engine": engine, "batch": configured, "error": _short(error)})
            continue
        # Without oneDNN a model is several times slower, and a few images show whether it differs.
        count = min(len(paths), max(FEW, configured)) if engine == "native" else len(paths)
        for size in sorted({count, min(configured, count), 1}, reverse=True):
            row, output = _row(run, engine, size, batch[:count], wanted[:count])
            table.append(row)
            if output is not None:
                largest = outputs.setdefault(engine, output)  # the largest batch comes first
                row["batch_max_abs"] = _largest(largest[: len(output)], output)
        if engine == "onednn":
            decisions = _decisions(protocol, request, question.get("printed", []), run)
    reply["table"] = table
    reply["decisions"] = decisions
    reply["metrics"] = _metrics(protocol, request, outputs, paths)
    return reply


def _decisions(
    protocol: Any, request: dict[str, Any], paths: list[str], run: Callable[[Array], Array]
) -> dict[str, int]:
    """The class that the exported model gives to images, by what the deployment script feeds it."""
    if not paths:
        return {}
    try:
        output = run(np.asarray(protocol.deploy_preprocess(request, paths)))
    except (RuntimeError, ValueError, OSError) as error:
        print(f"no decisions: {_short(error)}")  # the table has it, too
        return {}
    if output.ndim != 2:
        return {}  # no classification
    return {path: int(best) for path, best in zip(paths, output.argmax(axis=1), strict=True)}


def _forward(reference: Callable[[Array], Any], batch: Array) -> Array:
    output = reference(batch)
    output = output[0] if isinstance(output, (list, tuple)) else output
    return np.asarray(output.numpy() if hasattr(output, "numpy") else output)


def _off_by_a_rounding(batch: Array, int8: bool) -> Array:
    """Each number replaced by one of its two neighbours: how far the outputs are off then is how much this
    network makes of rounding, which two engines do differently.

    A quantised network rounds that away at once, and later one float's last bit decides between two steps of
    8 bits. So there each number moves by up to half such a step, and some of them are rounded to another.
    """
    if batch.dtype.kind != "f":
        return batch
    random = np.random.default_rng(0).random(batch.shape)
    if int8:
        step = float(np.abs(batch).max(initial=0.0)) / INT8_STEPS
        return np.asarray(batch + (random - 0.5) * step, dtype=batch.dtype)
    return np.asarray(np.nextafter(batch, np.where(random < 0.5, np.inf, -np.inf).astype(batch.dtype)))


def _predictor(
    structure: str, parameters: str, engine: str, skip: Sequence[str] = ()
) -> Callable[[Array], Array]:
    """A paddle.inference predictor on one CPU thread as a function; `skip`: optimisations to leave out."""
    from paddle import inference

    config = inference.Config(structure, parameters)
    config.disable_gpu()
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(1)
    if engine == "native":
        for name in ("disable_mkldnn", "disable_onednn"):
            if hasattr(config, name):
                getattr(config, name)()
    else:
        config.enable_mkldnn()
    if engine == "int8":
        config.enable_mkldnn_int8(INT8_OPERATORS)
    for name in skip:
        config.delete_pass(name)
    predictor = inference.create_predictor(config)
    source = predictor.get_input_handle(predictor.get_input_names()[0])
    target = predictor.get_output_handle(predictor.get_output_names()[0])

    def run(batch: Array) -> Array:
        source.reshape(batch.shape)
        source.copy_from_cpu(np.ascontiguousarray(batch))
        predictor.run()
        return np.asarray(target.copy_to_cpu())

    return run


def _row(
    run: Callable[[Array], Array], engine: str, size: int, batch: Array, wanted: Array
) -> tuple[dict[str, Any], Array | None]:
    """One engine at one batch size against the reference; batch 1 is tried on the first images only."""
    count = len(batch) if size > 1 else min(len(batch), FEW)
    row: dict[str, Any] = {"engine": engine, "batch": size}
    try:
        parts = [run(batch[start : start + size]) for start in range(0, count, size)]
        got = np.concatenate(parts)
    except (RuntimeError, ValueError, OSError) as error:
        return {**row, "error": _short(error)}, None
    expected = wanted[:count]
    row["shape"] = list(got.shape)
    if got.shape != expected.shape:
        return {
            **row,
            "error": f"output of shape {list(got.shape)}, the reference gives {list(expected.shape)}",
        }, None
    row["finite"] = got.dtype.kind != "f" or bool(np.isfinite(got).all())
    row["max_abs"] = _largest(expected, got)
    row["max_rel"] = row["max_abs"] / max(_largest(expected, np.zeros_like(expected)), 1e-12)
    row["argmax_equal"], row["argmax_total"] = _agreement(expected, got)
    return row, got


def _agreement(expected: Array, got: Array) -> tuple[int, int]:
    """How many decisions (arg-max over the classes, or the classes themselves) are the same; ties count as
    same."""
    if expected.ndim < 2 or expected.dtype.kind != "f":
        return int((expected == got).sum()), int(expected.size)
    best, chosen = expected.argmax(axis=1), got.argmax(axis=1)
    top = np.take_along_axis(expected, best[:, None], axis=1)
    other = np.take_along_axis(expected, chosen[:, None], axis=1)
    tie = (top - other)[:, 0] <= 1e-6 * max(float(np.abs(expected).max(initial=0.0)), 1e-12)
    return int(((best == chosen) | tie).sum()), int(best.size)


def _preprocessing(batch: Array, deployed: Array) -> dict[str, Any]:
    """Whether deployment feeds what training saw and, where it does not, which of the usual mistakes it looks
    like."""
    reply: dict[str, Any] = {"preprocess_shapes": [list(batch.shape), list(deployed.shape)]}
    if batch.shape != deployed.shape:
        return {**reply, "preprocess_max_abs": None, "preprocess_note": "the shapes differ"}
    reply["preprocess_max_abs"] = difference = _largest(batch, deployed)
    if difference > 1e-3 and batch.ndim == 4 and batch.shape[1] == 3:
        if _largest(batch[:, ::-1], deployed) < 1e-3:
            reply["preprocess_note"] = "the channels are in the other order (RGB and BGR)"
        else:
            reply["preprocess_note"] = _affine(batch, deployed)
    return reply


def _affine(batch: Array, deployed: Array) -> str:
    """Another mean or scale is a straight line between the two, channel by channel."""
    told = []
    for channel in range(batch.shape[1]):
        x, y = batch[:, channel].ravel().astype(np.float64), deployed[:, channel].ravel().astype(np.float64)
        if np.ptp(x) == 0:
            return ""
        slope, offset = np.polyfit(x, y, 1)
        if np.abs(slope * x + offset - y).max() > 1e-2 * max(1.0, np.abs(y).max()):
            return "no change of mean or scale explains it: another resize, crop or colour order"
        told.append(f"{slope:.4g}·x{offset:+.4g}")
    return f"another mean or scale: deployment = {', '.join(told)} of training, by channel"


def _metrics(
    protocol: Any, request: dict[str, Any], outputs: dict[str, Array], paths: list[str]
) -> dict[str, Any]:
    if not callable(getattr(protocol, "metric", None)):
        return {}
    found = {}
    for engine, output in outputs.items():
        if len(output) != len(paths):
            continue  # the model refused the whole batch: the table says so
        name, value = protocol.metric(request, output, paths)
        found[engine] = {"name": str(name), "value": float(value)}
    return found


def _largest(one: Array, other: Array) -> float:
    if one.shape != other.shape:
        return float("inf")
    return float(np.abs(one.astype(np.float64) - other.astype(np.float64)).max(initial=0.0))


def _short(error: BaseException) -> str:
    """The line of paddle's long message that tells what is wrong."""
    text = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in text if "Error" in line or "Hint" in line] or text
    return f"{type(error).__name__}: {telling[-1] if telling else ''}"[:400]
