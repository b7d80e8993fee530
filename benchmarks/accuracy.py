"""Accuracy of every precision on real images: scikit-learn's digits, MobileNetV3-small, 48 × 48.

Bounds: fp32 at least 0.97; emulated AMP O1 and O2 at most 1 point below fp32; PACT int8 in a real int8 engine
at most 0.5 points below fp32, with clips that moved and convolutions that the engine ran in int8. Any of them
broken: exit 1.
"""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

FP32_AT_LEAST = 0.97
AMP_AT_MOST_BELOW = 0.010
INT8_AT_MOST_BELOW = 0.005
TRAIN_IMAGES, BATCH, EPOCHS, PACT_EPOCHS, SIZE, SEED = 1400, 32, 5, 2, 48, 1
Classifier = Callable[[np.ndarray], np.ndarray]


def digits() -> tuple[np.ndarray, np.ndarray]:
    """1,797 handwritten digits as (n, 3, 48, 48) and their classes, in a fixed random order."""
    import paddle
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.RandomState(0).permutation(len(found.images))
    small = paddle.to_tensor((found.images[order] / 8.0 - 1.0).astype("float32")[:, None])
    large = paddle.nn.functional.interpolate(small, size=[SIZE, SIZE], mode="bilinear")
    return large.tile([1, 3, 1, 1]).numpy(), found.target[order].astype("int64")


def train(network, precision, images: np.ndarray, labels: np.ndarray, epochs: int, rate: float) -> None:
    """As train.py does, with batch norm's statistics taken anew at the end."""
    import paddle

    from paddlezoo import batchnorm, seeding

    steps = TRAIN_IMAGES // BATCH
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(rate, epochs * steps)
    optimizer = paddle.optimizer.Adam(schedule, parameters=network.parameters())
    network.train()
    for epoch in range(epochs):
        seeding.seed_at(SEED, epoch)
        order = seeding.generator(SEED, epoch).permutation(TRAIN_IMAGES)
        for step in range(steps):
            some = order[step * BATCH : (step + 1) * BATCH]
            with precision.autocast():
                logits = network(paddle.to_tensor(images[some]))
                loss = paddle.nn.functional.cross_entropy(logits, paddle.to_tensor(labels[some]))
            precision.backward_and_step(loss, optimizer)
            optimizer.clear_grad()
            schedule.step()
    starts = range(0, TRAIN_IMAGES, BATCH)
    batchnorm.recompute(
        network, (paddle.to_tensor(images[start : min(start + BATCH, TRAIN_IMAGES)]) for start in starts)
    )
    network.eval()


def dynamic(network) -> Classifier:
    import paddle

    def classify(batch: np.ndarray) -> np.ndarray:
        with paddle.no_grad():
            return network(paddle.to_tensor(batch)).numpy()

    return classify


def accuracy(classify: Classifier, images: np.ndarray, labels: np.ndarray) -> float:
    """On the images that training did not see."""
    right = 0
    for start in range(TRAIN_IMAGES, len(images), 64):
        answer = classify(images[start : start + 64]).argmax(-1)
        right += int((answer == labels[start : start + 64]).sum())
    return right / (len(images) - TRAIN_IMAGES)


def int8_convolutions(prefix: Path, engine: str) -> int:
    """How many convolutions the engine itself says that it ran with int8 weights, in a process of its own."""
    code = (
        "import sys, numpy as np; from paddlezoo.predictor import Predictor; "
        f"Predictor(sys.argv[1], sys.argv[2], 'int8')(np.zeros((1, 3, {SIZE}, {SIZE}), 'float32'))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(prefix), engine],
        env=os.environ | {"ONEDNN_VERBOSE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    pattern = re.compile(r"exec.*,convolution,.*wei[:_]s8")
    return sum(1 for line in done.stdout.splitlines() if pattern.search(line))


def main() -> int:
    warnings.filterwarnings("ignore")
    from paddlezoo import amp, checkpoint, export, seeding
    from paddlezoo.cls import deploy, network
    from paddlezoo.device import Device
    from paddlezoo.predictor import Predictor
    from paddlezoo.quant import pact

    images, labels = digits()
    rows: list[tuple[str, float, str]] = []
    broken: list[str] = []
    trained = {}
    for level in (None, "O1", "O2"):
        name = f"AMP {level} float16, emulated" if level else "fp32"
        began = time.perf_counter()
        precision = amp.choose(level, "float16", Device("cpu"))
        seeding.seed_at(SEED)
        model = network.build("mobilenet_v3_small", 10)
        train(model, precision, images, labels, EPOCHS, 2e-3)
        trained[level] = model
        rows.append((name, accuracy(dynamic(model), images, labels), f"{time.perf_counter() - began:.0f} s"))
        print(f"{rows[-1][0]}: {rows[-1][1]:.4f} ({rows[-1][2]})", flush=True)
        if level and rows[-1][1] < rows[0][1] - AMP_AT_MOST_BELOW:
            broken.append(f"{name} is more than 1 point below fp32")
    fp32 = rows[0][1]
    if fp32 < FP32_AT_LEAST:
        broken.append(f"fp32 is below {FP32_AT_LEAST}")

    began = time.perf_counter()
    model = pact.quantise(copy.deepcopy(trained[None]), clip_learning_rate=10.0)
    import paddle

    pact.calibrate(model, [paddle.to_tensor(images[start : start + 64]) for start in (0, 64, 128, 192)])
    train(model, amp.FullPrecision(), images, labels, PACT_EPOCHS, 2e-4)
    moved, clips = pact.clips_moved(checkpoint.weights_of(model))
    if moved == 0:
        broken.append("no clip of the PACT model moved")
    seconds = f"{time.perf_counter() - began:.0f} s, {moved} of {clips} clips moved"
    rows.append(("PACT, training engine", accuracy(dynamic(model), images, labels), seconds))

    with tempfile.TemporaryDirectory() as folder:
        deploy.prepare(model)
        prefix = export.save(model, [None, 3, SIZE, SIZE], folder)
        best = 0.0
        for engine in ("onednn", "openvino"):
            predictor = Predictor(prefix, engine, "int8")
            reached = accuracy(lambda batch, run=predictor: run(batch)[0], images, labels)
            count = int8_convolutions(prefix, engine)
            rows.append((f"PACT int8, {engine}", reached, f"{count} convolutions in int8"))
            best = max(best, reached if count else 0.0)
    if best < fp32 - INT8_AT_MOST_BELOW:
        broken.append("no engine that really ran int8 is within 0.5 points of fp32")

    print(f"\n{'':30} {'accuracy':>8} {'points':>7}")
    for name, value, note in rows:
        print(f"{name:30} {value:8.4f} {(value - fp32) * 100:+7.2f}  {note}")
    for text in broken:
        print(f"BROKEN: {text}")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
