"""Train a segmentation model.

python train.py --config configs/pphumanseg_lite.yml --iters=200 --batch_size=4 --do_eval
python train.py --config configs/pp_liteseg_stdc1.yml --precision fp16 --amp_level O2 --do_eval
python train.py --config configs/fcn_hrnetw18.yml --pact_quant --model_path output/best_model/model.pdparams
python -m paddle.distributed.launch --gpus=0,1 train.py …          (on a CPU: --nproc_per_node=2)
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paddle

from paddlezoo import amp, arguments, batchnorm, checkpoint, device, distributed, resume, seeding
from paddlezoo.errors import ZooError, run
from paddlezoo.loading import Loader
from paddlezoo.quant import pact
from paddlezoo.scalars import Scalars, open_scalars
from paddlezoo.seg import config, data, losses, metrics, network, schedule, transforms
from paddlezoo.seg.evaluate import evaluate as scores_of
from paddlezoo.trainlog import Interval, Log

STATISTICS_BATCHES = 100  # for batch norm, before each evaluation; at most all images once
CALIBRATION_BATCHES = 4  # for the first clips of PACT


def main() -> None:
    args = parse_args()
    settings = read_settings(args)
    iters, rank, world = settings.iters, distributed.rank(), distributed.world_size()

    log = Log(args.save_dir / "train.log", enabled=distributed.is_main())
    scalars = open_scalars(args.use_vdl, args.save_dir / "vdl", enabled=distributed.is_main())
    chosen = device.choose(args.device, args.use_gpu)
    log.warn(chosen.note)
    seeding.seed_at(args.seed)
    train_set = load_data(settings.train_dataset, settings, args.seed)
    val_set = load_data(settings.val_dataset, settings, args.seed)

    model = create_model(args, settings, train_set, log)
    if world > 1 and chosen.is_gpu:
        model = paddle.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    rate = schedule.learning_rate(settings.lr_scheduler, iters)
    optimizer = schedule.optimizer(settings.optimizer, rate, model.parameters())
    precision = choose_precision(args, chosen)
    model, optimizer = precision.prepare(model, optimizer)
    heads = [
        (weight, losses.build(entry))
        for weight, entry in zip(settings.loss.coef, settings.loss.types, strict=True)
    ]
    done, best = 0, -1.0
    if args.resume_model:
        scaler, progress = resume.load(args.resume_model, model, optimizer)
        precision.restore(scaler)
        done, best = int(progress["iter"]), float(progress["best"])
        log(f"resumed from {args.resume_model} after iteration {done}, best mIoU {best:.4f}")
    log(precision.first_line(model))
    parallel = distributed.wrap(model, unused_parameters=True)

    interval = Interval(world)
    kept = checkpoint.Kept(args.keep_checkpoint_max)
    sampler = data.Iterations(
        len(train_set), settings.batch_size, done + 1, iters, args.seed, rank, world
    )  # fmt: skip
    batches = enumerate(Loader(train_set, sampler, args.num_workers), start=done + 1)
    while done < iters:
        done = train_to_checkpoint(
            parallel,
            optimizer,
            rate,
            precision,
            batches,
            heads,
            interval,
            len(train_set),
            settings,
            args,
            log,
            scalars,
        )
        renew_statistics(model, precision, train_set, settings.batch_size, args.seed)
        is_best = False
        if args.do_eval:
            scores = evaluate(model, precision, val_set)
            is_best = scores.miou > best
            best = max(best, scores.miou)
            log(f"[EVAL] iter: {done}/{iters}, {scores.line()}, best mIoU: {best:.4f}")
            scalars.add("Evaluate", {"mIoU": scores.miou, "Acc": scores.accuracy}, done)
        if distributed.is_main():
            save_weights(args.save_dir, model, done, is_best, kept)
            progress = {"iter": done, "best": best}
            resume.save(args.save_dir / "latest.pdstates", model, optimizer, precision.state(), progress)
        distributed.wait_for_all()

    scalars.close()
    if args.pact_quant:
        moved, count = pact.clips_moved(checkpoint.weights_of(model))
        log(f"PACT: {moved} of {count} clips were learnt away from where they started")
    log(precision.last_line())


def train_to_checkpoint(
    model: Any,
    optimizer: Any,
    rate: Any,
    precision: amp.FullPrecision,
    batches: Iterator[tuple[int, Any]],
    heads: list[tuple[float, losses.Loss]],
    interval: Interval,
    epoch_size: int,
    settings: config.Config,
    args: argparse.Namespace,
    log: Log,
    scalars: Scalars,
) -> int:
    """Iterations up to the next checkpoint (or the last one); the number of the last that was made.

    This is what ``train_one_epoch`` is where a training counts iterations.
    """
    iteration = 0
    model.train()
    interval.restart_clock()
    for iteration, (images, labels) in batches:
        interval.data_ready()
        seeding.seed_at(args.seed, iteration, distributed.rank())  # dropout
        with precision.autocast():
            loss = losses.total_loss(model(images), labels, heads)
        precision.backward_and_step(loss, optimizer)
        optimizer.clear_grad()
        lr = optimizer.get_lr()
        rate.step()

        value = loss.item()
        if not math.isfinite(value):
            raise ZooError(f"iteration {iteration}: the loss is {value}: lower the learning rate ({lr:g})")
        interval.step_done(len(images), {"loss": value})
        if iteration % args.log_iters == 0 or iteration == settings.iters:
            averages = interval.finish()
            epoch = (iteration * settings.batch_size * distributed.world_size() - 1) // epoch_size + 1
            place = f"epoch: {epoch}, iter: {iteration}/{settings.iters}"
            log(f"[TRAIN] {averages.line(place, lr, settings.iters - iteration)}")
            scalars.add("Train", {**averages.values, "lr": lr, "ips": averages.ips}, iteration)
        if iteration % args.save_interval == 0 or iteration == settings.iters:
            break
    return iteration


def evaluate(model: Any, precision: amp.FullPrecision, val_set: data.Pairs) -> metrics.Scores:
    """Scores on the validation images, shared among the processes."""
    with precision.evaluating():
        return scores_of(model, val_set)


def renew_statistics(
    model: Any, precision: amp.FullPrecision, train_set: data.Pairs, batch_size: int, seed: int
) -> None:
    """Batch-norm statistics taken anew from training images: a moving average lags behind."""
    rank, world = distributed.rank(), distributed.world_size()
    once = math.ceil(len(train_set) / (batch_size * world))
    last = min(STATISTICS_BATCHES, once)
    sampler = data.Iterations(len(train_set), batch_size, 1, last, seed, rank, world)
    with precision.evaluating():
        batchnorm.recompute(model, (images for images, _ in Loader(train_set, sampler)))
    distributed.average_buffers(model)


def read_settings(args: argparse.Namespace) -> config.Config:
    """The YAML file, changed by ``--opts`` and by the options that have a name of their own."""
    opts = list(args.opts)
    for key, value in (
        ("iters", args.iters),
        ("batch_size", args.batch_size),
        ("lr_scheduler.learning_rate", args.learning_rate),
    ):
        if value is not None:
            opts.append(f"{key}={value!r}")
    return config.read(args.config, opts)


def load_data(part: config.Dataset, settings: config.Config, seed: int) -> data.Pairs:
    """The images and masks of a list, with their transforms."""
    pairs = data.read_list(part.list_path, part.dataset_root)
    return data.Pairs(pairs, transforms.build(part.transforms), settings.model.num_classes, seed)


def create_model(args: argparse.Namespace, settings: config.Config, train_set: data.Pairs, log: Log) -> Any:
    """The network with the weights of ``--model_path``; with ``--pact_quant`` quantised, its clips set."""
    model = network.build(settings.model)
    if args.model_path:
        log(network.start_from(model, args.model_path))
    if args.pact_quant:
        model = pact.quantise(model)
        sampler = data.Iterations(len(train_set), settings.batch_size, 1, CALIBRATION_BATCHES, args.seed)
        clips = pact.calibrate(model, (images for images, _ in Loader(train_set, sampler)))
        log(f"PACT: {clips} layers quantised to {pact.BITS} bits, each with a clip that is learnt")
    return model


def choose_precision(args: argparse.Namespace, chosen: device.Device) -> amp.FullPrecision:
    """What ``--precision`` and ``--amp_level`` mean on this device."""
    if args.precision == "fp32":
        return amp.choose(None, "float16", chosen)
    dtype = "bfloat16" if args.precision == "bf16" else "float16"
    return amp.choose(args.amp_level, dtype, chosen, args.amp_emulate)


def save_weights(save_dir: Path, model: Any, iteration: int, is_best: bool, kept: checkpoint.Kept) -> None:
    """``iter_n``, of which ``--keep_checkpoint_max`` stay, and ``best_model`` where it is."""
    weights = checkpoint.weights_of(model)
    if is_best:
        checkpoint.write(save_dir / "best_model" / "model.pdparams", weights)
    folder = save_dir / f"iter_{iteration}"
    checkpoint.write(folder / "model.pdparams", weights)
    kept.add(folder)


def parse_args() -> argparse.Namespace:
    parser = arguments.Parser("Train a segmentation model.")
    parser.add_argument("--config", required=True, help="a YAML file of configs/")
    parser.add_argument(
        "--iters", type=arguments.positive_int, help="iterations in all, if not those of the config"
    )
    parser.add_argument(
        "--batch_size",
        type=arguments.positive_int,
        help="images an iteration and process, if not the config's",
    )
    parser.add_argument("--learning_rate", type=float, help="the first learning rate, if not the config's")
    parser.add_argument(
        "--save_dir", type=Path, default=Path("output"), help="where weights and train.log go"
    )
    parser.add_argument(
        "--save_interval", type=arguments.positive_int, default=1000, help="iterations between checkpoints"
    )
    parser.add_argument(
        "--log_iters", type=arguments.positive_int, default=10, help="iterations between lines of the log"
    )
    arguments.add_training(parser, "optimizer.weight_decay=0.0001 loss.coef.0=2")
    parser.add_argument("--model_path", "--pretrained", help="weights to start from")
    parser.add_argument("--resume_model", "--resume", help="a save_dir or its latest.pdstates, to go on from")
    parser.add_switch("--do_eval", False, "evaluate at each checkpoint and keep the best")
    parser.add_argument(
        "--precision", choices=("fp32", "fp16", "bf16"), default="fp32", help="fp16, bf16: mixed"
    )
    parser.add_argument(
        "--amp_level", choices=("O1", "O2"), default="O1", help="with --precision fp16 or bf16"
    )
    parser.add_argument(
        "--amp_emulate", choices=("auto", "never"), default="auto", help="never: refuse on a CPU"
    )
    parser.add_switch("--pact_quant", False, "train the quantised network (PACT), for int8")
    parser.add_argument("--num_workers", type=int, default=0, help="threads that read images ahead")
    parser.add_argument("--seed", type=int, default=0, help="of everything that is random")
    arguments.add_device(parser)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(run(main))
