"""PP-HumanSeg-Lite (Chu et al., PP-HumanSeg: Connectivity-Aware Portrait Segmentation with a Large-Scale
Teleconferencing Video Dataset, WACV 2022, https://arxiv.org/abs/2112.07146): ConnectNet, shuffle units of
depthwise convolutions and one skip connection at half resolution; 0.23 million parameters.
"""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional as F

from paddlezoo.models.layers import ConvBNReLU, SeparableConvBNReLU, resize_logits, resize_to, size_of


def interleave(one: paddle.Tensor, other: paddle.Tensor) -> paddle.Tensor:
    """Channels of both in turn (a channel shuffle of two groups), so that the next unit sees both."""
    return paddle.flatten(paddle.stack([one, other], axis=2), 1, 2)


class ShuffleUnit(nn.Layer):
    """A unit in the manner of ShuffleNetV2: half of the channels pass by (stride 1) or both halves are made
    new."""

    def __init__(self, in_channels: int, out_channels: int, stride: int):
        super().__init__()
        half = out_channels // 2
        branch = in_channels // 2 if stride == 1 else in_channels
        self.stride = stride
        options = {"padding": 1, "bias_attr": False, "stride": stride}
        # With stride 1 the first of these is never called; it is part of published weights.
        self._depthwise_separable_0 = SeparableConvBNReLU(in_channels, half, 3, **options)
        self._conv = ConvBNReLU(branch, half, 1, bias_attr=False)
        self._depthwise_separable_1 = SeparableConvBNReLU(half, half, 3, **options)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        if self.stride == 1:
            passed, branch = paddle.split(x, 2, axis=1)
        else:
            passed, branch = self._depthwise_separable_0(x), x
        branch = self._depthwise_separable_1(self._conv(branch))
        return interleave(passed, branch)


class PPHumanSegLite(nn.Layer):
    """The network; one map of logits at the input's size."""

    def __init__(self, num_classes: int):
        super().__init__()
        self.conv_bn0 = ConvBNReLU(3, 36, 3, padding=1, stride=2, bias_attr=False)
        self.conv_bn1 = ConvBNReLU(36, 18, 1, bias_attr=False)
        self.block1 = nn.Sequential(ShuffleUnit(36, 72, 2), *(ShuffleUnit(72, 72, 1) for _ in range(3)))
        self.block2 = nn.Sequential(ShuffleUnit(72, 144, 2), *(ShuffleUnit(144, 144, 1) for _ in range(7)))
        options = {"padding": 1, "bias_attr": False}
        self.depthwise_separable0 = SeparableConvBNReLU(144, 64, 3, **options)
        self.depthwise_separable1 = SeparableConvBNReLU(64 + 18, 64, 3, **options)
        self.depthwise_separable2 = SeparableConvBNReLU(64, num_classes, 3, **options)

    def forward(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        size = size_of(x)
        x = self.conv_bn0(x)
        skip = self.conv_bn1(x)
        x = F.max_pool2d(x, kernel_size=3, stride=2, padding=1)
        x = self.depthwise_separable0(self.block2(self.block1(x)))
        x = paddle.concat([skip, resize_to(x, size_of(skip))], axis=1)
        logits = self.depthwise_separable2(self.depthwise_separable1(x))
        return [resize_logits(logits, size, self.training)]


def pphumanseg_lite(num_classes: int = 2) -> PPHumanSegLite:
    """PP-HumanSeg-Lite: people against background, made for phones and browsers."""
    return PPHumanSegLite(num_classes)
