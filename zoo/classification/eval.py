"""Evaluate a trained classifier on the val split.

python eval.py --data-path=./lite_data --pretrained=./output/latest.pdparams
"""

from __future__ import annotations

from paddlezoo import arguments, errors
from paddlezoo.cls import evaluation, network


def main() -> None:
    parser = arguments.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=sorted(network.MODELS), default="mobilenet_v3_small")
    parser.add_argument(
        "--data-path", default="./lite_data", help="a folder with val_list.txt, or val/<class>/"
    )
    parser.add_argument("--pretrained", required=True, help="the weights")
    parser.add_argument("--batch-size", type=arguments.positive_int, default=4)
    parser.add_argument("--num_workers", type=int, default=0, help="threads that read images ahead")
    arguments.add_device(parser)
    evaluation.run(parser.parse_args())


if __name__ == "__main__":
    raise SystemExit(errors.run(main))
