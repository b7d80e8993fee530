"""DeepLabV3+ (Chen et al., Encoder-Decoder with Atrous Separable Convolution for Semantic Image Segmentation,
ECCV 2018, https://arxiv.org/abs/1802.02611): atrous spatial pyramid pooling (ASPP) on a dilated backbone, and
a decoder that brings back the detail of stride 4. On ResNet50-vd it is PP-HumanSeg-Server."""

from __future__ import annotations

import paddle
from paddle import nn

from paddlezoo.models.layers import ConvBNReLU, SeparableConvBNReLU, resize_logits, resize_to, size_of
from paddlezoo.models.resnet_vd import ResNetVd, resnet50_vd


class ASPP(nn.Layer):
    """The same feature seen at several dilations and as a whole, side by side, then mixed."""

    def __init__(self, in_channels: int, channels: int, dilations: tuple[int, ...]):
        super().__init__()
        self.aspp_blocks = nn.LayerList(
            [
                ConvBNReLU(in_channels, channels, 1)
                if dilation == 1
                else SeparableConvBNReLU(in_channels, channels, 3, padding=dilation, dilation=dilation)
                for dilation in dilations
            ]
        )
        self.global_avg_pool = nn.Sequential(
            nn.AdaptiveAvgPool2D(1), ConvBNReLU(in_channels, channels, 1, bias_attr=False)
        )
        self.conv_bn_relu = ConvBNReLU(channels * (len(dilations) + 1), channels, 1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        views = [block(x) for block in self.aspp_blocks]
        views.append(resize_to(self.global_avg_pool(x), size_of(x)))
        return self.dropout(self.conv_bn_relu(paddle.concat(views, axis=1)))


class Decoder(nn.Layer):
    """Upsample the context to stride 4, add the low-level feature, classify."""

    def __init__(self, low_channels: int, num_classes: int):
        super().__init__()
        self.conv_bn_relu1 = ConvBNReLU(low_channels, 48, 1)
        self.conv_bn_relu2 = SeparableConvBNReLU(256 + 48, 256, 3, padding=1)
        self.conv_bn_relu3 = SeparableConvBNReLU(256, 256, 3, padding=1)
        self.conv = nn.Conv2D(256, num_classes, 1)

    def forward(self, x: paddle.Tensor, low: paddle.Tensor) -> paddle.Tensor:
        low = self.conv_bn_relu1(low)
        x = paddle.concat([resize_to(x, size_of(low)), low], axis=1)
        return self.conv(self.conv_bn_relu3(self.conv_bn_relu2(x)))


class DeepLabV3PHead(nn.Layer):
    """ASPP on the last stage, the decoder with the first."""

    def __init__(self, backbone: ResNetVd, num_classes: int):
        super().__init__()
        self.aspp = ASPP(backbone.feat_channels[3], 256, (1, 12, 24, 36))
        self.decoder = Decoder(backbone.feat_channels[0], num_classes)

    def forward(self, features: list[paddle.Tensor]) -> paddle.Tensor:
        return self.decoder(self.aspp(features[3]), features[0])


class DeepLabV3P(nn.Layer):
    """The network; one map of logits at the input's size."""

    def __init__(self, num_classes: int, backbone: ResNetVd):
        super().__init__()
        self.backbone = backbone
        self.head = DeepLabV3PHead(backbone, num_classes)

    def forward(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        return [resize_logits(self.head(self.backbone(x)), size_of(x), self.training)]


def deeplabv3p_resnet50(num_classes: int = 2) -> DeepLabV3P:
    """PP-HumanSeg-Server: DeepLabV3+ on ResNet50-vd at output stride 8."""
    return DeepLabV3P(num_classes, resnet50_vd())
