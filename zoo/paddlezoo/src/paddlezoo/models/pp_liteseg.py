"""PP-LiteSeg (Peng et al., PP-LiteSeg: A Superior Real-Time Semantic Segmentation Model, 2022,
https://arxiv.org/abs/2204.02681): an STDC backbone, a simple pyramid pooling module (SPPM) for context, and
unified attention fusion modules (UAFM) on the way up. In training each level has a head of its own, for
auxiliary losses.
"""

from __future__ import annotations

import paddle
from paddle import nn

from paddlezoo import ops
from paddlezoo.models.layers import ConvBN, ConvBNReLU, resize_logits, resize_to, size_of
from paddlezoo.models.stdc import STDC, stdc1, stdc2


def channel_max(x: paddle.Tensor, training: bool) -> paddle.Tensor:
    """The largest value over the channels, as a map of one channel.

    In training by arg-max and a gather: the gradient of `paddle.max` over an axis is some 400 times slower on
    a CPU since paddle 3.1, and was half of a whole training step. Values and (but for ties) gradients are the
    same.
    """
    if not training:
        return paddle.max(x, axis=1, keepdim=True)
    return paddle.take_along_axis(x, paddle.argmax(x, axis=1, keepdim=True), axis=1, broadcast=False)


class SPPM(nn.Layer):
    """Context of the whole image: average pooling to 1, 2 and 4 bins, a convolution each, summed."""

    def __init__(self, in_channels: int, out_channels: int, bins: tuple[int, ...] = (1, 2, 4)):
        super().__init__()
        self.stages = nn.LayerList(
            [
                nn.Sequential(nn.AdaptiveAvgPool2D(size), ConvBNReLU(in_channels, out_channels, 1))
                for size in bins
            ]
        )
        self.conv_out = ConvBNReLU(out_channels, out_channels, 3, padding=1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        size = size_of(x)
        return self.conv_out(paddle.add_n([resize_to(stage(x), size) for stage in self.stages]))


class UAFM(nn.Layer):
    """Fuse a low-level with an upsampled high-level feature, weighted pixel by pixel by spatial attention."""

    def __init__(self, low_channels: int, high_channels: int, out_channels: int):
        super().__init__()
        self.conv_x = ConvBNReLU(low_channels, high_channels, 3, padding=1, bias_attr=False)
        self.conv_out = ConvBNReLU(high_channels, out_channels, 3, padding=1, bias_attr=False)
        self.conv_xy_atten = nn.Sequential(
            ConvBNReLU(4, 2, 3, padding=1, bias_attr=False), ConvBN(2, 1, 3, padding=1, bias_attr=False)
        )
        # Always one. It is in published weights, because quantisation tools wanted a tensor there.
        self._scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(1.0))
        self._scale.stop_gradient = True

    def forward(self, low: paddle.Tensor, high: paddle.Tensor) -> paddle.Tensor:
        low = self.conv_x(low)
        high = resize_to(high, size_of(low))
        statistics = []
        for x in (low, high):
            statistics += [paddle.mean(x, axis=1, keepdim=True), channel_max(x, self.training)]
        weight = ops.sigmoid(self.conv_xy_atten(paddle.concat(statistics, axis=1)))
        return self.conv_out(low * weight + high * (self._scale - weight))


class PPLiteSegHead(nn.Layer):
    """Context at the deepest level, then one fusion a level; gives the fused features, finest first."""

    def __init__(self, in_channels: list[int], out_channels: tuple[int, ...], context_channels: int = 128):
        super().__init__()
        self.cm = SPPM(in_channels[-1], context_channels)
        high = [*out_channels[1:], context_channels]
        self.arm_list = nn.LayerList(
            [UAFM(*channels) for channels in zip(in_channels, high, out_channels, strict=True)]
        )

    def forward(self, features: list[paddle.Tensor]) -> list[paddle.Tensor]:
        fused = [self.cm(features[-1])]
        for index in reversed(range(len(features))):
            fused.insert(0, self.arm_list[index](features[index], fused[0]))
        return fused[:-1]


class SegHead(nn.Layer):
    """Two convolutions from a feature to the logits."""

    def __init__(self, in_channels: int, mid_channels: int, num_classes: int):
        super().__init__()
        self.conv = ConvBNReLU(in_channels, mid_channels, 3, padding=1, bias_attr=False)
        self.conv_out = nn.Conv2D(mid_channels, num_classes, 1, bias_attr=False)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.conv_out(self.conv(x))


class PPLiteSeg(nn.Layer):
    """The network. Logits at the input's size: three in training (strides 8, 16, 32), one in evaluation."""

    def __init__(
        self,
        num_classes: int,
        backbone: STDC,
        fused_channels: tuple[int, ...],
        head_channels: tuple[int, ...],
    ):
        super().__init__()
        self.backbone = backbone
        self.ppseg_head = PPLiteSegHead(list(backbone.feat_channels[2:]), fused_channels)
        self.seg_heads = nn.LayerList(
            [
                SegHead(fused, mid, num_classes)
                for fused, mid in zip(fused_channels, head_channels, strict=True)
            ]
        )

    def forward(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        size = size_of(x)
        fused = self.ppseg_head(self.backbone(x)[2:])
        levels = len(fused) if self.training else 1
        logits = [self.seg_heads[level](fused[level]) for level in range(levels)]
        return [resize_logits(each, size, self.training) for each in logits]


def pp_liteseg_stdc1(num_classes: int = 19) -> PPLiteSeg:
    """PP-LiteSeg-T: STDC1 and a narrow decoder."""
    return PPLiteSeg(num_classes, stdc1(), fused_channels=(32, 64, 128), head_channels=(32, 64, 64))


def pp_liteseg_stdc2(num_classes: int = 19) -> PPLiteSeg:
    """PP-LiteSeg-B: STDC2 and a wider decoder."""
    return PPLiteSeg(num_classes, stdc2(), fused_channels=(64, 96, 128), head_channels=(64, 64, 64))
