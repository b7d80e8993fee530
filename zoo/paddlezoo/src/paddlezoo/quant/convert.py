"""From a network trained with PACT to one that an int8 engine runs: batch norm folded, weights in int8."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import paddle
from paddle import _legacy_C_ops
from paddle.nn.quant.qat import QuantedConv2D, QuantedLinear

from paddlezoo.quant.pact import BITS, WEIGHT_BITS, PactActivationLayer, quantised_layers
from paddlezoo.quant.placing import OUTPUT_QUANTER
from paddlezoo.unsigned import CLIP

LARGEST = 2 ** (BITS - 1) - 1
LARGEST_WEIGHT = 2 ** (WEIGHT_BITS - 1) - 1
SMALLEST_SCALE = 1e-9


class Zeros:
    """The zero points of a network, one tensor for each length: every layer has two, and an export looks at
    each."""

    def __init__(self) -> None:
        self._by_length: dict[int, Any] = {}

    def __getitem__(self, length: int) -> Any:
        if length not in self._by_length:
            self._by_length[length] = _constant(np.zeros(length, "float32"))
        return self._by_length[length]


def _constant(values: np.ndarray) -> Any:
    initializer = paddle.nn.initializer.Assign(values)
    constant = paddle.create_parameter(list(values.shape), "float32", default_initializer=initializer)
    constant.stop_gradient = True
    return constant


class _Linear(paddle.nn.Layer):
    """What ``quantize_linear`` and ``dequantize_linear`` are given: scales, zero points and the range."""

    def __init__(self, scales: np.ndarray, axis: int, zeros: Zeros) -> None:
        super().__init__()
        self._attributes = {
            "quant_axis": axis,
            "bit_length": BITS,
            "qmin": -LARGEST - 1,
            "qmax": LARGEST,
        }
        self._scales = _constant(scales)
        self._zero_point = zeros[len(scales)]

    def _run(self, operator: str, x: Any) -> Any:
        if paddle.in_dynamic_mode():
            attributes = (word for pair in self._attributes.items() for word in pair)
            return getattr(_legacy_C_ops, operator)(x, self._scales, self._zero_point, *attributes)
        result = self._helper.create_variable_for_type_inference("float32")
        self._helper.append_op(
            type=operator,
            inputs={"X": x, "Scale": self._scales, "ZeroPoint": self._zero_point},
            outputs={"Y": result},
            attrs=dict(self._attributes),  # it is changed in there
        )
        return result


class Int8Weight(_Linear):
    """Turns stored int8 weights into float32: ``dequantize_linear`` in the exported graph.

    paddle's own conversion keeps the integers in float32, which oneDNN's int8 pass reads as weights: silently
    wrong.
    """

    def forward(self, weight: Any) -> Any:
        return self._run("dequantize_linear", weight)


class Int8Activation(_Linear):
    """Rounds an activation to int8 and back, with one scale: the clip that was learnt."""

    def forward(self, x: Any) -> Any:
        return self._run("dequantize_linear", self._run("quantize_linear", x))


class Int8ReLU(Int8Activation):
    """A ReLU, rounded to int8 and back. The exported ReLU says where that clips, for ``unsigned``."""

    def __init__(self, scales: np.ndarray, axis: int, zeros: Zeros) -> None:
        super().__init__(scales, axis, zeros)
        self._clip = float(scales[0])

    def forward(self, x: Any) -> Any:
        if paddle.in_dynamic_mode():
            return super().forward(paddle.nn.functional.relu(x))
        result = self._helper.create_variable_for_type_inference("float32")
        operator = self._helper.append_op(type="relu", inputs={"X": x}, outputs={"Out": result})
        operator._set_attr(CLIP, self._clip)
        return super().forward(result)


class ChannelBias(paddle.nn.Layer):
    """Adds a value for each channel: what is left of a batch norm.

    The bias of a convolution would be a reshape and an addition in the exported graph. oneDNN fuses an
    addition along axis 1 only, and without it neither the activation behind it: both would then stay float.
    """

    def __init__(self, values: np.ndarray) -> None:
        super().__init__()
        self.bias = _constant(values)

    def forward(self, x: Any) -> Any:
        if paddle.in_dynamic_mode():
            return x + self.bias.reshape([1, -1, 1, 1])
        result = self._helper.create_variable_for_type_inference("float32")
        self._helper.append_op(
            type="elementwise_add",
            inputs={"X": x, "Y": self.bias},
            outputs={"Out": result},
            attrs={"axis": 1},
        )
        return result


def fold_batch_norms(model: Any) -> int:
    """Fold each batch norm into the convolution registered just before it in the same parent; returns how
    many.

    A bias that no batch norm takes in becomes a ``ChannelBias`` too. With scales a channel this changes
    nothing but the last bits. Registration order is not proof of
    execution order: ``export.largest_difference`` and the tests compare the result with the network.
    """
    folded = 0
    for parent in model.sublayers(include_self=True):
        children = list(parent.named_children())
        for (_, convolution), (name, norm) in itertools.pairwise(children):
            if isinstance(convolution, (paddle.nn.Conv2D, QuantedConv2D)) and isinstance(
                norm, (paddle.nn.BatchNorm2D, paddle.nn.SyncBatchNorm)
            ):
                setattr(parent, name, _fold(convolution, norm))
                folded += 1
        for name, child in children:
            if isinstance(child, QuantedConv2D) and child.bias is not None:
                bias = ChannelBias(child.bias.numpy())
                child.bias = None
                setattr(parent, name, paddle.nn.Sequential(child, bias))
    return folded


def _fold(convolution: Any, norm: Any) -> ChannelBias:
    factor = norm.weight / paddle.sqrt(norm._variance + norm._epsilon)
    shift = norm.bias - norm._mean * factor
    convolution.weight.set_value(convolution.weight * factor.reshape([-1, 1, 1, 1]))
    if convolution.bias is not None:
        shift = convolution.bias * factor + shift
        convolution.bias = None
    return ChannelBias(shift.numpy())


def to_int8(model: Any) -> int:
    """Convert a network that was trained with PACT, in place: fold, store int8 weights, fix the clips as
    scales.

    Returns the number of quantised layers. What it computes afterwards is the simulation of the int8 engine.
    """
    model.eval()
    with paddle.no_grad():
        fold_batch_norms(model)
        layers = quantised_layers(model)
        zeros = Zeros()
        for layer in layers.values():
            if not isinstance(layer.weight_quanter, Int8Weight):  # else it was converted before
                _convert_weight(layer, zeros)
        _convert_activations(model, zeros)
    return len(layers)


def _convert_activations(model: Any, zeros: Zeros) -> None:
    """Put fixed scales in the place of learnt clips; what was shared stays shared."""
    fixed: dict[Any, Int8Activation] = {}
    for owner in model.sublayers(include_self=True):
        for name, child in list(owner.named_children()):
            quanter = getattr(child, OUTPUT_QUANTER, None)
            if isinstance(child, paddle.nn.ReLU) and isinstance(quanter, PactActivationLayer):
                setattr(owner, name, Int8ReLU(quanter.scales().numpy(), quanter.quant_axis(), zeros))
            elif isinstance(child, PactActivationLayer) and not isinstance(owner, paddle.nn.ReLU):
                if child not in fixed:
                    fixed[child] = Int8Activation(child.scales().numpy(), child.quant_axis(), zeros)
                setattr(owner, name, fixed[child])


def _convert_weight(layer: QuantedConv2D | QuantedLinear, zeros: Zeros) -> None:
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
    layer.weight_quanter = Int8Weight(scales, axis, zeros)
