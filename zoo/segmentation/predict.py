"""Segment images with trained weights: a mask and an overlay picture for each.

    python predict.py --config configs/pphumanseg_lite.yml --model_path output/best_model/model.pdparams \
        --image_path lite_data/people/images --save_dir output/result
"""

from __future__ import annotations

import paddle

from paddlezoo import arguments, device
from paddlezoo.errors import run
from paddlezoo.seg import config, data, deploy, network, pictures, transforms
from paddlezoo.trainlog import Log


def main() -> None:
    parser = arguments.Parser("Segment images with trained weights.")
    parser.add_argument("--config", required=True, help="a YAML file of configs/")
    parser.add_argument("--model_path", "--pretrained", required=True, help="weights that train.py wrote")
    parser.add_argument("--image_path", required=True, help="an image, a folder, or a list of images")
    parser.add_argument("--save_dir", default="output/result", help="where the pictures go")
    arguments.add_device(parser)
    args = parser.parse_args()

    log = Log()
    settings = config.read(args.config)
    log.warn(device.choose(args.device, args.use_gpu).note)
    model = network.load(settings.model, args.model_path)
    steps = transforms.build(settings.val_dataset.transforms)
    for path in data.find_images(args.image_path):
        image = data.read_image(path)
        batch = transforms.apply(steps, transforms.Sample(image), None).image[None]
        with paddle.no_grad():
            logits = model(paddle.to_tensor(batch))[0].numpy()
        shares = pictures.write_result(image, deploy.classes_of(logits)[0], path, args.save_dir)
        log(f"{path}: {shares}")


if __name__ == "__main__":
    raise SystemExit(run(main))
