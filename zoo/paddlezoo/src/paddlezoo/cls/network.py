"""The networks by name, and getting a trained one back from its checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import yaml

from paddlezoo import checkpoint
from paddlezoo.cls.transforms import Transform
from paddlezoo.errors import ZooError

MODELS = {
    "mobilenet_v3_small": paddle.vision.models.mobilenet_v3_small,
    "mobilenet_v3_large": paddle.vision.models.mobilenet_v3_large,
}
CARD = ".yml"
HEAD = "classifier.3.weight"  # its second dimension is the number of classes
BATCH_NORM_MOMENTUM = (
    0.9  # paddle's 0.99 for these networks needs hundreds of steps before evaluation means anything
)


@dataclass(frozen=True)
class Card:
    """What a checkpoint needs besides weights to be used: written as ``<name>.yml`` beside
    ``<name>.pdparams``.
    """

    model: str
    classes: tuple[str, ...]
    transform: Transform
    precision: str = "fp32"
    epoch: int = 0
    top1: float | None = None

    def write(self, weights: Path) -> None:
        """Write it beside its weights."""
        content = asdict(self) | {"transform": self.transform.to_dict(), "classes": list(self.classes)}
        checkpoint.write_text(
            weights.with_suffix(CARD), yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        )

    @staticmethod
    def read(weights: Path) -> Card | None:
        """The card of some weights; None if they have none, such as weights of another origin."""
        path = weights.with_suffix(CARD)
        if not path.is_file():
            return None
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
            transform = Transform.from_dict(content.pop("transform"))
            return Card(**(content | {"transform": transform, "classes": tuple(content["classes"])}))
        except (yaml.YAMLError, ValueError, KeyError, TypeError) as error:
            raise ZooError(f"{path}: damaged: {error}") from None


def build(model: str, classes: int) -> Any:
    """A new network."""
    network = MODELS[model](num_classes=classes)
    for layer in network.sublayers():
        if isinstance(layer, paddle.nn.BatchNorm2D):
            layer._momentum = BATCH_NORM_MOMENTUM
    return network


def weights_path(given: str | Path) -> Path:
    """``--pretrained`` with or without its ``.pdparams``."""
    path = Path(given)
    return path if path.suffix == ".pdparams" or path.is_file() else path.with_name(path.name + ".pdparams")


def read_weights(path: Path, model: str, classes: int | None = None) -> dict[str, np.ndarray]:
    """The arrays of a checkpoint of ``model``; ZooError if its number of classes is another one."""
    card = Card.read(path) if path.is_file() else None
    arrays = checkpoint.arrays_in(checkpoint.read(path))
    if card and card.model != model:
        raise ZooError(f"{path}: a checkpoint of {card.model}, not of {model}: give --model={card.model}")
    if HEAD not in arrays or arrays[HEAD].ndim != 2:
        raise ZooError(f"{path}: a checkpoint of another model: it lacks {HEAD} of {model}")
    found = arrays[HEAD].shape[1]
    if classes is not None and found != classes:
        raise ZooError(f"{path}: the checkpoint has {found} classes, the data has {classes}")
    return arrays


def restore(given: str | Path, model: str, classes: Sequence[str] | None = None) -> tuple[Any, Card]:
    """The trained network in eval mode and its card; quantised if it was trained with PACT."""
    path = weights_path(given)
    arrays = read_weights(path, model, len(classes) if classes else None)
    network = build(model, arrays[HEAD].shape[1])
    quantised = checkpoint.is_quantised(arrays)
    if quantised:
        from paddlezoo.quant import pact

        network = pact.quantise(network)
    checkpoint.load_weights(network, arrays, path)
    network.eval()
    names = tuple(classes or (str(number) for number in range(arrays[HEAD].shape[1])))
    return network, Card.read(path) or Card(model, names, Transform(), "pact" if quantised else "fp32")
