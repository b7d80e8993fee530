"""Train an image classifier, or evaluate one with --test-only.

python train.py --device=cpu --epochs=2 --data-path=./lite_data --lr=0.001
python train.py --epochs=2 --data-path=./lite_data --amp_level=O2
python train.py --epochs=2 --data-path=./lite_data --pact_quant --pretrained=./output/best.pdparams
python -m paddle.distributed.launch --gpus=0,1 train.py --epochs=2    (on a CPU: --nproc_per_node=2)
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

import paddle

from paddlezoo import amp, arguments, batchnorm, checkpoint, device, distributed, errors, resume, seeding
from paddlezoo.cls import data, evaluation, metrics, network
from paddlezoo.cls.transforms import Transform
from paddlezoo.errors import ZooError
from paddlezoo.quant import pact
from paddlezoo.trainlog import Interval, Log

CALIBRATION_BATCHES = 4  # for the first clips of PACT
STATISTICS_BATCHES = 100  # for batch norm, before each evaluation
CLIP_LEARNING_RATE = 2.0  # times --lr
CLIP_L2 = 1e-4
WEIGHT_DECAY = 4e-5
LABEL_SMOOTHING = 0.1


def parse() -> argparse.Namespace:
    parser = arguments.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=sorted(network.MODELS), default="mobilenet_v3_small")
    parser.add_argument(
        "--data-path", default="./lite_data", help="a folder with train_list.txt, or train/<class>/"
    )
    parser.add_argument("--output-dir", type=Path, default=Path("./output"), help="checkpoints and train.log")
    parser.add_argument("--epochs", type=arguments.positive_int, default=5)
    parser.add_argument("--batch-size", type=arguments.positive_int, default=4, help="of each process")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate of Adam; falls along a cosine")
    parser.add_argument("--image-size", type=arguments.positive_int, default=224)
    parser.add_argument("--pretrained", default=None, help="weights to start from, or to evaluate")
    parser.add_argument("--resume", default=None, help="a checkpoint or an output folder to continue from")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num_workers", type=int, default=0, help="threads that read images ahead")
    parser.add_argument("--print_freq", type=arguments.positive_int, default=1, help="iterations a log line")
    parser.add_argument(
        "--save_freq", type=int, default=0, help="also keep the checkpoint of every n-th epoch"
    )
    parser.add_switch("--test-only", False, "evaluate --pretrained and stop")
    parser.add_argument("--amp_level", choices=("O0", *amp.LEVELS), default=None, help="mixed precision")
    parser.add_argument("--amp_dtype", choices=amp.DTYPES, default="float16")
    parser.add_argument(
        "--amp_emulate", choices=("auto", "never"), default="auto", help="never: refuse on a CPU"
    )
    parser.add_switch("--pact_quant", False, "train for int8 with learnt clips (PACT)")
    arguments.add_device(parser)
    return parser.parse_args()


def main() -> None:
    args = parse()
    if args.test_only:
        evaluation.run(args)
        return
    if args.pact_quant and args.amp_level not in (None, "O0"):
        raise ZooError("--pact_quant and --amp_level exclude each other: give one of them")

    # Where it runs, and in which precision: the head of the log.
    chosen = device.choose(args.device, args.use_gpu)
    precision = amp.choose(args.amp_level, args.amp_dtype, chosen, args.amp_emulate)
    world = distributed.world_size()
    log = Log(args.output_dir / "train.log", enabled=distributed.is_main())

    # Data.
    folder = data.find(args.data_path)
    train_split, val_split = data.read_split(folder, "train"), data.read_split(folder, "val")
    if train_split.classes != val_split.classes:
        raise ZooError(f"{folder}: the classes of train and val differ")
    transform = Transform.for_size(args.image_size)
    train_images = data.Images(train_split, transform, training=True, seed=args.seed)
    train_loader = data.loader(train_images, args.batch_size, args.num_workers)
    val_loader = data.loader(data.Images(val_split, transform), args.batch_size, args.num_workers)

    # Network. PACT starts from fp32 weights where they are given, and goes on from its own.
    seeding.seed_at(args.seed)
    model = network.build(args.model, len(train_split.classes))
    weights, weights_path = {}, None
    if args.pretrained:
        weights_path = network.weights_path(args.pretrained)
        weights = network.read_weights(weights_path, args.model, len(train_split.classes))
    if weights and not checkpoint.is_quantised(weights):
        checkpoint.load_weights(model, weights, weights_path)
    if args.pact_quant:
        model = pact.quantise(model, CLIP_LEARNING_RATE, CLIP_L2)
        pact.calibrate(model, (images for images, _ in islice(train_loader, CALIBRATION_BATCHES)))
    if weights and checkpoint.is_quantised(weights):
        checkpoint.load_weights(model, weights, weights_path)
    first_line = precision.first_line(model)
    log(
        f"{first_line}; PACT: int8, {len(pact.quantised_layers(model))} layers"
        if args.pact_quant
        else first_line
    )
    log.warn(chosen.note)
    log(
        f"classes: {len(train_split.classes)}, runs on: {chosen.name}, processes: {world}, "
        f"train: {len(train_images)} images, val: {len(val_split.paths)} images, "
        + ", ".join(f"{name}: {value}" for name, value in vars(args).items())
    )

    # Optimizer.
    steps = len(train_loader)
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(args.lr, T_max=args.epochs * steps)
    optimizer = paddle.optimizer.Adam(schedule, parameters=model.parameters(), weight_decay=WEIGHT_DECAY)
    model, optimizer = precision.prepare(model, optimizer)

    # Continue where an interrupted run stopped.
    first_epoch, best = 0, -1.0
    if args.resume:
        scaler, progress = resume.load(args.resume, model, optimizer)
        precision.restore(scaler)
        first_epoch, best = progress["epoch"], progress["best"]
        if (progress["epochs"], progress["steps"]) != (args.epochs, steps):
            raise ZooError(
                f"{args.resume}: was made with --epochs={progress['epochs']} of {progress['steps']} steps, "
                f"not {args.epochs} of {steps}: the learning rate would not fit"
            )
        log(f"resume: {resume.find(args.resume)}, epoch {first_epoch} is done")
    parallel = distributed.wrap(model)

    interval = Interval(world_size=world)
    for epoch in range(first_epoch, args.epochs):
        seeding.seed_at(args.seed, epoch + 1, distributed.rank())
        train_images.epoch = epoch
        parallel.train()
        interval.restart_clock()
        for step, (images, labels) in enumerate(train_loader):
            interval.data_ready()
            with precision.autocast():
                logits = parallel(images)
                loss = paddle.nn.functional.cross_entropy(
                    logits.astype("float32"), labels, label_smoothing=LABEL_SMOOTHING
                )
            precision.backward_and_step(loss, optimizer)
            optimizer.clear_grad()
            rate = optimizer.get_lr()
            schedule.step()
            top1, top5 = metrics.hits(logits.astype("float32").numpy(), labels.numpy())
            count = len(labels)
            interval.step_done(
                count, {"loss": float(loss.item()), "top1": top1 / count, "top5": top5 / count}
            )
            if (step + 1) % args.print_freq == 0 or step + 1 == steps:
                place = f"epoch: [{epoch + 1}/{args.epochs}], iter: [{step + 1}/{steps}]"
                log(interval.line(place, rate, (args.epochs - epoch) * steps - step - 1))

        with precision.evaluating():
            batchnorm.recompute(model, (images for images, _ in islice(train_loader, STATISTICS_BATCHES)))
            result = metrics.evaluate(model, val_loader)
        log(f"eval epoch: [{epoch + 1}/{args.epochs}], {result}")

        if distributed.is_main():
            names = ["latest"] + (["best"] if result.top1 > best else [])
            names += [f"epoch_{epoch + 1}"] if args.save_freq and (epoch + 1) % args.save_freq == 0 else []
            best = max(best, result.top1)
            kind = "pact" if args.pact_quant else f"amp {args.amp_level}" if args.amp_level else "fp32"
            card = network.Card(args.model, train_split.classes, transform, kind, epoch + 1, result.top1)
            for name in names:
                path = args.output_dir / f"{name}.pdparams"
                card.write(path)
                checkpoint.write(path, checkpoint.weights_of(model))
            progress = {"epoch": epoch + 1, "best": best, "epochs": args.epochs, "steps": steps}
            resume.save(
                args.output_dir / f"latest{resume.SUFFIX}", model, optimizer, precision.state(), progress
            )
        distributed.wait_for_all()

    if args.pact_quant:
        moved, clips = pact.clips_moved(checkpoint.weights_of(model))
        log(f"PACT: {moved} of {clips} clips moved from where they started")
    log(f"best top1: {best:.5f}, checkpoint: {args.output_dir / 'latest.pdparams'}")
    log(precision.last_line())


if __name__ == "__main__":
    raise SystemExit(errors.run(main))
