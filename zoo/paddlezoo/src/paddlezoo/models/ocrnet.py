"""OCRNet on HRNet (Yuan et al., Object-Contextual Representations for Semantic Segmentation, ECCV 2020,
https://arxiv.org/abs/1909.11065): a first, soft segmentation gathers one feature an object class; each pixel
then looks at these, and the result is classified."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional as F

from paddlezoo import ops
from paddlezoo.models.hrnet import W18, W48, HRNet
from paddlezoo.models.layers import ConvBNReLU, resize_logits, size_of


class SpatialGather(nn.Layer):
    """The feature of each class: the mean of the pixels' features, weighted by the soft segmentation."""

    def __init__(self, channels: int, num_classes: int):
        super().__init__()
        self.channels = channels
        self.num_classes = num_classes

    def forward(self, pixels: paddle.Tensor, regions: paddle.Tensor) -> paddle.Tensor:
        pixels = paddle.transpose(paddle.reshape(pixels, [0, self.channels, -1]), [0, 2, 1])
        weights = F.softmax(paddle.reshape(regions, [0, self.num_classes, -1]), axis=2)
        return paddle.unsqueeze(paddle.transpose(ops.bmm(weights, pixels), [0, 2, 1]), axis=-1)


class ObjectAttention(nn.Layer):
    """Each pixel's mixture of the class features, by similarity."""

    def __init__(self, channels: int, key_channels: int):
        super().__init__()
        self.key_channels = key_channels
        self.f_pixel = nn.Sequential(
            ConvBNReLU(channels, key_channels, 1), ConvBNReLU(key_channels, key_channels, 1)
        )
        self.f_object = nn.Sequential(
            ConvBNReLU(channels, key_channels, 1), ConvBNReLU(key_channels, key_channels, 1)
        )
        self.f_down = ConvBNReLU(channels, key_channels, 1)
        self.f_up = ConvBNReLU(key_channels, channels, 1)

    def forward(self, pixels: paddle.Tensor, objects: paddle.Tensor) -> paddle.Tensor:
        height, width = size_of(pixels)
        query = paddle.transpose(paddle.reshape(self.f_pixel(pixels), [0, self.key_channels, -1]), [0, 2, 1])
        key = paddle.reshape(self.f_object(objects), [0, self.key_channels, -1])
        value = paddle.transpose(paddle.reshape(self.f_down(objects), [0, self.key_channels, -1]), [0, 2, 1])
        similarity = F.softmax(ops.bmm(query, key) * self.key_channels**-0.5, axis=-1)
        context = paddle.transpose(ops.bmm(similarity, value), [0, 2, 1])
        return self.f_up(paddle.reshape(context, [0, self.key_channels, height, width]))


class SpatialOCR(nn.Layer):
    """The pixels' features together with their object context."""

    def __init__(self, channels: int, key_channels: int, dropout: float = 0.1):
        super().__init__()
        self.attention_block = ObjectAttention(channels, key_channels)
        self.conv1x1 = nn.Sequential(ConvBNReLU(2 * channels, channels, 1), nn.Dropout2D(dropout))

    def forward(self, pixels: paddle.Tensor, objects: paddle.Tensor) -> paddle.Tensor:
        return self.conv1x1(paddle.concat([self.attention_block(pixels, objects), pixels], axis=1))


class OCRHead(nn.Layer):
    """The final and the first segmentation, from one feature."""

    def __init__(self, in_channels: int, num_classes: int, channels: int = 512, key_channels: int = 256):
        super().__init__()
        self.spatial_gather = SpatialGather(channels, num_classes)
        self.spatial_ocr = SpatialOCR(channels, key_channels)
        self.conv3x3_ocr = ConvBNReLU(in_channels, channels, 3, padding=1)
        self.cls_head = nn.Conv2D(channels, num_classes, 1)
        self.aux_head = nn.Sequential(
            ConvBNReLU(in_channels, in_channels, 1), nn.Conv2D(in_channels, num_classes, 1)
        )

    def forward(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        regions = self.aux_head(x)
        pixels = self.conv3x3_ocr(x)
        return [self.cls_head(self.spatial_ocr(pixels, self.spatial_gather(pixels, regions))), regions]


class OCRNet(nn.Layer):
    """The network. Logits at the input's size: the final and, in training, the first segmentation."""

    def __init__(self, num_classes: int, backbone: HRNet):
        super().__init__()
        self.backbone = backbone
        self.head = OCRHead(backbone.feat_channels[0], num_classes)

    def forward(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        size = size_of(x)
        final, first = self.head(self.backbone(x)[0])
        heads = [final, first] if self.training else [final]
        return [resize_logits(logits, size, self.training) for logits in heads]


def ocrnet_hrnetw18(num_classes: int = 19) -> OCRNet:
    """OCRNet on HRNet-W18."""
    return OCRNet(num_classes, HRNet(W18))


def ocrnet_hrnetw48(num_classes: int = 19) -> OCRNet:
    """OCRNet on HRNet-W48."""
    return OCRNet(num_classes, HRNet(W48))
