"""Several processes: started by ``python -m paddle.distributed.launch``, joined here, averaged here."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


def world_size() -> int:
    return int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))


def rank() -> int:
    return int(os.environ.get("PADDLE_TRAINER_ID", "0"))


def is_main() -> bool:
    """True in the process that writes files and prints."""
    return rank() == 0


def wrap(model: Any, unused_parameters: bool = False) -> Any:
    """Join the other processes and return the model whose gradients are averaged over them.

    ``unused_parameters``: some may get no gradient, which has to be looked for in every step.
    """
    if world_size() == 1:
        return model
    import paddle

    paddle.distributed.init_parallel_env()
    return paddle.DataParallel(model, find_unused_parameters=unused_parameters)


def unwrap(model: Any) -> Any:
    """The network itself, for saving and evaluating."""
    import paddle

    return model._layers if isinstance(model, paddle.DataParallel) else model


def sum_over_ranks(values: np.ndarray) -> np.ndarray:
    """The sum of an array over all processes."""
    if world_size() == 1:
        return values
    import paddle

    tensor = paddle.to_tensor(values.astype("float64"))
    paddle.distributed.all_reduce(tensor)
    return tensor.numpy()


def average_buffers(model: Any) -> None:
    """Give all processes the same batch-norm statistics: the mean of theirs."""
    if world_size() == 1:
        return
    import paddle

    # paddle keeps the statistics as parameters that are not trained, not as buffers.
    for tensor in model.state_dict().values():
        if tensor.stop_gradient and tensor.dtype == paddle.float32:
            paddle.distributed.all_reduce(tensor)
            tensor.set_value(tensor / world_size())


def wait_for_all() -> None:
    """Return when every process is here."""
    if world_size() > 1:
        import paddle

        paddle.distributed.barrier()
