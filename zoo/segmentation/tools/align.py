"""Record what a network computes with seeded weights and images, for `tipc align`.

    python tools/align.py --model pp_liteseg_stdc1 --output output/ours.npz
    tipc align align/pp_liteseg_stdc1.npz output/ours.npz

align/ holds what paddleseg 2.8.0 computed with the same weights and images.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from paddlezoo.arguments import Parser
from paddlezoo.errors import run
from paddlezoo.seg.names import ALIASES, canonical

ALIGN = Path(__file__).resolve().parent.parent / "align"  # a recording of the reference for each model


def main() -> None:
    args = parse_args()
    from paddlezoo.models import MODELS
    from paddlezoo.seg.aligning import record
    from paddlezoo.trainlog import Log
    from tipc.align import Recorder

    with Recorder(args.output) as recorder:
        record(MODELS[canonical(args.model)](), recorder)
    Log()(f"recorded {args.model} in {args.output}")


def parse_args() -> Namespace:
    parser = Parser("Record what a network computes with seeded weights and images, for `tipc align`.")
    names = [*sorted(path.stem for path in ALIGN.glob("*.npz")), *ALIASES]
    parser.add_argument("--model", required=True, choices=names, help="its name")
    parser.add_argument("--output", default="output/ours.npz", help="the recording")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(run(main))
