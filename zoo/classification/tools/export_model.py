"""Export a trained classifier for Paddle Inference; int8 if it was trained with PACT.

python tools/export_model.py --model=mobilenet_v3_small --pretrained=./output/latest.pdparams \
    --save-inference-dir=./mobilenet_v3_small_infer
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import paddle

from paddlezoo import arguments, errors, export, seeding
from paddlezoo.cls import deploy, network
from paddlezoo.errors import ZooError

LARGEST_DIFFERENCE = 1e-4  # between the training engine and the exported model, on logits


def main() -> None:
    parser = arguments.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=sorted(network.MODELS), default="mobilenet_v3_small")
    parser.add_argument("--pretrained", required=True, help="the weights")
    parser.add_argument("--save-inference-dir", type=Path, default=Path("./mobilenet_v3_small_infer"))
    arguments.add_format(parser)
    args = parser.parse_args()

    paddle.set_device("cpu")
    model, card = network.restore(args.pretrained, args.model)
    size = card.transform.crop
    if args.format == export.PIR:
        export.refuse_pir(model)
    deploy.prepare(model)
    prefix = export.save(model, [None, 3, size, size], args.save_inference_dir, format=args.format)
    deploy.describe(card, args.save_inference_dir)

    batch = seeding.generator(0).normal(size=(2, 3, size, size)).astype("float32")
    difference = export.largest_difference(model, prefix, batch)
    if not np.isfinite(difference) or difference > LARGEST_DIFFERENCE:
        raise ZooError(
            f"{prefix}: the exported model differs from the trained one by {difference:.2e} on logits"
        )
    structure = f"{prefix}{export.STRUCTURES[args.format]}"
    print(f"exported {card.model} ({card.precision}) to {structure}, largest difference {difference:.1e}")


if __name__ == "__main__":
    raise SystemExit(errors.run(main))
