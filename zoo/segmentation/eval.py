"""Score trained weights on the validation images of a config.

python eval.py --config configs/pphumanseg_lite.yml --model_path output/best_model/model.pdparams
"""

from __future__ import annotations

import sys
from argparse import Namespace

from paddlezoo.arguments import Parser, add_device
from paddlezoo.errors import run


def main() -> None:
    args = parse_args()

    from paddlezoo import device
    from paddlezoo.seg import config, data, network, transforms
    from paddlezoo.seg.evaluate import evaluate
    from paddlezoo.trainlog import Log

    log = Log()
    settings = config.read(args.config)
    log.warn(device.choose(args.device, args.use_gpu).note)
    part = settings.val_dataset
    dataset = data.Pairs(
        data.read_list(part.list_path, part.dataset_root),
        transforms.build(part.transforms),
        settings.model.num_classes,
    )
    scores = evaluate(network.load(settings.model, args.model_path), dataset)
    log(f"[EVAL] images: {len(dataset)}, {scores.line()}")
    for number, (iou, dice) in enumerate(zip(scores.class_iou, scores.class_dice, strict=True)):
        if iou == iou:  # a class that no label has is nan
            log(f"[EVAL] class {number:3d}   IoU {iou:.4f}   Dice {dice:.4f}")


def parse_args() -> Namespace:
    parser = Parser("Score trained weights.")
    parser.add_argument("--config", required=True, help="a YAML file of configs/")
    parser.add_argument("--model_path", "--pretrained", required=True, help="weights that train.py wrote")
    add_device(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(run(main))
