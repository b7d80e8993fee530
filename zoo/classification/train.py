"""Train an image classifier, or evaluate one with --test-only.

python train.py --device=cpu --epochs=2 --data-path=./lite_data --lr=0.001
python train.py --epochs=2 --data-path=./lite_data --amp_level=O2
python train.py --epochs=2 --data-path=./lite_data --pact_quant --pretrained=./output/best.pdparams
python -m paddle.distributed.launch --gpus=0,1 train.py --epochs=2    (on a CPU: --nproc_per_node=2)
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import paddle

from paddlezoo import amp, arguments, batchnorm, checkpoint, device, distributed, resume, seeding
from paddlezoo.cls import data, evaluation, metrics, network
from paddlezoo.cls.recipe import Recipe, read_recipe
from paddlezoo.cls.transforms import Transform
from paddlezoo.errors import ZooError, run
from paddlezoo.quant import pact
from paddlezoo.scalars import Scalars, open_scalars
from paddlezoo.trainlog import Interval, Log


def main() -> None:
    args = parse_args()
    if args.test_only:
        evaluation.run(args)
        return
    if args.pact_quant and args.amp_level not in (None, "O0"):
        raise ZooError("--pact_quant and --amp_level exclude each other: give one of them")
    recipe = read_recipe(args.opts)

    chosen = device.choose(args.device, args.use_gpu)
    precision = amp.choose(args.amp_level, args.amp_dtype, chosen, args.amp_emulate)
    log = Log(args.output_dir / "train.log", enabled=distributed.is_main())
    scalars = open_scalars(args.use_vdl, args.output_dir / "vdl", enabled=distributed.is_main())
    train_loader, val_loader = load_data(args)
    train_images: data.Images = train_loader.dataset
    classes = train_images.split.classes

    seeding.seed_at(args.seed)
    model = create_model(args, recipe, classes, train_loader)
    say_what_runs(args, log, precision, model, chosen, train_images, val_loader.dataset)

    schedule = paddle.optimizer.lr.CosineAnnealingDecay(args.lr, T_max=args.epochs * len(train_loader))
    optimizer = paddle.optimizer.Adam(
        schedule, parameters=model.parameters(), weight_decay=recipe.weight_decay
    )
    model, optimizer = precision.prepare(model, optimizer)
    first_epoch, best = 0, -1.0
    if args.resume:
        first_epoch, best = resume_from(args, model, optimizer, precision, len(train_loader))
        log(f"resume: {resume.find(args.resume)}, epoch {first_epoch} is done")
    parallel = distributed.wrap(model)

    interval = Interval(world_size=distributed.world_size())
    kept = checkpoint.Kept(args.keep_checkpoint_max)
    for epoch in range(first_epoch, args.epochs):
        seeding.seed_at(args.seed, epoch + 1, distributed.rank())
        train_images.epoch = epoch
        train_one_epoch(
            parallel,
            optimizer,
            schedule,
            precision,
            train_loader,
            interval,
            epoch,
            args,
            recipe,
            log,
            scalars,
        )
        result = evaluate(model, precision, train_loader, val_loader, recipe)
        log(f"eval epoch: [{epoch + 1}/{args.epochs}], {result}")
        scalars.add("Evaluate", {"loss": result.loss, "top1": result.top1, "top5": result.top5}, epoch + 1)

        is_best = result.top1 > best
        best = max(best, result.top1)
        if distributed.is_main():
            card = network.Card(
                args.model, classes, train_images.transform, kind_of(args), epoch + 1, result.top1
            )
            save_weights(args, model, card, is_best, kept)
            progress = {
                "epoch": epoch + 1, "best": best, "epochs": args.epochs, "steps": len(train_loader)
            }  # fmt: skip
            states = args.output_dir / f"latest{resume.SUFFIX}"
            resume.save(states, model, optimizer, precision.state(), progress)
        distributed.wait_for_all()

    scalars.close()
    if args.pact_quant:
        moved, clips = pact.clips_moved(checkpoint.weights_of(model))
        log(f"PACT: {moved} of {clips} clips moved from where they started")
    log(f"best top1: {best:.5f}, checkpoint: {args.output_dir / 'latest.pdparams'}")
    log(precision.last_line())


def train_one_epoch(
    model: Any,
    optimizer: Any,
    schedule: Any,
    precision: amp.FullPrecision,
    loader: Any,
    interval: Interval,
    epoch: int,
    args: argparse.Namespace,
    recipe: Recipe,
    log: Log,
    scalars: Scalars,
) -> None:
    """Every batch of the loader once, a line in the log every ``--print_freq`` iterations."""
    steps = len(loader)
    model.train()
    interval.restart_clock()
    for step, (images, labels) in enumerate(loader, start=1):
        interval.data_ready()
        with precision.autocast():
            logits = model(images)
            loss = paddle.nn.functional.cross_entropy(
                logits.astype("float32"), labels, label_smoothing=recipe.label_smoothing
            )
        precision.backward_and_step(loss, optimizer)
        optimizer.clear_grad()
        rate = optimizer.get_lr()
        schedule.step()

        top1, top5 = metrics.hits(logits.astype("float32").numpy(), labels.numpy())
        count = len(labels)
        interval.step_done(count, {"loss": float(loss.item()), "top1": top1 / count, "top5": top5 / count})
        if step % args.print_freq == 0 or step == steps:
            averages = interval.finish()
            place = f"epoch: [{epoch + 1}/{args.epochs}], iter: [{step}/{steps}]"
            log(averages.line(place, rate, (args.epochs - epoch) * steps - step))
            curves = {**averages.values, "lr": rate, "ips": averages.ips}
            scalars.add("Train", curves, epoch * steps + step)


def evaluate(
    model: Any, precision: amp.FullPrecision, train_loader: Any, val_loader: Any, recipe: Recipe
) -> metrics.Result:
    """Scores on the val split, with batch-norm statistics taken anew from training images."""
    with precision.evaluating():
        batchnorm.recompute(model, first_images(train_loader, recipe.statistics_batches))
        return metrics.evaluate(model, val_loader)


def load_data(args: argparse.Namespace) -> tuple[Any, Any]:
    """The loaders of the two splits, which must have the same classes."""
    folder = data.find(args.data_path)
    train_split, val_split = data.read_split(folder, "train"), data.read_split(folder, "val")
    if train_split.classes != val_split.classes:
        raise ZooError(f"{folder}: the classes of train and val differ")
    transform = Transform.for_size(args.image_size)
    train_images = data.Images(train_split, transform, training=True, seed=args.seed)
    val_images = data.Images(val_split, transform)
    return (
        data.loader(train_images, args.batch_size, args.num_workers),
        data.loader(val_images, args.batch_size, args.num_workers),
    )


def create_model(
    args: argparse.Namespace, recipe: Recipe, classes: tuple[str, ...], train_loader: Any
) -> Any:
    """The network. PACT starts from fp32 weights where they are given, and goes on from its own."""
    model = network.build(args.model, len(classes))
    weights, path = {}, None
    if args.pretrained:
        path = network.weights_path(args.pretrained)
        weights = network.read_weights(path, args.model, len(classes))
    if weights and not checkpoint.is_quantised(weights):
        checkpoint.load_weights(model, weights, path)
    if args.pact_quant:
        model = pact.quantise(model, recipe.clip_learning_rate, recipe.clip_l2)
        pact.calibrate(model, first_images(train_loader, recipe.calibration_batches))
    if weights and checkpoint.is_quantised(weights):
        checkpoint.load_weights(model, weights, path)
    return model


def first_images(loader: Any, batches: int) -> Iterator[Any]:
    """The images of the first batches, without their labels."""
    for images, _ in islice(loader, batches):
        yield images


def say_what_runs(
    args: argparse.Namespace,
    log: Log,
    precision: amp.FullPrecision,
    model: Any,
    chosen: device.Device,
    train_images: data.Images,
    val_images: data.Images,
) -> None:
    """The head of the log: precision, device, data, and every option."""
    line = precision.first_line(model)
    if args.pact_quant:
        line += f"; PACT: int8, {len(pact.quantised_layers(model))} layers"
    log(line)
    log.warn(chosen.note)
    options = ", ".join(f"{name}: {value}" for name, value in vars(args).items())
    log(
        f"classes: {len(train_images.split.classes)}, runs on: {chosen.name}, "
        f"processes: {distributed.world_size()}, train: {len(train_images)} images, "
        f"val: {len(val_images)} images, {options}"
    )


def resume_from(
    args: argparse.Namespace, model: Any, optimizer: Any, precision: amp.FullPrecision, steps: int
) -> tuple[int, float]:
    """Continue where an interrupted run stopped: how many epochs are done, and the best top-1 so far."""
    scaler, progress = resume.load(args.resume, model, optimizer)
    precision.restore(scaler)
    if (progress["epochs"], progress["steps"]) != (args.epochs, steps):
        raise ZooError(
            f"{args.resume}: was made with --epochs={progress['epochs']} of {progress['steps']} steps, "
            f"not {args.epochs} of {steps}: the learning rate would not fit"
        )
    return progress["epoch"], progress["best"]


def kind_of(args: argparse.Namespace) -> str:
    """How the weights were trained, for their card."""
    if args.pact_quant:
        return "pact"
    return f"amp {args.amp_level}" if args.amp_level else "fp32"


def save_weights(
    args: argparse.Namespace, model: Any, card: network.Card, is_best: bool, kept: checkpoint.Kept
) -> None:
    """``latest``, ``best`` where it is, and ``epoch_n`` every ``--save_freq`` epochs."""
    names = ["latest"]
    if is_best:
        names.append("best")
    numbered = args.save_freq > 0 and card.epoch % args.save_freq == 0
    if numbered:
        names.append(f"epoch_{card.epoch}")
    weights = checkpoint.weights_of(model)
    for name in names:
        path = args.output_dir / f"{name}.pdparams"
        card.write(path)
        checkpoint.write(path, weights)
    if numbered:
        kept.add(path, path.with_suffix(network.CARD))


def parse_args() -> argparse.Namespace:
    parser = arguments.Parser("Train an image classifier, or evaluate one with --test-only.")
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
    arguments.add_training(parser, "label_smoothing=0 weight_decay=0.0001")
    parser.add_switch("--test-only", False, "evaluate --pretrained and stop")
    parser.add_argument("--amp_level", choices=("O0", *amp.LEVELS), default=None, help="mixed precision")
    parser.add_argument("--amp_dtype", choices=amp.DTYPES, default="float16")
    parser.add_argument(
        "--amp_emulate", choices=("auto", "never"), default="auto", help="never: refuse on a CPU"
    )
    parser.add_switch("--pact_quant", False, "train for int8 with learnt clips (PACT)")
    arguments.add_device(parser)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(run(main))
