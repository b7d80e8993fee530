"""FCN on HRNet (Long et al., Fully Convolutional Networks for Semantic Segmentation, CVPR 2015,
https://arxiv.org/abs/1411.4038): two 1x1 convolutions on the backbone's feature. With HRNet-W18-small it is
PP-HumanSeg-Mobile."""

from __future__ import annotations

import paddle
from paddle import nn

from paddlezoo.models.hrnet import W18, W18_SMALL_V1, HRNet
from paddlezoo.models.layers import ConvBNReLU, resize_logits, size_of


class FCNHead(nn.Layer):
    """A hidden layer as wide as the feature, and the logits."""

    def __init__(self, channels: int, num_classes: int, bias: bool):
        super().__init__()
        bias_attr = None if bias else False
        self.conv_1 = ConvBNReLU(channels, channels, 1, bias_attr=bias_attr)
        self.cls = nn.Conv2D(channels, num_classes, 1, bias_attr=bias_attr)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.cls(self.conv_1(x))


class FCN(nn.Layer):
    """The network; one map of logits at the input's size."""

    def __init__(self, num_classes: int, backbone: HRNet, bias: bool = True):
        super().__init__()
        self.backbone = backbone
        self.head = FCNHead(backbone.feat_channels[-1], num_classes, bias)

    def forward(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        return [resize_logits(self.head(self.backbone(x)[-1]), size_of(x), self.training)]


def fcn_hrnetw18_small(num_classes: int = 2) -> FCN:
    """PP-HumanSeg-Mobile: HRNet-W18-small V1."""
    return FCN(num_classes, HRNet(W18_SMALL_V1))


def fcn_hrnetw18(num_classes: int = 19) -> FCN:
    """FCN on HRNet-W18, without biases and with symmetric padding."""
    return FCN(num_classes, HRNet(W18, padding_same=False), bias=False)
