"""Inference of MobileNetV3-small, 224 × 224, batch 1: every engine, precision and thread count against
onnxruntime.

Bounds, on p50 of ratios round by round: our best fp32 takes at most 1.2 × onnxruntime's fp32 with as many
threads, and our best int8 is faster than our best fp32. Either broken: exit 1.

Every candidate is alone in a process, as it is where it is used, and they take turns, in an order drawn
anew for each round, each after a pause in which the threads of the one before go to sleep. Side by side in
one process, or without the pause, they measure each other: a pool of threads goes on spinning for up to
0.2 s after its last call and takes a core from whoever is next.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from itertools import chain
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from _inference_guest import SIZE  # noqa: E402

OURS = (
    ("native", "fp32"),
    ("onednn", "fp32"),
    ("openvino", "fp32"),
    ("onednn", "int8"),
    ("openvino", "int8"),
)
REFERENCE = ("onnxruntime", "fp32")
AT_MOST = 1.2
# Longer than any pool of threads spins; libiomp5's 0.2 s is the longest.
PAUSE = 0.25
Name = tuple[str, str]


class Candidate:
    """An engine in a process of its own, that makes a turn of calls when it is asked to."""

    def __init__(self, engine: str, precision: str, threads: int, model: Path):
        command = [sys.executable, str(HERE / "_inference_guest.py")]
        self._process = subprocess.Popen(
            [*command, engine, precision, str(threads), str(model)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def turn(self) -> list[float]:
        """Milliseconds of each call."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("turn\n")
        self._process.stdin.flush()
        line = next(line for line in self._process.stdout if line.startswith("turn "))
        return [float(word) for word in line.split()[1:]]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def export_all(folder: Path) -> dict[str, Path]:
    """The network in fp32, quantised with calibrated clips (speed does not depend on how well it is trained),
    and the fp32 one converted by paddle2onnx.
    """
    import paddle
    import paddle2onnx

    from paddlezoo import export, seeding
    from paddlezoo.cls import deploy, network
    from paddlezoo.quant import pact

    seeding.seed_at(0)
    plain = network.build("mobilenet_v3_small", 1000)
    quantised = pact.quantise(plain)
    images = seeding.generator(0).normal(size=(4, 3, SIZE, SIZE)).astype("float32")
    pact.calibrate(quantised, [paddle.to_tensor(images)])
    deploy.prepare(quantised)
    shape = [None, 3, SIZE, SIZE]
    fp32 = export.save(plain, shape, folder / "fp32")
    onnx = folder / "model.onnx"
    paddle2onnx.export(
        f"{fp32}.pdmodel", f"{fp32}.pdiparams", str(onnx), opset_version=13, optimize_tool="None"
    )
    return {"fp32": fp32, "int8": export.save(quantised, shape, folder / "int8"), "onnx": onnx}


def measure(models: dict[str, Path], threads: int, rounds: int) -> dict[Name, list[list[float]]]:
    """For each candidate and round the milliseconds of its calls."""
    from paddlezoo import seeding

    candidates = {name: Candidate(*name, threads, models[name[1]]) for name in OURS}
    candidates[REFERENCE] = Candidate(*REFERENCE, threads, models["onnx"])
    times: dict[Name, list[list[float]]] = {name: [] for name in candidates}
    names = list(candidates)
    try:
        for candidate in candidates.values():
            candidate.turn()  # loads the model
        for number in range(rounds):
            for place in seeding.generator(number).permutation(len(names)):
                time.sleep(PAUSE)
                times[names[place]].append(candidates[names[place]].turn())
    finally:
        for candidate in candidates.values():
            candidate.close()
    return times


def ratio(ours: list[list[float]], theirs: list[list[float]]) -> float:
    """p50 of the ratio of the p50s round by round: what the machine did besides mostly cancels out."""
    return statistics.median(
        statistics.median(a) / statistics.median(b) for a, b in zip(ours, theirs, strict=True)
    )


def main() -> int:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    args = parser.parse_args()
    broken = []
    with tempfile.TemporaryDirectory() as folder:
        models = export_all(Path(folder))
        names = (*OURS, REFERENCE)
        print(f"{'p50 in ms':24}" + "".join(f"{name + ' ' + precision:>18}" for name, precision in names))
        for threads in sorted({1, min(2, os.cpu_count() or 1)}):
            times = measure(models, threads, args.rounds)
            p50 = {name: statistics.median(chain.from_iterable(rounds)) for name, rounds in times.items()}
            cells = "".join(f"{p50[name]:18.2f}" for name in names)
            print(f"{threads} thread{'s' if threads > 1 else ' '}{'':15}{cells}")
            fp32, int8 = (
                min((name for name in OURS if name[1] == kind), key=p50.__getitem__)
                for kind in ("fp32", "int8")
            )
            to_reference, to_fp32 = ratio(times[fp32], times[REFERENCE]), ratio(times[int8], times[fp32])
            print(
                f"  best fp32 / onnxruntime {to_reference:.2f}, best int8 / best fp32 {to_fp32:.2f}",
                flush=True,
            )
            if to_reference > AT_MOST:
                broken.append(f"{threads} threads: fp32 takes more than {AT_MOST} × onnxruntime")
            if to_fp32 >= 1:
                broken.append(f"{threads} threads: int8 is not faster than fp32")
    for text in broken:
        print(f"BROKEN: {text}")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
