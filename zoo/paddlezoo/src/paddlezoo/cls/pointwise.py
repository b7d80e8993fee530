"""The linear layers of a quantised classifier as convolutions of one point.

Engines have faster int8 kernels for convolutions: without VNNI OpenVINO takes longer for MobileNetV3's two
linear layers in int8 than in fp32, and a third of that as convolutions. oneDNN leaves linear layers in fp32.
"""

from __future__ import annotations

from typing import Any

import paddle
from paddle.nn.quant.qat import QuantedConv2D, QuantedLinear
from paddle.quantization.config import SingleLayerConfig

from paddlezoo.quant.pact import ChannelWeight


class Pointwise(paddle.nn.Layer):
    """Computes what a quantised linear layer computes, of a batch of vectors, with the same clip."""

    def __init__(self, linear: QuantedLinear) -> None:
        super().__init__()
        inputs, outputs = linear.weight.shape
        plain = paddle.nn.Conv2D(inputs, outputs, 1, bias_attr=None if linear.bias is not None else False)
        plain.weight.set_value(linear.weight.t().reshape([outputs, inputs, 1, 1]))
        if linear.bias is not None:
            plain.bias.set_value(linear.bias)
        self.convolution = QuantedConv2D(plain, SingleLayerConfig(None, ChannelWeight()))
        self.convolution.activation_quanter = linear.activation_quanter

    def forward(self, x: Any) -> Any:
        return self.convolution(x.reshape([0, -1, 1, 1])).flatten(1)


def replace(model: Any) -> int:
    """Put a ``Pointwise`` in the place of each quantised linear layer; returns how many.

    For a network that was trained with PACT, before its weights become int8.
    """
    found = [
        (parent, name, child)
        for parent in model.sublayers(include_self=True)
        for name, child in parent.named_children()
        if isinstance(child, QuantedLinear)
    ]
    for parent, name, child in found:
        setattr(parent, name, Pointwise(child))
    return len(found)
