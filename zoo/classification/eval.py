"""Evaluate a trained classifier on the val split.

python eval.py --data-path=./lite_data --pretrained=./output/latest.pdparams
"""

from __future__ import annotations

import argparse

from paddlezoo import arguments, device, distributed, errors
from paddlezoo.cls import data, metrics, network
from paddlezoo.errors import ZooError
from paddlezoo.trainlog import Log


def parse() -> argparse.Namespace:
    parser = arguments.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=sorted(network.MODELS), default="mobilenet_v3_small")
    parser.add_argument(
        "--data-path", default="./lite_data", help="a folder with val_list.txt, or val/<class>/"
    )
    parser.add_argument("--pretrained", required=True, help="the weights")
    parser.add_argument("--batch-size", type=arguments.positive_int, default=4)
    parser.add_argument("--num_workers", type=int, default=0, help="processes that read images")
    arguments.add_device(parser)
    return parser.parse_args()


def evaluate(args: argparse.Namespace) -> None:
    """What ``train.py --test-only`` does too."""
    if not args.pretrained:
        raise ZooError("--test-only needs --pretrained: the weights to evaluate")
    log = Log(enabled=distributed.is_main())
    log.warn(device.choose(args.device, args.use_gpu).note)
    split = data.read_split(data.find(args.data_path), "val")
    model, card = network.restore(args.pretrained, args.model, split.classes)
    loader = data.loader(data.Images(split, card.transform), args.batch_size, args.num_workers)
    log(f"eval {network.weights_path(args.pretrained)} ({card.precision}): {metrics.evaluate(model, loader)}")


def main() -> None:
    evaluate(parse())


if __name__ == "__main__":
    raise SystemExit(errors.run(main))
