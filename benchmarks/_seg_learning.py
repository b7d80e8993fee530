"""Training on the lite images in memory, for `learn.py` and `seg_int8.py`: same data, seed and settings for
both."""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ARCHIVE = Path(__file__).parents[1] / "zoo" / "segmentation" / "lite_data.tar"
SEED = 100


@dataclass(frozen=True)
class Setting:
    """How a model is trained: on which images, at which size (width, height), how long, how fast."""

    scene: str
    size: tuple[int, int]
    iters: int
    rate: float
    batch: int = 4

    @property
    def classes(self) -> int:
        return 2 if self.scene == "people" else 19


SETTINGS = {
    "pphumanseg_lite": Setting("people", (96, 96), 150, 0.01),
    "fcn_hrnetw18_small": Setting("people", (96, 96), 120, 0.005),
    "deeplabv3p_resnet50": Setting("people", (64, 64), 120, 0.001, batch=8),
    "pp_liteseg_stdc1": Setting("street", (128, 64), 300, 0.005),
    "pp_liteseg_stdc2": Setting("street", (128, 64), 300, 0.005),
    "fcn_hrnetw18": Setting("street", (128, 64), 200, 0.003),
    "ocrnet_hrnetw18": Setting("street", (128, 64), 250, 0.003),
    "ocrnet_hrnetw48": Setting("street", (128, 64), 200, 0.001),
}


def lite_images(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """The training images and masks of a scene, resized and normalised."""
    from paddlezoo.seg import data, transforms

    steps = [{"type": "Resize", "target_size": [*setting.size]}, {"type": "Normalize"}]
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(scratch, filter="data")
        root = Path(scratch, "lite_data", setting.scene)
        pairs = data.Pairs(data.read_list(root / "train.txt", root), transforms.build(steps), setting.classes)
        images, masks = zip(*(pairs[index] for index in range(len(pairs))), strict=True)
    return np.stack(images), np.stack(masks)


def score(predict: Any, images: np.ndarray, masks: np.ndarray, classes: int) -> float:
    """mIoU of `predict` (a batch to logits), image by image."""
    from paddlezoo.seg import metrics

    matrix = np.zeros((classes, classes), np.int64)
    for image, mask in zip(images, masks, strict=True):
        matrix += metrics.confusion(predict(image[None]).argmax(axis=1)[0], mask, classes)
    return metrics.scores(matrix).miou


def as_predictor(network: Any) -> Any:
    """A network in evaluation mode as a function of arrays."""
    import paddle

    def predict(batch: np.ndarray) -> np.ndarray:
        with paddle.no_grad():
            return network(paddle.to_tensor(batch))[0].numpy()

    network.eval()
    return predict


def train(
    network: Any, setting: Setting, images: np.ndarray, masks: np.ndarray, iters: int, rate: float
) -> None:
    """AdamW with polynomial decay, random flips, and the auxiliary heads' losses."""
    import paddle

    from paddlezoo import seeding
    from paddlezoo.seg import losses

    seeding.seed_at(SEED)
    random = seeding.generator(SEED)
    schedule = paddle.optimizer.lr.PolynomialDecay(rate, iters, end_lr=0.01 * rate, power=0.9)
    parameters = [p for p in network.parameters() if not p.stop_gradient]
    optimizer = paddle.optimizer.AdamW(schedule, parameters=parameters, weight_decay=1e-4)
    network.train()
    for _ in range(iters):
        chosen = random.choice(len(images), setting.batch, replace=False)
        x, y = images[chosen], masks[chosen]
        if random.random() < 0.5:
            x, y = x[..., ::-1].copy(), y[..., ::-1].copy()
        outputs = network(paddle.to_tensor(x))
        weights = [1.0, 0.4] if len(outputs) == 2 else [1.0] * len(outputs)
        heads = [(weight, losses.cross_entropy) for weight in weights]
        losses.total_loss(outputs, paddle.to_tensor(y), heads).backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()


def build(name: str) -> Any:
    """A network from the seed."""
    from paddlezoo import seeding
    from paddlezoo.models import MODELS

    seeding.seed_at(SEED)
    return MODELS[name](SETTINGS[name].classes)


def in_own_process(script: str, name: str, *options: str) -> str:
    """Run `python script --one NAME`: paddle keeps memory and graphs of a model for the life of a process."""
    import sys

    done = subprocess.run(
        [sys.executable, script, "--one", name, *options], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    return done.stdout.strip().splitlines()[-1]
