"""Segment images with an exported model in Paddle Inference: a mask and an overlay picture for each.

    python deploy/python/infer.py --config output/inference_model/deploy.yaml --image_path
    lite_data/people/images \
        --device=cpu --enable_mkldnn=True --cpu_threads=1 --batch_size=1 --benchmark=True
"""

from __future__ import annotations

import os
from argparse import Namespace

import auto_log
from paddlezoo.arguments import Parser, positive_int, str2bool
from paddlezoo.errors import ZooError, run
from paddlezoo.predictor import Predictor
from paddlezoo.seg import data, deploy, pictures
from paddlezoo.trainlog import Log

WARMUP = 3


def main() -> None:
    args = parse_args()
    log = Log()
    deployment = deploy.read(args.config)
    images = data.find_images(args.image_path)
    skipped = [deploy.SLOW_PASS] if args.fast_start else []
    predictor = Predictor(
        deployment.prefix,
        engine_of(args),
        args.precision,
        args.cpu_threads,
        args.device,
        args.batch_size,
        skipped,
    )
    batches = [images[start : start + args.batch_size] for start in range(0, len(images), args.batch_size)]
    if args.benchmark:
        timer = auto_log.AutoLogger(
            model_name=args.model_name or deployment.prefix.parent.name,
            model_precision=args.precision,
            batch_size=args.batch_size,
            data_shape="dynamic",
            save_path=None,
            inference_config=predictor.config,
            pids=os.getpid(),
            process_name=None,
            gpu_ids=0 if args.device == "gpu" else None,
            time_keys=["preprocess_time", "inference_time", "postprocess_time"],
            warmup=0,
            logger=None,
        )
        for _ in range(WARMUP):
            predictor(deployment.preprocess(batches[0]))
    for paths in batches:
        if args.benchmark:
            timer.times.start()
        batch = deployment.preprocess(paths)
        if args.benchmark:
            timer.times.stamp()
        (outputs,) = predictor(batch)
        if args.benchmark:
            timer.times.stamp()
        masks = deploy.classes_of(outputs)
        if args.benchmark:
            timer.times.end(stamp=True)
        for path, mask in zip(paths, masks, strict=True):
            shares = pictures.write_result(data.read_image(path), mask, path, args.save_dir)
            log(f"{path}: {shares}")
    if args.benchmark:
        timer.report()


def engine_of(args: Namespace) -> str:
    """What --device, --use_trt and --enable_mkldnn choose; --engine overrules them."""
    if args.use_trt and args.device != "gpu":
        raise ZooError("--use_trt=True needs --device=gpu: TensorRT is an engine for GPUs")
    if args.engine:
        return args.engine
    if args.device == "gpu":
        return "tensorrt" if args.use_trt else "native"
    return "onednn" if args.enable_mkldnn else "native"


def parse_args() -> Namespace:
    parser = Parser("Segment images with an exported model.")
    parser.add_argument("--config", required=True, help="the deploy.yaml of the exported model")
    parser.add_argument("--image_path", required=True, help="an image, a folder, or a list of images")
    parser.add_argument("--save_dir", default="output/result", help="where the pictures go")
    parser.add_argument("--batch_size", type=positive_int, default=1, help="images at once")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="where to run")
    parser.add_argument(
        "--precision", choices=("fp32", "fp16", "int8"), default="fp32", help="int8: a PACT model"
    )
    parser.add_argument("--enable_mkldnn", type=str2bool, default=False, help="oneDNN, on a CPU")
    parser.add_argument("--cpu_threads", type=positive_int, default=1, help="threads on a CPU")
    parser.add_argument("--use_trt", type=str2bool, default=False, help="TensorRT, on a GPU")
    parser.add_argument(
        "--engine", choices=("native", "onednn", "openvino", "tensorrt"), help="overrules the above"
    )
    parser.add_argument(
        "--benchmark", type=str2bool, default=False, help="print AutoLog's report of times and memory"
    )
    parser.add_switch("--fast_start", False, "leave out the optimisation that takes long on HRNet")
    parser.add_argument("--model_name", default="", help="the name in that report")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(run(main))
