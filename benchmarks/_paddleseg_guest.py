"""PaddleSeg 2.8.0 as a reference, in an environment of its own.

Run by the benchmarks with that environment's interpreter: `python _paddleseg_guest.py NAME OUT.npz`, with
`--record` for the recordings in zoo/segmentation/align. Weights and inputs come from paddlezoo.seg.aligning.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("FLAGS_enable_pir_api", "0")

import numpy as np

# Shared with our side, so that both have the same weights and inputs; neither is installed there.
PROJECT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PROJECT / "zoo" / "paddlezoo" / "src"), str(PROJECT / "src")]

from paddlezoo.seg.aligning import SIZES, drop_nothing, fill, image, record  # noqa: E402

CITYSCAPES = 19
PEOPLE = 2
# What PaddleSeg's TIPC configs say: the class, its options, the backbone and its options, the weights of the
# losses.
REFERENCE: dict[str, dict[str, Any]] = {
    "pp_liteseg_stdc1": {
        "model": (
            "PPLiteSeg",
            {"num_classes": CITYSCAPES, "arm_out_chs": [32, 64, 128], "seg_head_inter_chs": [32, 64, 64]},
        ),
        "backbone": ("STDC1", {}),
        "losses": [1, 1, 1],
    },
    "pp_liteseg_stdc2": {
        "model": ("PPLiteSeg", {"num_classes": CITYSCAPES}),
        "backbone": ("STDC2", {}),
        "losses": [1, 1, 1],
    },
    "pphumanseg_lite": {"model": ("PPHumanSegLite", {"num_classes": PEOPLE}), "losses": [1]},
    "fcn_hrnetw18_small": {
        "model": ("FCN", {"num_classes": PEOPLE, "backbone_indices": [-1]}),
        "backbone": ("HRNet_W18_Small_V1", {}),
        "losses": [1],
    },
    "deeplabv3p_resnet50": {
        "model": (
            "DeepLabV3P",
            {"num_classes": PEOPLE, "backbone_indices": [0, 3], "aspp_ratios": [1, 12, 24, 36]},
        ),
        "backbone": ("ResNet50_vd", {"output_stride": 8, "multi_grid": [1, 2, 4]}),
        "losses": [1],
    },
    "fcn_hrnetw18": {
        "model": ("FCN", {"num_classes": CITYSCAPES, "backbone_indices": [-1], "bias": False}),
        "backbone": ("HRNet_W18", {"padding_same": False}),
        "losses": [1],
    },
    "ocrnet_hrnetw18": {
        "model": ("OCRNet", {"num_classes": CITYSCAPES, "backbone_indices": [0]}),
        "backbone": ("HRNet_W18", {}),
        "losses": [1, 0.4],
    },
    "ocrnet_hrnetw48": {
        "model": ("OCRNet", {"num_classes": CITYSCAPES, "backbone_indices": [0]}),
        "backbone": ("HRNet_W48", {}),
        "losses": [1, 0.4],
    },
}


def outputs(model: Any, x: np.ndarray) -> dict[str, np.ndarray]:
    """Logits in evaluation, and of all heads in training (batch statistics) with nothing dropped."""
    import paddle

    result = {}
    drop_nothing(model)
    with paddle.no_grad():
        for mode in ("eval", "train"):
            getattr(model, mode)()
            for index, logits in enumerate(model(paddle.to_tensor(x))):
                result[f"{mode}{index}"] = logits.numpy()
    return result


def build(name: str) -> Any:
    """PaddleSeg's model of that name."""
    import paddleseg.models as models
    from paddleseg.models import backbones

    entry = REFERENCE[name]
    kind, options = entry["model"]
    if "backbone" in entry:
        backbone, backbone_options = entry["backbone"]
        options = {**options, "backbone": getattr(backbones, backbone)(**backbone_options)}
    return getattr(models, kind)(**options)


