"""Bilinear interpolation by two products with matrices: one along the rows, one along the columns.

A CPU multiplies matrices well, while paddle's kernel goes pixel by pixel: for logits that go from an eighth
to the whole of the image's size, forward and backward, several times as fast.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import paddle
from paddle.nn import functional as F

# Above this height the products cost more than paddle's kernel, where the CPU has no AVX2.
LARGEST_HEIGHT = 128


@lru_cache(maxsize=256)
def weights(old: int, new: int) -> paddle.Tensor:
    """The matrix (new, old) that takes a line of pixels to another length, pixel centres aligned.

    The positions are computed in float32, in the order in which paddle's kernel does it.
    """
    ratio = np.float32(old) / np.float32(new)
    position = np.maximum(ratio * (np.arange(new, dtype="float32") + np.float32(0.5)) - np.float32(0.5), 0)
    first = position.astype("int64")
    share = position - first.astype("float32")
    matrix = np.zeros((new, old), "float32")
    rows = np.arange(new)
    matrix[rows, first] = 1 - share
    matrix[rows, np.minimum(first + 1, old - 1)] += share
    return paddle.to_tensor(matrix, place=paddle.CPUPlace())


class _Resize(paddle.autograd.PyLayer):
    """Backward is the transposed products; written out because it needs neither input nor output."""

    @staticmethod
    def forward(ctx: Any, x: Any, height: int, width: int) -> Any:
        ctx.down, ctx.across = weights(x.shape[2], height), weights(x.shape[3], width)
        return paddle.matmul(ctx.down, paddle.matmul(x, ctx.across, transpose_y=True))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return paddle.matmul(paddle.matmul(ctx.down, gradient, transpose_x=True), ctx.across)


def resize(x: paddle.Tensor, height: int, width: int) -> paddle.Tensor:
    """`x` at another height and width, as `F.interpolate(mode="bilinear", align_corners=False)`."""
    if x.shape[2] > LARGEST_HEIGHT:
        return F.interpolate(x, [height, width], mode="bilinear", align_corners=False)
    return _Resize.apply(x, height, width)
