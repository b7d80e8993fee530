"""A training step of our segmentation networks against paddleseg 2.8.0's: same model, input and batch,
interleaved, each with the loss of its config (cross entropy; OHEM for PP-LiteSeg).

paddleseg runs twice: as it is, and with the setting of MKL that `paddlezoo.cpu.tune` makes for our side on a
CPU that is not Intel's, so that what that alone gains does not count. Bounds, against the faster of the two:
at least as fast for all (1.0), twice as fast for PP-LiteSeg; an export within 8 s. paddle computes on one
thread here, so CPU time is measured, the best of several steps, and other programs on the machine matter
little. `python benchmarks/seg_speed.py [model …]`; see seg_parity.py for paddleseg's environment.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import _paddleseg_guest as guest  # noqa: E402
from seg_parity import reference_python  # noqa: E402

from paddlezoo import cpu, device  # noqa: E402

ROUNDS = 5
BOUNDS = {"pp_liteseg_stdc1": 2.0, "pp_liteseg_stdc2": 2.0}
# Equal work on both sides must not fail for a percent of noise.
NOISE = 0.03
EXPORT_SECONDS = 8.0
SIZES = {
    "deeplabv3p_resnet50": (1, 64, 64),
    "ocrnet_hrnetw48": (1, 64, 64),
    "pp_liteseg_stdc1": (2, 256, 256),
    "pp_liteseg_stdc2": (2, 256, 256),
}


class Reference:
    """paddleseg in a process of its own, that makes a step when it is asked to."""

    def __init__(self, python: str, name: str, size: tuple[int, int, int], mkl: str | None):
        environment = {key: value for key, value in os.environ.items() if key != cpu.MKL_SWITCH}
        if mkl is not None:
            environment[cpu.MKL_SWITCH] = mkl
        command = [python, str(HERE / "_paddleseg_guest.py"), "--steps", name, *map(str, size)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def step(self) -> float:
        """The CPU seconds of one step."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("step\n")
        self._process.stdin.flush()
        return next(float(line[5:]) for line in self._process.stdout if line.startswith("step "))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def compare(name: str, python: str) -> tuple[float, float, float, float]:
    """Best CPU seconds of a step: ours, paddleseg's as it is and with our setting of MKL; of our export."""
    from paddlezoo.models import MODELS
    from paddlezoo.seg import deploy, losses

    batch, height, width = size = SIZES.get(name, (2, 128, 128))
    network = MODELS[name]()
    loss: Any = losses.cross_entropy
    if name.startswith("pp_liteseg"):
        loss = partial(losses.ohem_cross_entropy, min_kept=batch * height * width // 16)
    step = guest.stepper(network, loss, name, batch, height, width)
    references = [Reference(python, name, size, mkl) for mkl in (None, os.environ.get(cpu.MKL_SWITCH))]
    try:
        rounds = [[step(), *(each.step() for each in references)] for _ in range(ROUNDS + 1)]
    finally:
        for reference in references:
            reference.close()
    ours, as_it_is, set_like_ours = (min(times) for times in zip(*rounds[1:], strict=True))
    return ours, as_it_is, set_like_ours, export_seconds(network, deploy)


def export_seconds(network: Any, deploy: Any) -> float:
    with tempfile.TemporaryDirectory() as scratch:
        begin = time.process_time()
        deploy.save(network, [{"type": "Normalize"}], scratch, "argmax", [-1, 3, -1, -1])
        return time.process_time() - begin


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", default=list(guest.REFERENCE))
    args = parser.parse_args()
    python = reference_python()
    broken = False
    device.choose("cpu")  # as train.py does
    print(
        "| model | input | ours, ms a step | paddleseg | ratio | with our MKL setting | ratio | export, s |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in args.models:
        ours, as_it_is, set_like_ours, export = compare(name, python)
        ratio = min(as_it_is, set_like_ours) / ours
        broken |= ratio < BOUNDS.get(name, 1.0) - NOISE or export > EXPORT_SECONDS
        size = "x".join(map(str, SIZES.get(name, (2, 128, 128))))
        cells = [name, size, f"{ours * 1e3:.0f}"]
        for theirs in (as_it_is, set_like_ours):
            cells += [f"{theirs * 1e3:.0f}", f"{theirs / ours:.2f}"]
        print(f"| {' | '.join(cells)} | {export:.1f} |", flush=True)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
