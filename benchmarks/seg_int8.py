"""PACT int8 of the segmentation models in the real int8 engine: mIoU on the lite data, and latency against
fp32.

Each model is trained in fp32, exported, trained on with PACT, exported in int8. Bounds: both int8 engines
(oneDNN and OpenVINO) within 0.5 points of mIoU of the quantisation's simulation and within 1.5 of fp32; the
faster int8 engine at least 1.5 times as fast as its own fp32 for PP-LiteSeg and 1.7 times for HRNet, one
thread, interleaved, CPU time.
`python benchmarks/seg_int8.py [model …]`
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import _seg_learning as learning

BOUNDS = {"pp_liteseg_stdc1": 1.5, "pp_liteseg_stdc2": 1.5}
BOUNDS |= dict.fromkeys(("fcn_hrnetw18_small", "fcn_hrnetw18", "ocrnet_hrnetw18", "ocrnet_hrnetw48"), 1.7)
# The size of an image when latency is measured: what the model is made for, or as much of it as a CPU likes.
LATENCY_SIZE = {"people": (192, 192), "street": (256, 512)}
ROUNDS = 15
STEPS = [{"type": "Normalize"}]
DYNAMIC = [-1, 3, -1, -1]


def one(name: str, train: bool) -> dict[str, Any]:
    """Train, quantise, export; scores and best latencies of a model."""
    from paddlezoo import device
    from paddlezoo.predictor import Predictor
    from paddlezoo.quant import convert, pact
    from paddlezoo.seg import deploy

    device.choose("cpu")  # as train.py does: the process is set up for it
    setting = learning.SETTINGS[name]
    images, masks = learning.lite_images(setting)
    network = learning.build(name)
    if train:
        learning.train(network, setting, images, masks, setting.iters, setting.rate)
    result: dict[str, Any] = {}

    def score(predict: Any) -> float:
        return learning.score(predict, images, masks, setting.classes)

    result["fp32"] = score(learning.as_predictor(network))
    with tempfile.TemporaryDirectory() as scratch:
        prefixes = {"fp32": deploy.save(network, STEPS, f"{scratch}/fp32", "none", DYNAMIC)}
        import paddle

        quantised = pact.quantise(network)
        pact.calibrate(quantised, [paddle.to_tensor(images[:4]), paddle.to_tensor(images[4:8])])
        if train:
            learning.train(quantised, setting, images, masks, setting.iters // 4, setting.rate / 10)
        convert.to_int8(quantised)
        result["simulation"] = score(learning.as_predictor(quantised))
        prefixes["int8"] = deploy.save(quantised, STEPS, f"{scratch}/int8", "none", DYNAMIC)
        for key, engine in (("int8", "onednn"), ("openvino", "openvino")):
            predictor = Predictor(prefixes["int8"], engine, "int8")
            result[key] = score(lambda batch, run=predictor: run(batch)[0])
            del predictor  # two of one model in a process may share what OpenVINO compiled, for other sizes
        milliseconds = latencies(prefixes, LATENCY_SIZE[setting.scene])
        sizes = {
            key: prefix.with_suffix(".pdiparams").stat().st_size / 1e6 for key, prefix in prefixes.items()
        }
    return {**result, "ms": milliseconds, "mb": sizes}


def latencies(prefixes: dict[str, Path], size: tuple[int, int]) -> dict[str, float]:
    """The best time of one image in every engine and precision, taking turns."""
    from paddlezoo.predictor import Predictor

    engines = {
        f"{engine} {precision}": Predictor(prefix, engine, precision)
        for engine in ("onednn", "openvino")
        for precision, prefix in prefixes.items()
    }
    x = np.random.default_rng(0).normal(size=(1, 3, *size)).astype("float32")
    best = dict.fromkeys(engines, float("inf"))
    for _ in range(ROUNDS):
        for name, predict in engines.items():
            predict(x)  # brings its weights into the cache
            begin = time.process_time()
            predict(x)
            best[name] = min(best[name], time.process_time() - begin)
    return {name: seconds * 1e3 for name, seconds in best.items()}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", default=list(learning.SETTINGS))
    parser.add_argument("--one", help="print one model's results as JSON")
    parser.add_argument(
        "--untrained", action="store_true", help="only the bound on speed, which needs no training"
    )
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.one, not args.untrained)))
        return 0
    broken = False
    head = ["model", "mIoU fp32", "PACT simulated", "int8 oneDNN", "int8 OpenVINO", "MB fp32", "MB int8"]
    head += ["ms oneDNN fp32", "int8", "ratio", "ms OpenVINO fp32", "int8", "ratio"]
    print(f"| {' | '.join(head)} |")
    print(f"| --- | {' | '.join(['---:'] * (len(head) - 1))} |")
    for name in args.models:
        options = ["--untrained"] if args.untrained else []
        row = json.loads(learning.in_own_process(__file__, name, *options))
        ms = row["ms"]
        ratio = ms["onednn fp32"] / ms["onednn int8"]
        other = ms["openvino fp32"] / ms["openvino int8"]
        best = other if ms["openvino int8"] < ms["onednn int8"] else ratio
        broken |= best < BOUNDS.get(name, 0.0)
        if not args.untrained:
            scores = (row["int8"], row["openvino"])
            drift = max(abs(score - row["simulation"]) for score in scores)
            broken |= drift > 0.005 or row["fp32"] - min(scores) > 0.015
        cells = [name, *(f"{row[key]:.4f}" for key in ("fp32", "simulation", "int8", "openvino"))]
        cells += [f"{row['mb'][key]:.2f}" for key in ("fp32", "int8")]
        cells += [f"{ms['onednn fp32']:.1f}", f"{ms['onednn int8']:.1f}", f"{ratio:.2f}"]
        cells += [f"{ms['openvino fp32']:.1f}", f"{ms['openvino int8']:.1f}", f"{other:.2f}"]
        print(f"| {' | '.join(cells)} |", flush=True)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
