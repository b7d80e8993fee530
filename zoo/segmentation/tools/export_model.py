"""Export trained weights for Paddle Inference: model.pdmodel, model.pdiparams and deploy.yaml.

    python tools/export_model.py --config configs/pphumanseg_lite.yml \
        --model_path output/best_model/model.pdparams --save_dir output/inference_model

Weights that were trained with PACT are exported with int8 weights.
"""

from __future__ import annotations

from argparse import Namespace

from paddlezoo.arguments import Parser, add_format
from paddlezoo.errors import ZooError, run
from paddlezoo.export import STRUCTURES
from paddlezoo.seg import config, deploy, network
from paddlezoo.trainlog import Log


def main() -> None:
    args = parse_args()
    shape = args.input_shape or [-1, 3, -1, -1]
    if len(shape) != 4 or shape[1] != 3 or 0 in shape:
        raise ZooError(f"--input_shape is batch, 3, height, width (-1: any), not {' '.join(map(str, shape))}")
    settings = config.read(args.config)
    model = network.load(settings.model, args.model_path)
    entries = settings.val_dataset.transforms
    prefix = deploy.save(model, entries, args.save_dir, args.output_op, shape, args.format)
    structure = f"{prefix}{STRUCTURES[args.format]}"
    Log()(f"exported {settings.model.type} to {structure}, {prefix}.pdiparams and {deploy.FILE}")


def parse_args() -> Namespace:
    parser = Parser("Export trained weights for Paddle Inference.")
    parser.add_argument("--config", required=True, help="a YAML file of configs/")
    parser.add_argument("--model_path", "--pretrained", required=True, help="weights that train.py wrote")
    parser.add_argument("--save_dir", default="output/inference_model", help="where the files go")
    parser.add_argument(
        "--output_op", choices=("argmax", "softmax", "none"), default="argmax", help="appended"
    )
    parser.add_argument(
        "--input_shape", type=int, nargs="+", help="a fixed shape, e.g. 1 3 512 1024; -1: any"
    )
    add_format(parser)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(run(main))
