"""Evaluating a checkpoint on the val split: what ``eval.py`` and ``train.py --test-only`` both do."""

from __future__ import annotations

import argparse

from paddlezoo import device, distributed
from paddlezoo.cls import data, metrics, network
from paddlezoo.errors import ZooError
from paddlezoo.trainlog import Log


def run(args: argparse.Namespace) -> metrics.Result:
    """Evaluate ``args.pretrained`` on the val split of ``args.data_path`` and say the result."""
    if not args.pretrained:
        raise ZooError("--test-only needs --pretrained: the weights to evaluate")
    log = Log(enabled=distributed.is_main())
    log.warn(device.choose(args.device, args.use_gpu).note)
    split = data.read_split(data.find(args.data_path), "val")
    model, card = network.restore(args.pretrained, args.model, split.classes)
    loader = data.loader(data.Images(split, card.transform), args.batch_size, args.num_workers)
    result = metrics.evaluate(model, loader)
    log(f"eval {network.weights_path(args.pretrained)} ({card.precision}): {result}")
    return result
