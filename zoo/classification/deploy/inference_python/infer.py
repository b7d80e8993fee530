"""Classify images with Paddle Inference, and draw the answers into them.

python deploy/inference_python/infer.py --model-dir=./mobilenet_v3_small_infer/ --img-path=./images/demo.jpg
python deploy/inference_python/infer.py --model-dir=./mobilenet_v3_small_infer/ --engine=native,onednn
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path

import numpy as np

import auto_log
from paddlezoo import arguments, errors, pictures
from paddlezoo.cls import deploy
from paddlezoo.cls.answers import Answer, answers
from paddlezoo.errors import ZooError
from paddlezoo.predictor import ENGINES, PRECISIONS, Predictor

CPU_ENGINES, GPU_ENGINES = ("onednn", "openvino"), ("tensorrt",)
AGREEMENT = (
    1e-3  # of the probabilities of two engines in fp32; a quantised model is rounded differently by each
)


def parse() -> argparse.Namespace:
    parser = arguments.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--model-dir", type=Path, default=Path("./mobilenet_v3_small_infer"))
    parser.add_argument("--img-path", default="./images/demo.jpg", help="an image or a folder")
    parser.add_argument("--batch-size", type=arguments.positive_int, default=1)
    parser.add_argument("--use-gpu", type=arguments.str2bool, default=False)
    parser.add_argument(
        "--engine", default=None, help=f"one of {', '.join(ENGINES)}, or several: native,onednn"
    )
    parser.add_argument(
        "--enable_mkldnn", type=arguments.str2bool, default=True, help="False: --engine=native"
    )
    parser.add_argument(
        "--precision", choices=PRECISIONS, default=None, help="int8 for a quantised model, else fp32"
    )
    parser.add_argument("--cpu_threads", type=arguments.positive_int, default=1)
    parser.add_argument("--save-dir", type=Path, default=Path("./output/infer"), help="where the pictures go")
    parser.add_argument(
        "--benchmark", type=arguments.str2bool, default=False, help="measure and print the benchmark log"
    )
    parser.add_argument("--warmup", type=int, default=5, help="runs before measuring")
    parser.add_argument(
        "--repeats", type=arguments.positive_int, default=20, help="measured runs of each batch"
    )
    parser.add_switch("--json", False, "print JSON lines")
    return parser.parse_args()


def engines_of(args: argparse.Namespace, model: deploy.Deployed) -> list[str]:
    """The engines to run. Of several, those for the other device are left out, visibly."""
    if args.engine is None:
        return ["native" if args.use_gpu or not args.enable_mkldnn else model.default_engine]
    names = args.engine.split(",")
    for name in names:
        if name not in ENGINES:
            raise ZooError(f"--engine={name}: expected {', '.join(ENGINES)}")
    fitting = [name for name in names if name not in (CPU_ENGINES if args.use_gpu else GPU_ENGINES)]
    for name in names:
        if len(names) > 1 and name not in fitting:
            print(f"engine: {name} is left out: not for a {'GPU' if args.use_gpu else 'CPU'}")
    return fitting or names


def logger_of(args: argparse.Namespace, model: deploy.Deployed, predictor: Predictor) -> auto_log.AutoLogger:
    logger = logging.getLogger(f"benchmark.{predictor.engine}")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.handlers = [logging.StreamHandler(sys.stdout)]
    logger.handlers[0].setFormatter(logging.Formatter("%(asctime)s [%(levelname)s] %(message)s"))
    return auto_log.AutoLogger(
        model_name=model.model,
        model_precision=predictor.precision,
        batch_size=args.batch_size,
        data_shape=[3, model.transform.crop, model.transform.crop],
        save_path=None,
        inference_config=predictor.config,
        pids=os.getpid(),
        process_name=None,
        gpu_ids=0 if args.use_gpu else None,
        time_keys=["preprocess_time", "inference_time", "postprocess_time"],
        warmup=args.warmup,
        logger=logger,
    )


def run(
    args: argparse.Namespace, model: deploy.Deployed, engine: str, precision: str, paths: list[Path]
) -> list[Answer]:
    """All images through one engine; with --benchmark the same batches again and again, measured."""
    target = "gpu" if args.use_gpu else "cpu"
    predictor = Predictor(model.prefix, engine, precision, args.cpu_threads, target, args.batch_size)
    timer = logger_of(args, model, predictor) if args.benchmark else None
    found: list[Answer] = []
    for start in range(0, len(paths), args.batch_size):
        some = paths[start : start + args.batch_size]
        for _ in range(args.warmup + args.repeats if timer else 1):
            if timer:
                timer.times.start()
            batch = np.stack([model.transform.evaluation(pictures.read(path)) for path in some])
            if timer:
                timer.times.stamp()
            logits = predictor(batch)[0]
            if timer:
                timer.times.stamp()
            result = answers(some, logits, model.classes)
            if timer:
                timer.times.end(stamp=True)
        found += result
    if timer:
        timer.report()
    print(f"engine: {engine}, precision: {precision}, threads: {args.cpu_threads}, images: {len(paths)}")
    return found


def main() -> None:
    args = parse()
    model = deploy.Deployed.read(args.model_dir)
    paths = pictures.find(args.img_path)
    first: list[Answer] = []
    for engine in engines_of(args, model):
        precision = args.precision or model.default_precision(engine)
        found = run(args, model, engine, precision, paths)
        for answer in found:
            picture = answer.draw(args.save_dir)
            print(answer.json() if args.json else f"{answer.line()}, picture: {picture}")
        first = first or found
        for one, other in (
            zip(first, found, strict=True) if precision == "fp32" and not model.quantised else ()
        ):
            if abs(one.classes[0][2] - other.probability_of(one.classes[0][0])) > AGREEMENT:
                raise ZooError(f"the engines disagree: {one.line()} against {other.line()} ({engine})")


if __name__ == "__main__":
    raise SystemExit(errors.run(main))
