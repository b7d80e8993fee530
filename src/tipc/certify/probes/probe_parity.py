"""``test_tipc/parity.py`` of the repository: the same images through both preprocessings, and a metric.

It is code of the repository, so it runs in a process of its own, and its answers count for no more than that:
what the model answers, ``tipc`` finds out without it.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import probe_run  # type: ignore[import-not-found]

MOST_SAMPLES = 8
NEEDED = ("samples", "train_preprocess", "deploy_preprocess")

Array = np.ndarray[Any, Any]


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """``request`` is the protocol's; ``engines`` are those that the metric is taken in: name → file."""
    protocol = _load(os.path.join(question["repo"], "test_tipc", "parity.py"), question["repo"])
    absent = [name for name in NEEDED if not callable(getattr(protocol, name, None))]
    if absent:
        return {"missing": f"{absent[0]}() in test_tipc/parity.py"}
    try:
        return _compare_all(protocol, question)
    except NotImplementedError as error:
        return {"missing": f"{error or 'function'} in test_tipc/parity.py, which is still the skeleton"}


def _load(path: str, repo: str) -> Any:
    """The protocol file, with the repository's root first on the path, as for its own scripts: a release of
    the same package that is installed, too, is not what is certified."""
    os.chdir(repo)
    sys.path.insert(0, repo)
    spec = importlib.util.spec_from_file_location("tipc_parity_protocol", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _compare_all(protocol: Any, question: dict[str, Any]) -> dict[str, Any]:
    request = question["request"]
    paths = list(protocol.samples(request))[:MOST_SAMPLES]
    if not paths:
        return {"missing": "images: samples() in test_tipc/parity.py gave none"}
    batch = np.asarray(protocol.train_preprocess(request, paths))
    # Only the deployment may look into the exported model's folder.
    deployed = np.asarray(protocol.deploy_preprocess({**request, "model_dir": question["model_dir"]}, paths))
    reply = {"samples": len(paths), **_preprocessing(batch, deployed)}
    reply["paths"] = list(map(os.path.realpath, map(str, paths)))
    try:
        reply["metrics"] = _metrics(protocol, question, deployed, paths)
    except Exception:
        if question["compares_engines"]:
            raise
        reply["metrics"] = {}  # nothing rests on it but a second look at the evaluation's own
    return reply


def _metrics(protocol: Any, question: dict[str, Any], batch: Array, paths: list[str]) -> dict[str, Any]:
    """The repository's metric of what the exported model answers in each engine."""
    if not callable(getattr(protocol, "metric", None)):
        return {}
    found = {}
    for engine, script in question["engines"].items():
        run = _predictor(question, script, getattr(protocol, "SKIP_PASSES", ()))
        name, value = protocol.metric(question["request"], run(batch), paths)
        found[engine] = {"name": str(name), "value": float(value)}
    return found


def _predictor(question: dict[str, Any], script: str, skip: Any) -> Callable[[Array], Array]:
    predictor = probe_run.open_predictor(question["structure"], question["params"], script, tuple(skip))

    def run(batch: Array) -> Array:
        names = list(predictor.get_input_names())
        outputs = probe_run.run(predictor, names[:1], {names[0]: batch})
        return np.asarray(next(iter(outputs.values())))

    return run


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


def _largest(one: Array, other: Array) -> float:
    return float(np.abs(one.astype(np.float64) - other.astype(np.float64)).max(initial=0.0))
