"""The quanters: activations clipped at a learnt value (PACT), weights a channel; both 8 bits, symmetric.

Built on ``paddle.quantization``, whose own quanters learn no clip and whose converted models oneDNN misreads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import paddle
from paddle import _C_ops
from paddle.nn.quant.qat import QuantedConv2D, QuantedLinear
from paddle.quantization import QAT, BaseQuanter, QuantConfig
from paddle.quantization.factory import QuanterFactory

from paddlezoo.quant import placing

BITS = 8
# Weights are stored in int8 and use ±63 of it: CPUs without VNNI add two products of a weight and an
# activation in
# 16 bits, which the whole range would overflow, and the engines do not say so.
WEIGHT_BITS = 7
ROUND_TO_EVEN = 0  # what paddle's quantize_linear, oneDNN and OpenVINO do
FIRST_CLIP = 6.0  # until ``calibrate`` has seen data
SMALLEST_CLIP = 1e-3


class _Pact(paddle.autograd.PyLayer):
    """Forward: clip to ±alpha and round to 255 levels. Backward: to x inside, to alpha outside."""

    @staticmethod
    def forward(ctx: Any, x: Any, alpha: Any) -> Any:
        clip = paddle.clip(alpha, min=SMALLEST_CLIP)
        ctx.save_for_backward(x, clip)
        ctx.wants_x = not x.stop_gradient
        return _C_ops.fake_quantize_dequantize_moving_average_abs_max(
            x, clip, None, None, 0.9, BITS, True, ROUND_TO_EVEN
        )[0]

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        x, clip = ctx.saved_tensor()
        outside = (x.abs() > clip).astype(gradient.dtype)
        to_alpha = (gradient * outside * x.sign()).sum().reshape([1])
        return (gradient * (1 - outside) if ctx.wants_x else None), to_alpha


class PactActivationLayer(BaseQuanter):
    """Clips activations at ``alpha``, a parameter with a learning rate and an L2 penalty of its own.

    ``alpha_start`` is the value that training started from, so that a checkpoint shows whether the clip was
    learnt.
    """

    def __init__(self, layer: Any, learning_rate: float = 1.0, l2: float = 1e-4) -> None:
        super().__init__()
        self.alpha = self.create_parameter(
            [1],
            attr=paddle.ParamAttr(
                name=paddle.utils.unique_name.generate("pact_alpha"),
                initializer=paddle.nn.initializer.Constant(FIRST_CLIP),
                learning_rate=learning_rate,
                regularizer=paddle.regularizer.L2Decay(l2),
            ),
        )
        self.register_buffer("alpha_start", paddle.full([1], FIRST_CLIP))
        self.seen: float | None = None  # the largest activation while ``calibrate`` looks; None otherwise

    def forward(self, x: Any) -> Any:
        if self.seen is not None:
            self.seen = max(self.seen, float(x.abs().max().item()))
            return x
        return _Pact.apply(x, self.alpha)

    def start_from(self, clip: float) -> None:
        """Set the clip that training starts from."""
        value = np.asarray([max(clip, SMALLEST_CLIP)], "float32")
        self.alpha.set_value(value)
        self.alpha_start.set_value(value)

    def scales(self) -> Any:
        return paddle.clip(self.alpha.detach(), min=SMALLEST_CLIP)

    def zero_points(self) -> Any:
        return paddle.zeros([1])

    def quant_axis(self) -> int:
        return -1

    def bit_length(self) -> int:
        return BITS


class ChannelWeightLayer(BaseQuanter):
    """Rounds weights with a scale for each output channel: the largest magnitude in it."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self._axis = 1 if isinstance(layer, paddle.nn.Linear) else 0

    def forward(self, weight: Any) -> Any:
        return _C_ops.fake_channel_wise_quantize_dequantize_abs_max(
            weight, WEIGHT_BITS, ROUND_TO_EVEN, self._axis
        )[0]

    def scales(self) -> Any:
        return None  # they follow the weights: see ``convert``

    def zero_points(self) -> Any:
        return None

    def quant_axis(self) -> int:
        return self._axis

    def bit_length(self) -> int:
        return BITS


class PactActivation(QuanterFactory):
    """What ``QuantConfig`` is given: makes a ``PactActivationLayer`` for each layer."""

    def _get_class(self) -> type[BaseQuanter]:
        return PactActivationLayer


class ChannelWeight(QuanterFactory):
    """What ``QuantConfig`` is given: makes a ``ChannelWeightLayer`` for each layer."""

    def _get_class(self) -> type[BaseQuanter]:
        return ChannelWeightLayer


def quantise(
    model: Any,
    clip_learning_rate: float = 1.0,
    clip_l2: float = 1e-4,
    shape: Sequence[int] = (1, 3, 64, 64),
) -> Any:
    """The network with every Conv2D and Linear quantised for training; its weights are kept.

    ``clip_learning_rate`` multiplies the optimizer's rate for the clips. ``shape`` is that of an input on
    which the network is run once, to see which layers read the same tensor.
    """
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config(
        [paddle.nn.Conv2D, paddle.nn.Linear],
        activation=PactActivation(learning_rate=clip_learning_rate, l2=clip_l2),
        weight=ChannelWeight(),
    )
    training = model.training
    model.train()
    quantised = QAT(config).quantize(model)
    for each in (model, quantised):
        (each.train if training else each.eval)()
    placing.place(quantised, list(quantised_layers(quantised).values()), shape)
    return quantised


def quantised_layers(model: Any) -> dict[str, Any]:
    """The quantised layers by name."""
    return {
        name: layer
        for name, layer in model.named_sublayers()
        if isinstance(layer, (QuantedConv2D, QuantedLinear))
    }


def calibrate(model: Any, batches: Iterable[Any]) -> int:
    """Set every clip to the largest activation in some batches; returns how many clips were set.

    Done before training on more than one process, so that all of them start from the same clips. The
    network's statistics are left as they were.
    """
    quanters = [layer for layer in model.sublayers() if isinstance(layer, PactActivationLayer)]
    for each in quanters:
        each.seen = 0.0
    training = model.training
    statistics = [(tensor, tensor.numpy()) for tensor in model.state_dict().values() if tensor.stop_gradient]
    model.train()  # batch norm as in training: a new network's own statistics mean nothing yet
    with paddle.no_grad():
        for batch in batches:
            model(batch)
    (model.train if training else model.eval)()
    for tensor, value in statistics:
        tensor.set_value(value)
    count = 0
    for each in quanters:
        if each.seen:
            each.start_from(each.seen)
            count += 1
        each.seen = None
    return count


def clips_moved(weights: dict[str, np.ndarray]) -> tuple[int, int]:
    """How many clips of a checkpoint differ from where they started, and how many there are."""
    alphas = [name for name in weights if name.endswith(".alpha")]
    moved = [name for name in alphas if not np.array_equal(weights[name], weights[f"{name}_start"])]
    return len(moved), len(alphas)
