"""Inference of MobileNetV3-small, 224 × 224, batch 1: every engine, precision and thread count against
onnxruntime.

Bounds, on p50 of ratios round by round: our best fp32 takes at most 1.2 × onnxruntime's fp32 with as many
threads, and our best int8 is faster than our best fp32. Either broken: exit 1.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

OURS = (
    ("native", "fp32"),
    ("onednn", "fp32"),
    ("openvino", "fp32"),
    ("onednn", "int8"),
    ("openvino", "int8"),
)
REFERENCE = ("onnxruntime", "fp32")
AT_MOST = 1.2
SIZE = 224
Run = Callable[[np.ndarray], object]


def export_both(folder: Path) -> tuple[Path, Path]:
    """The network in fp32, and quantised with calibrated clips: speed does not depend on how well it is
    trained.
    """
    import paddle

    from paddlezoo import export, seeding
    from paddlezoo.cls import network
    from paddlezoo.quant import pact

    seeding.seed_at(0)
    plain = network.build("mobilenet_v3_small", 1000)
    quantised = pact.quantise(plain)
    images = seeding.generator(0).normal(size=(4, 3, SIZE, SIZE)).astype("float32")
    pact.calibrate(quantised, [paddle.to_tensor(images)])
    shape = [None, 3, SIZE, SIZE]
    return export.save(plain, shape, folder / "fp32"), export.save(quantised, shape, folder / "int8")


def onnx(prefix: Path, target: Path, threads: int) -> Run:
    """The same exported model, converted by paddle2onnx and run by onnxruntime."""
    import onnxruntime
    import paddle2onnx

    if not target.exists():
        paddle2onnx.export(
            f"{prefix}.pdmodel", f"{prefix}.pdiparams", str(target), opset_version=13, optimize_tool="None"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # errors
    session = onnxruntime.InferenceSession(str(target), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda batch: session.run(None, {name: batch})


def measure(runs: dict[tuple[str, str], Run], rounds: int) -> dict[tuple[str, str], list[float]]:
    """Milliseconds; the candidates take turns call by call, so that a busy moment hits them all."""
    batch = np.random.default_rng(0).normal(size=(1, 3, SIZE, SIZE)).astype("float32")
    times: dict[tuple[str, str], list[float]] = {name: [] for name in runs}
    for run in runs.values():
        for _ in range(5):
            run(batch)
    for _ in range(rounds):
        for name, run in runs.items():
            run(batch)  # brings its weights into the cache
            began = time.perf_counter()
            run(batch)
            times[name].append((time.perf_counter() - began) * 1000)
    return times


def ratio(ours: list[float], theirs: list[float]) -> float:
    """p50 of the ratio round by round: what the machine did besides mostly cancels out."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def main() -> int:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    args = parser.parse_args()
    from paddlezoo.predictor import Predictor

    broken = []
    with tempfile.TemporaryDirectory() as folder:
        plain, quantised = export_both(Path(folder))
        print(
            f"{'p50 in ms':24}"
            + "".join(f"{name + ' ' + precision:>18}" for name, precision in (*OURS, REFERENCE))
        )
        for threads in sorted({1, min(2, os.cpu_count() or 1)}):
            runs: dict[tuple[str, str], Run] = {
                (engine, precision): Predictor(
                    plain if precision == "fp32" else quantised, engine, precision, threads
                )
                for engine, precision in OURS
            }
            runs[REFERENCE] = onnx(plain, Path(folder) / "model.onnx", threads)
            times = measure(runs, args.rounds)
            p50 = {name: statistics.median(values) for name, values in times.items()}
            print(
                f"{threads} thread{'s' if threads > 1 else ' '}{'':15}"
                + "".join(f"{p50[n]:18.2f}" for n in runs)
            )
            fp32, int8 = (
                min((n for n in OURS if n[1] == kind), key=p50.__getitem__) for kind in ("fp32", "int8")
            )
            to_reference, to_fp32 = ratio(times[fp32], times[REFERENCE]), ratio(times[int8], times[fp32])
            print(f"  best fp32 / onnxruntime {to_reference:.2f}, best int8 / best fp32 {to_fp32:.2f}")
            if to_reference > AT_MOST:
                broken.append(f"{threads} threads: fp32 takes more than {AT_MOST} × onnxruntime")
            if to_fp32 >= 1:
                broken.append(f"{threads} threads: int8 is not faster than fp32")
    for text in broken:
        print(f"BROKEN: {text}")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
