"""From a network trained with PACT to one that an int8 engine runs: batch norm folded, weights in int8."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import paddle
from paddle import _legacy_C_ops
from paddle.nn.quant.format import LinearQuanterDequanter
from paddle.nn.quant.qat import QuantedConv2D, QuantedLinear

from paddlezoo.quant.pact import BITS, WEIGHT_BITS, quantised_layers

LARGEST = 2 ** (BITS - 1) - 1
LARGEST_WEIGHT = 2 ** (WEIGHT_BITS - 1) - 1
SMALLEST_SCALE = 1e-9


class Int8Weight(paddle.nn.Layer):
    """Turns stored int8 weights into float32: ``dequantize_linear`` in the exported graph.

    paddle's own conversion keeps the integers in float32, which oneDNN's int8 pass reads as weights: silently
    wrong.
    """

    def __init__(self, scales: np.ndarray, axis: int) -> None:
        super().__init__()
        self._attributes = {
            "quant_axis": axis,
            "bit_length": BITS,
            "qmin": -LARGEST - 1,
            "qmax": LARGEST,
        }
        self._scales = self._constant(scales)
        self._zero_point = self._constant(np.zeros_like(scales))

    def _constant(self, values: np.ndarray) -> Any:
        attribute = paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(values), trainable=False)
        return self.create_parameter(list(values.shape), attr=attribute, dtype="float32")

    def forward(self, weight: Any) -> Any:
        if paddle.in_dynamic_mode():
            attributes = (word for pair in self._attributes.items() for word in pair)
            return _legacy_C_ops.dequantize_linear(weight, self._scales, self._zero_point, *attributes)
        result = self._helper.create_variable_for_type_inference("float32")
        self._helper.append_op(
            type="dequantize_linear",
            inputs={"X": weight, "Scale": self._scales, "ZeroPoint": self._zero_point},
            outputs={"Y": result},
            attrs=dict(self._attributes),  # it is changed in there
        )
        return result


def fold_batch_norms(model: Any) -> int:
    """Fold each batch norm into the convolution registered just before it in the same parent; returns how
    many.

    With scales a channel this changes nothing but the last bits. Registration order is not proof of
    execution order: ``export.largest_difference`` and the tests compare the result with the network.
    """
    folded = 0
    for parent in model.sublayers(include_self=True):
        children = list(parent.named_children())
        for (_, convolution), (name, norm) in itertools.pairwise(children):
            if isinstance(convolution, (paddle.nn.Conv2D, QuantedConv2D)) and isinstance(
                norm, (paddle.nn.BatchNorm2D, paddle.nn.SyncBatchNorm)
            ):
                _fold(convolution, norm)
                setattr(parent, name, paddle.nn.Identity())
                folded += 1
    return folded


def _fold(convolution: Any, norm: Any) -> None:
    factor = norm.weight / paddle.sqrt(norm._variance + norm._epsilon)
    shift = norm.bias - norm._mean * factor
    convolution.weight.set_value(convolution.weight * factor.reshape([-1, 1, 1, 1]))
    if convolution.bias is None:
        convolution.bias = convolution.create_parameter(shift.shape, is_bias=True)
        convolution.bias.set_value(shift)
    else:
        convolution.bias.set_value(convolution.bias * factor + shift)


def to_int8(model: Any) -> int:
    """Convert a network that was trained with PACT, in place: fold, store int8 weights, fix the clips as
    scales.

    Returns the number of quantised layers. What it computes afterwards is the simulation of the int8 engine.
    """
    model.eval()
    with paddle.no_grad():
        fold_batch_norms(model)
        layers = quantised_layers(model)
        for layer in layers.values():
            if not isinstance(layer.weight_quanter, Int8Weight):  # else it was converted before
                _convert(layer)
    return len(layers)


def _convert(layer: QuantedConv2D | QuantedLinear) -> None:
    axis = layer.weight_quanter.quant_axis()
    weight = layer.weight.numpy()
    others = tuple(i for i in range(weight.ndim) if i != axis)
    peaks = np.maximum(np.abs(weight).max(axis=others), SMALLEST_SCALE)
    scales = (peaks * (LARGEST / LARGEST_WEIGHT)).astype("float32")  # so that a peak becomes LARGEST_WEIGHT
    shape = [1] * weight.ndim
    shape[axis] = -1
    integers = np.clip(
        np.rint(weight / peaks.reshape(shape) * LARGEST_WEIGHT), -LARGEST_WEIGHT, LARGEST_WEIGHT
    )
    stored = paddle.create_parameter(
        weight.shape,
        "int8",
        name=f"{layer.weight.name}_int8",
        default_initializer=paddle.nn.initializer.Constant(0),
    )
    stored.stop_gradient = True
    stored.set_value(integers.astype("int8"))
    del layer.weight
    layer.weight = stored
    layer.weight_quanter = Int8Weight(scales, axis)
    layer.activation_quanter = LinearQuanterDequanter.from_quanter(layer.activation_quanter)
