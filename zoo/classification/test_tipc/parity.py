"""What a parity check asks: the same images as training and as deployment see them, and the metric.

Called with the repository's root as the current directory, by an interpreter that has paddle. ``request``
names the ``weights``, the ``model_dir`` of the exported model, and the ``precision`` of the training.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddlezoo import pictures
from paddlezoo.cls import data, deploy, metrics, network
from paddlezoo.cls.transforms import Transform

DATA = "./lite_data"


def samples(request: dict[str, Any]) -> list[str]:
    """The images of the val split."""
    return [str(path) for path in data.read_split(data.find(DATA), "val").paths]


def train_preprocess(request: dict[str, Any], paths: list[str]) -> np.ndarray:
    """The batch as ``eval.py`` feeds it to the network, by the transforms that lie beside the weights."""
    card = network.Card.read(network.weights_path(request["weights"]))
    transform = card.transform if card else Transform()
    split = data.read_split(data.find(DATA), "val")
    labels = {str(path): label for path, label in zip(split.paths, split.labels, strict=True)}
    chosen = data.Split(
        tuple(map(data.Path, paths)), tuple(labels.get(path, 0) for path in paths), split.classes
    )
    images = data.Images(chosen, transform)
    return np.stack([images[index][0] for index in range(len(images))])


def deploy_preprocess(request: dict[str, Any], paths: list[str]) -> np.ndarray:
    """The batch as ``infer.py`` feeds it, by the transforms that lie beside the exported model."""
    transform = deploy.Deployed.read(request["model_dir"]).transform
    return np.stack([transform.evaluation(pictures.read(path)) for path in paths])


def metric(request: dict[str, Any], outputs: np.ndarray, paths: list[str]) -> tuple[str, float]:
    """Top-1 of logits against the labels of the val split."""
    split = data.read_split(data.find(DATA), "val")
    labels = {str(path): label for path, label in zip(split.paths, split.labels, strict=True)}
    top1, _ = metrics.hits(outputs, np.asarray([labels[path] for path in paths]))
    return "top1", top1 / len(paths)
