"""Classify images with the training engine, and draw the answers into them.

python predict.py --pretrained=./output/latest.pdparams --img-path=./images/demo.jpg
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import paddle

from paddlezoo import arguments, device, errors, pictures
from paddlezoo.cls import network
from paddlezoo.cls.answers import answers


def main() -> None:
    parser = arguments.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=sorted(network.MODELS), default="mobilenet_v3_small")
    parser.add_argument("--pretrained", required=True, help="the weights")
    parser.add_argument("--img-path", default="./images/demo.jpg", help="an image or a folder")
    parser.add_argument(
        "--save-dir", type=Path, default=Path("./output/predict"), help="where the pictures go"
    )
    parser.add_switch("--json", False, "print JSON lines")
    arguments.add_device(parser)
    args = parser.parse_args()

    note = device.choose(args.device, args.use_gpu).note
    if note:
        print(note)
    model, card = network.restore(args.pretrained, args.model)
    for path in pictures.find(args.img_path):
        array = card.transform.evaluation(pictures.read(path))
        with paddle.no_grad():
            logits = model(paddle.to_tensor(array[np.newaxis])).numpy()
        answer = answers([path], logits, card.classes)[0]
        picture = answer.draw(args.save_dir)
        print(answer.json() if args.json else f"{answer.line()}, picture: {picture}")


if __name__ == "__main__":
    raise SystemExit(errors.run(main))
