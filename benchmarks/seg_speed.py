"""A training step of our segmentation networks against paddleseg 2.8.0's: same model, input and batch,
interleaved,
each with the loss of its config (cross entropy; OHEM for PP-LiteSeg).

Bounds: at least as fast for all (1.0), twice as fast for PP-LiteSeg; an export within 8 s. paddle computes on
one thread here, so CPU time is measured, the best of several steps, and other programs on the machine matter
little. `python benchmarks/seg_speed.py [model …]`; see seg_parity.py for paddleseg's environment.
"""

from __future__ import annotations

import argparse
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


def compare(name: str, python: str) -> tuple[float, float, float]:
    """Best CPU seconds of a step, ours and paddleseg's, and of our export."""
    from paddlezoo.models import MODELS
    from paddlezoo.seg import deploy, losses

    batch, height, width = SIZES.get(name, (2, 128, 128))
    command = [
        python,
        str(HERE / "_paddleseg_guest.py"),
        "--steps",
        name,
        str(batch),
        str(height),
        str(width),
    ]
    theirs = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert theirs.stdin is not None
    assert theirs.stdout is not None
    network = MODELS[name]()
    loss: Any = losses.cross_entropy
    if name.startswith("pp_liteseg"):
        loss = partial(losses.ohem_cross_entropy, min_kept=batch * height * width // 16)
    step = guest.stepper(network, loss, name, batch, height, width)
    own, other = [], []
    try:
        for _ in range(ROUNDS + 1):
            own.append(step())
            theirs.stdin.write("step\n")
            theirs.stdin.flush()
            other.append(next(float(line[5:]) for line in theirs.stdout if line.startswith("step ")))
    finally:
        theirs.stdin.close()
        theirs.wait()
    return min(own[1:]), min(other[1:]), export_seconds(network, deploy)


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
    print("| model | input | ours, ms a step | paddleseg, ms a step | ratio | export, s |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name in args.models:
        ours, theirs, export = compare(name, python)
        ratio = theirs / ours
        broken |= ratio < BOUNDS.get(name, 1.0) - NOISE or export > EXPORT_SECONDS
        size = "x".join(map(str, SIZES.get(name, (2, 128, 128))))
        numbers = f"{ours * 1e3:.0f} | {theirs * 1e3:.0f} | {ratio:.2f} | {export:.1f}"
        print(f"| {name} | {size} | {numbers} |", flush=True)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
