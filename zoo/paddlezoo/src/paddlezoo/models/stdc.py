"""STDC: short-term dense concatenation backbones (Fan et al., Rethinking BiSeNet For Real-time Semantic
Segmentation, CVPR 2021, https://arxiv.org/abs/2104.13188)."""

from __future__ import annotations

import paddle
from paddle import nn


class _ConvBNReLU(nn.Layer):
    """Convolution, batch norm, ReLU, under the names that STDC weights have."""

    def __init__(self, in_channels: int, out_channels: int, kernel: int, stride: int = 1):
        super().__init__()
        self.conv = nn.Conv2D(
            in_channels, out_channels, kernel, stride=stride, padding=kernel // 2, bias_attr=False
        )
        self.bn = nn.BatchNorm2D(out_channels)
        self.relu = nn.ReLU()

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.relu(self.bn(self.conv(x)))


class STDCModule(nn.Layer):
    """Four convolutions in a row, each half as wide as the one before it; their outputs side by side.

    With stride 2, the first output is halved by a depthwise convolution on its way down the row and by
    average pooling on its way to the concatenation.
    """

    def __init__(self, in_channels: int, out_channels: int, stride: int):
        super().__init__()
        half = out_channels // 2
        self.stride = stride
        if stride == 2:
            self.avd_layer = nn.Sequential(
                nn.Conv2D(half, half, 3, stride=2, padding=1, groups=half, bias_attr=False),
                nn.BatchNorm2D(half),
            )
            self.skip = nn.AvgPool2D(kernel_size=3, stride=2, padding=1)
        self.conv_list = nn.LayerList(
            [
                _ConvBNReLU(in_channels, half, 1),
                _ConvBNReLU(half, out_channels // 4, 3),
                _ConvBNReLU(out_channels // 4, out_channels // 8, 3),
                _ConvBNReLU(out_channels // 8, out_channels // 8, 3),
            ]
        )

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        first = self.conv_list[0](x)
        second = self.conv_list[1](self.avd_layer(first) if self.stride == 2 else first)
        third = self.conv_list[2](second)
        fourth = self.conv_list[3](third)
        return paddle.concat([self.skip(first) if self.stride == 2 else first, second, third, fourth], axis=1)


class STDC(nn.Layer):
    """The backbone; gives the features at strides 2, 4, 8, 16 and 32. `blocks`: modules at strides 8, 16 and
    32."""

    feat_channels = (32, 64, 256, 512, 1024)

    def __init__(self, blocks: tuple[int, int, int]):
        super().__init__()
        layers: list[nn.Layer] = [_ConvBNReLU(3, 32, 3, stride=2), _ConvBNReLU(32, 64, 3, stride=2)]
        self._ends = [0, 1]
        channels = 64
        for count, width in zip(blocks, self.feat_channels[2:], strict=True):
            for index in range(count):
                layers.append(STDCModule(channels, width, stride=2 if index == 0 else 1))
                channels = width
            self._ends.append(len(layers) - 1)
        self.features = nn.Sequential(*layers)

    def forward(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        features = []
        for index, layer in enumerate(self.features):
            x = layer(x)
            if index in self._ends:
                features.append(x)
        return features


def stdc1() -> STDC:
    """The smaller one: two modules at each of the strides 8, 16 and 32."""
    return STDC((2, 2, 2))


def stdc2() -> STDC:
    """The larger one: 4, 5 and 3 modules."""
    return STDC((4, 5, 3))
