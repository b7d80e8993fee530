"""Our segmentation networks against paddleseg 2.8.0, with the same weights: names, shapes, counts, outputs.

Bound: outputs in evaluation and in training (all heads) differ by at most 1e-5, for all eight models and for
a size that no stride divides. paddleseg runs in an environment of its own, made on the first call (about 1
GB) or given by PADDLESEG_PYTHON. `--write FILE` also stores the digests that the contract test compares
with, `--record DIR` what `tipc align` holds our networks against (zoo/segmentation/align).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import _paddleseg_guest as guest  # noqa: E402

BOUND = 1e-5
PACKAGES = ["paddlepaddle==3.1.1", "numpy<2.4", "opencv-python-headless", "pyyaml", "scipy", "scikit-learn"]
PACKAGES += ["prettytable", "filelock", "tqdm", "visualdl", "pillow", "setuptools"]


def reference_python() -> str:
    """The interpreter of an environment with paddleseg 2.8.0, which is made if there is none."""
    given = os.environ.get("PADDLESEG_PYTHON")
    if given:
        return given
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tipc-paddleseg-2.8.0"
    python = home / "bin" / "python"
    if not (home / ".ready").exists():
        print(f"making an environment for paddleseg 2.8.0 in {home} …", flush=True)
        venv.create(home, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "-q"]
        subprocess.run([*install, *PACKAGES], check=True)
        # Its own list of requirements wants an OpenCV with a window system.
        subprocess.run([*install, "--no-deps", "paddleseg==2.8.0"], check=True)
        (home / ".ready").touch()
    return str(python)


def compare(name: str, python: str) -> dict[str, object]:
    """One model: what is equal and the largest difference."""
    from paddlezoo.models import MODELS

    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch, "reference.npz")
        command = [python, str(HERE / "_paddleseg_guest.py"), name, str(out)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=scratch)
        if done.returncode:
            raise SystemExit(f"paddleseg failed on {name}:\n{done.stderr[-2000:]}")
        expected = dict(np.load(out))
    network = MODELS[name]()
    trainable = sum(int(np.prod(p.shape)) for p in network.parameters() if not p.stop_gradient)
    keys = guest.fill(network)
    difference = {"eval": 0.0, "train": 0.0}
    for size in guest.SIZES:
        for key, value in guest.outputs(network, guest.image(*size)).items():
            wanted = expected[f"{size[0]}x{size[1]} {key}"]
            mode = key.rstrip("0123456789")
            difference[mode] = max(difference[mode], float(np.abs(value - wanted).max()))
    return {
        "same_names": [repr(key) for key in keys] == expected["keys"].tolist(),
        "same_count": trainable == int(expected["trainable"]),
        "keys": len(keys),
        "trainable": trainable,
        "sha256": hashlib.sha256(repr(keys).encode()).hexdigest(),
        "scale": max(float(np.abs(v).max()) for k, v in expected.items() if "eval" in k),
        **difference,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", default=list(guest.REFERENCE))
    parser.add_argument(
        "--write", type=Path, help="store names and counts for tests/zoo/test_seg_contract.py"
    )
    parser.add_argument(
        "--record", type=Path, metavar="DIR", help="only record the reference, for tipc align"
    )
    args = parser.parse_args()
    python = reference_python()
    if args.record:
        for name in args.models:
            out = str(args.record.resolve() / f"{name}.npz")
            subprocess.run([python, str(HERE / "_paddleseg_guest.py"), "--record", name, out], check=True)
        return 0
    stored, broken = {}, False
    print("| model | parameters | tensors | names and shapes | max Δ eval | max Δ train | largest output |")
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: |")
    for name in args.models:
        row = compare(name, python)
        same = row["same_names"] and row["same_count"]
        broken |= not same or max(float(str(row["eval"])), float(str(row["train"]))) > BOUND
        equal = "equal" if same else "DIFFERENT"
        numbers = f"{row['eval']:.1e} | {row['train']:.1e} | {row['scale']:.2f}"
        print(f"| {name} | {row['trainable']:,} | {row['keys']} | {equal} | {numbers} |", flush=True)
        options = guest.REFERENCE[name]["model"][1]
        stored[name] = {
            "classes": options["num_classes"],
            "keys": row["keys"],
            "trainable": row["trainable"],
            "sha256": row["sha256"],
        }
    if args.write:
        args.write.write_text(json.dumps(stored, indent=1) + "\n")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
