"""What the segmentation tests share: the repository's scripts as functions, small data, a network with
statistics."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from PIL import Image

ROOT = Path(__file__).parents[2]
SEGMENTATION = ROOT / "zoo" / "segmentation"


def call(script: str, *words: str) -> int:
    """Run a script of zoo/segmentation in this process, as its command line would; the exit code."""
    before = sys.argv
    sys.argv = [script, *words]
    try:
        space = runpy.run_path(str(SEGMENTATION / script), run_name="called")
        return int(space["run"](space["main"]))
    finally:
        sys.argv = before


def make_data(root: Path, images: int = 4, size: int = 40) -> Path:
    """Bright squares on a dark ground: two classes that are learnt in a moment. Returns a config that trains
    on it."""
    random = np.random.default_rng(0)
    (root / "images").mkdir(parents=True)
    (root / "masks").mkdir()
    lines = []
    for index in range(images):
        mask = np.zeros((size, size), np.uint8)
        top, left = random.integers(0, size // 2, 2)
        mask[top : top + size // 2, left : left + size // 2] = 1
        image = np.where(mask[..., None] == 1, 200, 40) + random.integers(-20, 20, (size, size, 3))
        Image.fromarray(image.astype(np.uint8)).save(root / f"images/{index}.png")
        Image.fromarray(mask).save(root / f"masks/{index}.png")
        lines.append(f"images/{index}.png masks/{index}.png")
    (root / "list.txt").write_text("\n".join(lines) + "\n")
    steps = [{"type": "Resize", "target_size": [32, 32]}, {"type": "Normalize"}]
    part = {"dataset_root": str(root), "transforms": steps}
    config = {
        "batch_size": 2,
        "iters": 4,
        "model": {"type": "pphumanseg_lite", "num_classes": 2},
        "train_dataset": {**part, "train_path": "list.txt"},
        "val_dataset": {**part, "val_path": "list.txt"},
        "optimizer": {"type": "AdamW"},
        "loss": {"types": [{"type": "CrossEntropyLoss"}], "coef": [1]},
    }
    path = root / "config.yml"
    path.write_text(yaml.safe_dump(config))
    return path


def settle(network: Any, x: Any) -> None:
    """Give every batch norm the statistics of `x`, as training would in the end: outputs of a moderate
    size."""
    import paddle

    norms = [layer for layer in network.sublayers() if isinstance(layer, paddle.nn.BatchNorm2D)]
    momenta = [norm._momentum for norm in norms]
    for norm in norms:
        norm._momentum = 0.0
        norm.weight.set_value(
            paddle.full_like(norm.weight, 0.5)
        )  # a hundred layers must not amplify a last bit
    network.train()
    with paddle.no_grad():
        network(x)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm._momentum = momentum
        # Pooled to one pixel, two images have hardly any variance, and dividing by that would blow noise up.
        norm._variance.set_value(paddle.clip(norm._variance, min=0.1))
    network.eval()
