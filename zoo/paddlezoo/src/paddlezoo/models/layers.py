"""Blocks that the segmentation networks share.

Attribute names (`_conv`, `_batch_norm`, and `piontwise_conv` with its slip of the pen) are those of
PaddleSeg: they make the keys of a state_dict, and published weights must load.
"""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn
from paddle.nn import functional as F

from paddlezoo import cpu
from paddlezoo.models import bilinear


def size_of(x: paddle.Tensor) -> Any:
    """Height and width of a feature map: numbers where they are known, else a tensor that is computed at run
    time."""
    height, width = x.shape[2], x.shape[3]
    return [height, width] if height > 0 and width > 0 else paddle.shape(x)[2:]


def resize_to(x: paddle.Tensor, size: Any) -> paddle.Tensor:
    """`x` at another height and width, bilinear, pixel centres aligned (align_corners=False)."""
    return F.interpolate(x, size, mode="bilinear", align_corners=False)


def resize_logits(logits: paddle.Tensor, size: Any, training: bool) -> paddle.Tensor:
    """A network's logits at the size of its input.

    In training on a CPU, of which this is a large part, by the quicker way; it differs in the last bits. In
    an exported model each class is an image of its own: OpenVINO resizes eight channels at once, of which a
    few classes leave most unused.
    """
    if training and isinstance(size, list) and cpu.takes_over(logits, "bilinear_interp"):
        return bilinear.resize(logits, *size)
    if paddle.in_dynamic_mode():
        return resize_to(logits, size)
    planes = paddle.reshape(logits, [-1, 1, 0, 0])  # 0: as it is
    return paddle.reshape(resize_to(planes, size), [-1, logits.shape[1], 0, 0])


class ConvBN(nn.Layer):
    """Convolution and batch norm. Options are those of `nn.Conv2D`; the padding keeps the size unless
    given."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel: int, padding: Any = "same", **options: Any
    ):
        super().__init__()
        # A 1x1 kernel needs no padding; a number spares the kernels the search for it.
        padding = 0 if kernel == 1 and padding == "same" else padding
        self._conv = nn.Conv2D(in_channels, out_channels, kernel, padding=padding, **options)
        self._batch_norm = nn.BatchNorm2D(out_channels)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self._batch_norm(self._conv(x))


class ConvBNReLU(ConvBN):
    """Convolution, batch norm, ReLU."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel: int, padding: Any = "same", **options: Any
    ):
        super().__init__(in_channels, out_channels, kernel, padding, **options)
        self.relu = nn.ReLU()

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.relu(super().forward(x))


class SeparableConvBNReLU(nn.Layer):
    """A convolution in each channel, then one across the channels."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel: int, padding: Any = "same", **options: Any
    ):
        super().__init__()
        self.depthwise_conv = ConvBN(in_channels, in_channels, kernel, padding, groups=in_channels, **options)
        self.piontwise_conv = ConvBNReLU(in_channels, out_channels, 1, bias_attr=options.get("bias_attr"))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.piontwise_conv(self.depthwise_conv(x))
