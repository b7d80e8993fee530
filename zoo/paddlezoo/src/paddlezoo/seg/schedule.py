"""The learning rate and the optimizer of a config."""

from __future__ import annotations

from typing import Any

import paddle

from paddlezoo.seg.config import Optimizer, Schedule


def learning_rate(schedule: Schedule, iters: int) -> Any:
    """Polynomial decay over the iterations that a warm-up leaves."""
    warmup = min(schedule.warmup_iters, max(0, iters - 1))
    decay = paddle.optimizer.lr.PolynomialDecay(
        schedule.learning_rate, decay_steps=iters - warmup, end_lr=schedule.end_lr, power=schedule.power
    )
    if not warmup:
        return decay
    return paddle.optimizer.lr.LinearWarmup(
        decay, warmup_steps=warmup, start_lr=schedule.warmup_start_lr, end_lr=schedule.learning_rate
    )


def optimizer(settings: Optimizer, rate: Any, parameters: list[Any]) -> Any:
    """SGD with momentum, or AdamW; parameters that are never trained are left out."""
    trained = [parameter for parameter in parameters if not parameter.stop_gradient]
    if settings.type == "AdamW":
        return paddle.optimizer.AdamW(rate, parameters=trained, weight_decay=settings.weight_decay)
    return paddle.optimizer.Momentum(
        rate, settings.momentum, parameters=trained, weight_decay=settings.weight_decay
    )
