"""ResNet-D (He et al., Bag of Tricks for Image Classification with Convolutional Neural Networks, CVPR 2019,
https://arxiv.org/abs/1812.01187): a stem of three 3x3 convolutions, and average pooling in the shortcuts that
halve the size. For segmentation the last two stages are dilated instead of strided (output stride 8)."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional as F

from paddlezoo.models.layers import ConvBN, ConvBNReLU


class _Shortcut(ConvBN):
    """A 1x1 convolution, after average pooling where the block halves the size."""

    def __init__(self, in_channels: int, out_channels: int, pool: bool):
        super().__init__(in_channels, out_channels, 1, bias_attr=False)
        self.pool = pool

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        if self.pool:
            x = F.avg_pool2d(x, kernel_size=2, stride=2, ceil_mode=True)
        return super().forward(x)


class Bottleneck(nn.Layer):
    """1x1, 3x3 (strided or dilated), 1x1 and a shortcut."""

    def __init__(self, in_channels: int, channels: int, stride: int, dilation: int, project: bool):
        super().__init__()
        options = {"stride": stride, "dilation": dilation, "bias_attr": False}
        self.conv0 = ConvBNReLU(in_channels, channels, 1, bias_attr=False)
        self.conv1 = ConvBNReLU(channels, channels, 3, padding=dilation, **options)
        self.conv2 = ConvBN(channels, channels * 4, 1, bias_attr=False)
        # A block starts as its shortcut: fifty layers of random numbers make too much of every rounding.
        nn.initializer.Constant(0.0)(self.conv2._batch_norm.weight)
        self.relu = nn.ReLU()
        self.project = project
        if project:
            self.short = _Shortcut(in_channels, channels * 4, pool=stride == 2)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = self.conv2(self.conv1(self.conv0(x)))
        return self.relu(paddle.add(self.short(x) if self.project else x, y))


class ResNetVd(nn.Layer):
    """The backbone at output stride 8; gives the features of the four stages (strides 4, 8, 8, 8)."""

    feat_channels = (256, 512, 1024, 2048)

    def __init__(self, depths: tuple[int, int, int, int], multi_grid: tuple[int, int, int] = (1, 2, 4)):
        super().__init__()
        self.conv1_1 = ConvBNReLU(3, 32, 3, padding=1, stride=2, bias_attr=False)
        self.conv1_2 = ConvBNReLU(32, 32, 3, padding=1, bias_attr=False)
        self.conv1_3 = ConvBNReLU(32, 64, 3, padding=1, bias_attr=False)
        self._stages: list[list[str]] = []
        channels = 64
        for stage, depth in enumerate(depths):
            width = 64 * 2**stage
            names = [f"bb_{stage}_{block}" for block in range(depth)]
            for block, name in enumerate(names):
                dilation = (1, 1, 2, 4)[stage] * (multi_grid[block] if stage == 3 else 1)
                stride = 2 if stage == 1 and block == 0 else 1
                self.add_sublayer(name, Bottleneck(channels, width, stride, dilation, project=block == 0))
                channels = width * 4
            self._stages.append(names)

    def forward(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        x = self.conv1_3(self.conv1_2(self.conv1_1(x)))
        x = F.max_pool2d(x, kernel_size=3, stride=2, padding=1)
        features = []
        for names in self._stages:
            for name in names:
                x = getattr(self, name)(x)
            features.append(x)
        return features


def resnet50_vd() -> ResNetVd:
    """ResNet50-vd, dilated, with the multi-grid (1, 2, 4) in the last stage."""
    return ResNetVd((3, 4, 6, 3))
