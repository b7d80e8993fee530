"""Train a segmentation model.

python train.py --config configs/pphumanseg_lite.yml --iters=200 --batch_size=4 --do_eval
python train.py --config configs/pp_liteseg_stdc1.yml --precision fp16 --amp_level O2 --do_eval
python train.py --config configs/fcn_hrnetw18.yml --pact_quant --model_path output/best_model/model.pdparams
python -m paddle.distributed.launch --gpus=0,1 train.py …          (on a CPU: --nproc_per_node=2)
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from paddlezoo.arguments import Parser, add_device, positive_int
from paddlezoo.errors import ZooError, run

STATISTICS_BATCHES = 100  # for batch norm, before each evaluation; at most all images once


def main() -> None:
    args = parse_args()

    import paddle

    from paddlezoo import amp, batchnorm, checkpoint, device, distributed, resume, seeding
    from paddlezoo.loading import Loader
    from paddlezoo.quant import pact
    from paddlezoo.seg import config, data, losses, network, schedule, transforms
    from paddlezoo.seg.evaluate import evaluate
    from paddlezoo.trainlog import Interval, Log

    settings = config.read(args.config)
    iters, batch_size = args.iters or settings.iters, args.batch_size or settings.batch_size
    rank, world = distributed.rank(), distributed.world_size()
    save_dir = Path(args.save_dir)
    log = Log(save_dir / "train.log", enabled=distributed.is_main())
    place = device.choose(args.device, args.use_gpu)
    log.warn(place.note)
    seeding.seed_at(args.seed)

    # data
    classes = settings.model.num_classes
    train_set, val_set = (
        data.Pairs(
            data.read_list(part.list_path, part.dataset_root),
            transforms.build(part.transforms),
            classes,
            args.seed,
        )
        for part in (settings.train_dataset, settings.val_dataset)
    )

    # network, optimizer, precision
    model = network.build(settings.model)
    if args.model_path:
        log(network.start_from(model, args.model_path))
    if args.pact_quant:
        model = pact.quantise(model)
        first = Loader(train_set, data.Iterations(len(train_set), batch_size, 1, 4, args.seed))
        clips = pact.calibrate(model, (images for images, _ in first))
        log(f"PACT: {clips} layers quantised to {pact.BITS} bits, each with a clip that is learnt")
    if world > 1 and place.is_gpu:
        model = paddle.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    if args.learning_rate:
        settings = settings.model_copy(
            update={
                "lr_scheduler": settings.lr_scheduler.model_copy(update={"learning_rate": args.learning_rate})
            }
        )
    rate = schedule.learning_rate(settings.lr_scheduler, iters)
    optimizer = schedule.optimizer(settings.optimizer, rate, model.parameters())
    precision = amp.choose(
        None if args.precision == "fp32" else args.amp_level,
        "bfloat16" if args.precision == "bf16" else "float16",
        place,
        args.amp_emulate,
    )
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

    # the loop
    interval = Interval(world)
    batches = Loader(
        train_set,
        data.Iterations(len(train_set), batch_size, done + 1, iters, args.seed, rank, world),
        args.num_workers,
    )
    parallel.train()
    interval.restart_clock()
    for iteration, (images, labels) in enumerate(batches, start=done + 1):
        interval.data_ready()
        seeding.seed_at(args.seed, iteration, rank)  # dropout
        with precision.autocast():
            loss = losses.total_loss(parallel(images), labels, heads)
        precision.backward_and_step(loss, optimizer)
        optimizer.clear_grad()
        lr = optimizer.get_lr()
        rate.step()
        value = loss.item()
        if value != value or value in (float("inf"), float("-inf")):
            raise ZooError(f"iteration {iteration}: the loss is {value}: lower the learning rate ({lr:g})")
        interval.step_done(len(images), {"loss": value})
        if iteration % args.log_iters == 0 or iteration == iters:
            epoch = (iteration * batch_size * world - 1) // len(train_set) + 1
            where = f"epoch: {epoch}, iter: {iteration}/{iters}"
            log(f"[TRAIN] {interval.line(where, lr, iters - iteration)}")
        if iteration % args.save_interval == 0 or iteration == iters:
            once = min(STATISTICS_BATCHES, -(-len(train_set) // (batch_size * world)))
            some = data.Iterations(len(train_set), batch_size, 1, once, args.seed, rank, world)
            with precision.evaluating():
                batchnorm.recompute(model, (images for images, _ in Loader(train_set, some)))
            distributed.average_buffers(model)
            weights = checkpoint.weights_of(model)
            if args.do_eval:
                with precision.evaluating():
                    scores = evaluate(model, val_set)
                best, is_best = max(best, scores.miou), scores.miou > best
                log(f"[EVAL] iter: {iteration}/{iters}, {scores.line()}, best mIoU: {best:.4f}")
            if distributed.is_main():
                if args.do_eval and is_best:
                    checkpoint.write(save_dir / "best_model/model.pdparams", weights)
                checkpoint.write(save_dir / f"iter_{iteration}/model.pdparams", weights)
                progress = {"iter": iteration, "best": best}
                resume.save(save_dir / "latest.pdstates", model, optimizer, precision.state(), progress)
            distributed.wait_for_all()
            interval.restart_clock()
    if args.pact_quant:
        moved, count = pact.clips_moved(checkpoint.weights_of(model))
        log(f"PACT: {moved} of {count} clips were learnt away from where they started")
    log(precision.last_line())


def parse_args() -> Namespace:
    parser = Parser("Train a segmentation model.")
    parser.add_argument("--config", required=True, help="a YAML file of configs/")
    add_device(parser)
    parser.add_argument("--iters", type=positive_int, help="iterations in all, if not those of the config")
    parser.add_argument(
        "--batch_size", type=positive_int, help="images an iteration and process, if not the config's"
    )
    parser.add_argument("--learning_rate", type=float, help="the first learning rate, if not the config's")
    parser.add_argument("--save_dir", default="output", help="where weights and train.log go")
    parser.add_argument(
        "--save_interval", type=positive_int, default=1000, help="iterations between checkpoints"
    )
    parser.add_argument(
        "--log_iters", type=positive_int, default=10, help="iterations between lines of the log"
    )
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
    parser.add_argument("--num_workers", type=int, default=0, help="processes that read images")
    parser.add_argument("--seed", type=int, default=0, help="of everything that is random")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(run(main))
