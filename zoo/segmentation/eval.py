"""Score trained weights on the validation images of a config.

python eval.py --config configs/pphumanseg_lite.yml --model_path output/best_model/model.pdparams
"""

from __future__ import annotations

import math

from paddlezoo import arguments, device
from paddlezoo.errors import run
from paddlezoo.seg import config, data, network, transforms
from paddlezoo.seg.evaluate import evaluate
from paddlezoo.trainlog import Log


def main() -> None:
    parser = arguments.Parser("Score trained weights.")
    parser.add_argument("--config", required=True, help="a YAML file of configs/")
    parser.add_argument("--model_path", "--pretrained", required=True, help="weights that train.py wrote")
    arguments.add_device(parser)
    args = parser.parse_args()

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
        if not math.isnan(iou):  # a class that no label has
            log(f"[EVAL] class {number:3d}   IoU {iou:.4f}   Dice {dice:.4f}")


if __name__ == "__main__":
    raise SystemExit(run(main))
