"""What a parity check asks: the same images as training and as deployment see them, and the trained network.

Called with the repository's root as the current directory, by an interpreter that has paddle. ``request``
names the ``weights``, the ``model_dir`` of the exported model, and the ``precision`` of the training.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import paddle

from paddlezoo import pictures
from paddlezoo.cls import data, deploy, metrics, network

DATA = "./lite_data"


def samples(request: dict[str, Any]) -> list[str]:
    """The images of the val split."""
    return [str(path) for path in data.read_split(data.find(DATA), "val").paths]


def train_preprocess(request: dict[str, Any], paths: list[str]) -> np.ndarray:
    """The batch as ``eval.py`` feeds it to the network."""
    _, card = network.restore(request["weights"], request["model"])
    split = data.read_split(data.find(DATA), "val")
    labels = {str(path): label for path, label in zip(split.paths, split.labels, strict=True)}
    chosen = data.Split(
        tuple(map(data.Path, paths)), tuple(labels.get(path, 0) for path in paths), split.classes
    )
    images = data.Images(chosen, card.transform)
    return np.stack([images[index][0] for index in range(len(images))])


def deploy_preprocess(request: dict[str, Any], paths: list[str]) -> np.ndarray:
    """The batch as ``infer.py`` feeds it, by the transforms that lie beside the exported model."""
    transform = deploy.Deployed.read(request["model_dir"]).transform
    return np.stack([transform.evaluation(pictures.read(path)) for path in paths])


def reference(request: dict[str, Any]) -> Callable[[np.ndarray], np.ndarray]:
    """The trained network's logits; after PACT those of the simulation that the int8 model must match."""
    model, _ = network.restore(request["weights"], request["model"])
    deploy.prepare(model)

    def run(batch: np.ndarray) -> np.ndarray:
        with paddle.no_grad():
            return model(paddle.to_tensor(batch)).numpy()

    return run


def metric(request: dict[str, Any], outputs: np.ndarray, paths: list[str]) -> tuple[str, float]:
    """Top-1 of logits against the labels of the val split."""
    split = data.read_split(data.find(DATA), "val")
    labels = {str(path): label for path, label in zip(split.paths, split.labels, strict=True)}
    top1, _ = metrics.hits(outputs, np.asarray([labels[path] for path in paths]))
    return "top1", top1 / len(paths)
