"""How `tipc` compares the training engine with the inference engine in this repository.

`request` says what was run: `model`, `weights`, `model_dir`, `train_argv`, `precision`, `repo`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddlezoo.seg import config, data, deploy, metrics, transforms

# As `infer.py --fast_start`, which the configs of the large models give.
SKIP_PASSES = (deploy.SLOW_PASS,)


def samples(request: dict[str, Any]) -> list[str]:
    """The validation images of the config."""
    return [str(pair.image) for pair in _pairs(request)]


def train_preprocess(request: dict[str, Any], paths: Sequence[str]) -> np.ndarray:
    """The batch as evaluation during training sees it."""
    steps = transforms.build(_settings(request).val_dataset.transforms)
    random = np.random.default_rng(0)
    images = (transforms.Sample(data.read_image(path)) for path in paths)
    return np.stack([transforms.apply(steps, image, random).image for image in images])


def deploy_preprocess(request: dict[str, Any], paths: Sequence[str]) -> np.ndarray:
    """The batch as infer.py makes it, from the deploy.yaml that was exported."""
    return deploy.read(request["model_dir"]).preprocess(paths)


def metric(request: dict[str, Any], outputs: np.ndarray, paths: Sequence[str]) -> tuple[str, float]:
    """mIoU on the images, at the size that the model gives."""
    classes = _settings(request).model.num_classes
    pairs = {str(pair.image): pair for pair in _pairs(request)}
    matrix = np.zeros((classes, classes), np.int64)
    for prediction, path in zip(deploy.classes_of(outputs), paths, strict=True):
        pair = pairs[path]
        assert pair.mask is not None
        shape = data.read_image(path).shape[:2]
        sample = transforms.Sample(
            np.zeros((*shape, 3), np.uint8), data.read_mask(pair.mask, shape, classes, pair.where)
        )
        mask = transforms.resize(sample, (prediction.shape[1], prediction.shape[0])).mask
        assert mask is not None
        matrix += metrics.confusion(prediction, mask, classes)
    return "mIoU", metrics.scores(matrix).miou


def _settings(request: dict[str, Any]) -> config.Config:
    """The config that training was called with: `--config FILE` or `--config=FILE`."""
    words = [part for word in request["train_argv"] for part in word.split("=", 1)]
    return config.read(Path(request["repo"], words[words.index("--config") + 1]))


def _pairs(request: dict[str, Any]) -> list[data.Pair]:
    part = _settings(request).val_dataset
    return data.read_list(part.list_path, part.dataset_root)