def main(name: str, out: str) -> None:
    """Write the names, shapes and outputs of a model."""
    model = build(name)
    trainable = sum(int(np.prod(p.shape)) for p in model.parameters() if not p.stop_gradient)
    keys = fill(model)
    arrays = {
        f"{size[0]}x{size[1]} {key}": value
        for size in SIZES
        for key, value in outputs(model, image(*size)).items()
    }
    np.savez(out, keys=np.array([repr(key) for key in keys]), trainable=trainable, **arrays)


def stepper(model: Any, loss: Any, name: str, batch: int, height: int, width: int) -> Any:
    """A function that makes one training step and gives its CPU seconds."""
    import time

    import paddle

    entry = REFERENCE[name]
    random = np.random.RandomState(1)
    x = paddle.to_tensor(image(height, width, batch))
    label = paddle.to_tensor(random.randint(0, entry["model"][1]["num_classes"], (batch, height, width)))
    parameters = [p for p in model.parameters() if not p.stop_gradient]
    optimizer = paddle.optimizer.Momentum(0.01, 0.9, parameters=parameters, weight_decay=1e-4)
    model.train()

    def step() -> float:
        begin = time.process_time()
        total = sum(w * loss(logits, label) for w, logits in zip(entry["losses"], model(x), strict=True))
        total.backward()
        optimizer.step()
        optimizer.clear_grad()
        return time.process_time() - begin

    return step


def cross_entropy(logits: Any, label: Any) -> Any:
    """The arithmetic of PaddleSeg's CrossEntropyLoss; its own code fails on paddle 3.1 (float32 times
    int64)."""
    import paddle
    import paddle.nn.functional as F

    logits = paddle.transpose(logits, [0, 2, 3, 1])
    losses = F.cross_entropy(logits, label, ignore_index=255, reduction="none").squeeze(-1)
    mask = (label != 255).astype("float32")
    return paddle.mean(losses * mask) / (paddle.mean(mask) + 1e-8)


def ohem_cross_entropy(logits: Any, label: Any, min_kept: int) -> Any:
    """The arithmetic of PaddleSeg's OhemCrossEntropyLoss, with the casts that paddle 3.1 asks for."""
    import paddle
    import paddle.nn.functional as F

    n, c, h, w = logits.shape
    flat = label.reshape([-1])
    valid = (flat != 255).astype("int64")
    flat = flat * valid
    prob = paddle.transpose(F.softmax(logits, axis=1), [1, 0, 2, 3]).reshape([c, -1])
    if min_kept < int(valid.sum()):
        prob = prob + (1 - valid).astype("float32")
        prob = paddle.sum(prob * paddle.transpose(F.one_hot(flat, c), [1, 0]), axis=0)
        index = int(prob.argsort()[min_kept - 1])
        kept = (prob < max(0.7, float(prob[index]))).astype("int64")
        flat, valid = flat * kept, valid * kept
    flat = (flat + (1 - valid) * 255).reshape([n, 1, h, w])
    mask = valid.reshape([n, 1, h, w]).astype("float32")
    losses = F.softmax_with_cross_entropy(logits, flat, ignore_index=255, axis=1) * mask
    return paddle.mean(losses) / (paddle.mean(mask) + 1e-5)


def serve_steps(name: str, batch: int, height: int, width: int) -> None:
    """One step for each line on stdin; its seconds on stdout."""
    loss: Any = cross_entropy
    if REFERENCE[name]["model"][0] == "PPLiteSeg":
        loss = partial(ohem_cross_entropy, min_kept=batch * height * width // 16)
    step = stepper(build(name), loss, name, batch, height, width)
    for _ in sys.stdin:
        print(f"step {step()}", flush=True)


def record_reference(name: str, out: str) -> None:
    """What `tipc align` holds our network against."""
    from tipc.align import Recorder

    with Recorder(out) as recorder:
        record(build(name), recorder)


if __name__ == "__main__":
    if sys.argv[1] == "--record":
        record_reference(*sys.argv[2:4])
    elif sys.argv[1] == "--steps":
        serve_steps(sys.argv[2], *map(int, sys.argv[3:6]))
    else:
        main(sys.argv[1], sys.argv[2])
