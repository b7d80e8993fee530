"""The network of a config, with the weights of a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from paddlezoo import checkpoint
from paddlezoo.errors import ZooError
from paddlezoo.models import MODELS
from paddlezoo.seg.config import Model


def build(model: Model) -> Any:
    """The network that a config names."""
    if model.type not in MODELS:
        raise ZooError(f"model.type: {model.type!r} is not a model; known are {', '.join(MODELS)}")
    return MODELS[model.type](model.num_classes)


def load(model: Model, path: str | Path) -> Any:
    """The network with weights, ready to evaluate; one that was trained with PACT comes back quantised."""
    arrays = checkpoint.arrays_in(checkpoint.read(path))
    network = build(model)
    if checkpoint.is_quantised(arrays):
        from paddlezoo.quant import pact

        network = pact.quantise(network)
    checkpoint.load_weights(network, arrays, path)
    network.eval()
    return network


def start_from(network: Any, path: str | Path) -> str:
    """Put published or trained weights into a network before training; a line that says how many fitted.

    Weights of another number of classes or of a backbone alone are welcome here: what fits by name and shape
    is taken.
    """
    arrays = checkpoint.arrays_in(checkpoint.read(path))
    own = network.state_dict()
    # A backbone that was published alone has no prefix.
    prefix = "" if any(name in own for name in arrays) else "backbone."
    fitting: dict[str, np.ndarray] = {
        prefix + name: array
        for name, array in arrays.items()
        if prefix + name in own and list(own[prefix + name].shape) == list(array.shape)
    }
    if not fitting:
        raise ZooError(
            f"{path}: none of its {len(arrays)} weights fits the network: a checkpoint of another model"
        )
    network.set_state_dict(fitting)
    return f"weights: {len(fitting)} of {len(own)} taken from {path}"
