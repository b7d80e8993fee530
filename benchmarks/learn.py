"""Each segmentation model learns: from a seed, mIoU on the lite training images in at most a few hundred
iterations.

Bound: mIoU above 0.8 for all eight. `python benchmarks/learn.py [model …]`
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import _seg_learning as learning

BOUND = 0.8


def one(name: str) -> dict[str, float]:
    """Train a model; its scores before and after."""
    from paddlezoo import device

    device.choose("cpu")  # as train.py does: the process is set up for it
    setting = learning.SETTINGS[name]
    images, masks = learning.lite_images(setting)
    network = learning.build(name)
    before = learning.score(learning.as_predictor(network), images, masks, setting.classes)
    begin = time.process_time()
    learning.train(network, setting, images, masks, setting.iters, setting.rate)
    seconds = time.process_time() - begin
    after = learning.score(learning.as_predictor(network), images, masks, setting.classes)
    return {"before": before, "after": after, "seconds": seconds}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", default=list(learning.SETTINGS))
    parser.add_argument("--one", help="print one model's scores as JSON")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.one)))
        return 0
    broken = False
    print("| model | input | batch | iterations | mIoU before | mIoU after | CPU seconds |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name in args.models:
        setting = learning.SETTINGS[name]
        row = json.loads(learning.in_own_process(__file__, name))
        broken |= row["after"] <= BOUND
        size = f"{setting.scene} {setting.size[0]}x{setting.size[1]}"
        scores = f"{row['before']:.3f} | {row['after']:.3f} | {row['seconds']:.0f}"
        print(f"| {name} | {size} | {setting.batch} | {setting.iters} | {scores} |", flush=True)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
