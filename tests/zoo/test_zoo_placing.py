"""Every tensor that quantised layers read is rounded once, where it is made if a layer made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
from paddle import nn

from paddlezoo import checkpoint, export, predictor, unsigned
from paddlezoo.quant import convert, pact

pytestmark = [pytest.mark.paddle, pytest.mark.filterwarnings("ignore")]
SHAPE = (1, 3, 8, 8)


class Residual(nn.Layer):
    """Two convolutions and an addition read the same tensor, the output of ``relu``."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2D(3, 4, 3, padding=1, bias_attr=False), nn.BatchNorm2D(4))
        self.relu = nn.ReLU()
        self.left, self.right = nn.Conv2D(4, 4, 1), nn.Conv2D(4, 4, 1)

    def forward(self, x: Any) -> Any:
        x = self.relu(self.stem(x))
        return self.left(x) + self.right(x) + x


class Joined(nn.Layer):
    """Two convolutions read a concatenation, which no layer made; ``twice`` is called on two tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.twice = nn.Conv2D(3, 3, 1)
        self.left, self.right = nn.Conv2D(6, 4, 1), nn.Conv2D(6, 4, 1)

    def forward(self, x: Any) -> Any:
        both = paddle.concat([self.twice(x), self.twice(x + 1)], axis=1)
        return self.left(both) * self.right(both)


class Plain(nn.Layer):
    """A convolution reads the output of a batch norm, which folding takes away."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2D(3, 4, 3, bias_attr=False), nn.BatchNorm2D(4))
        self.second = nn.Conv2D(4, 2, 1)

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x))


def quantised(model: nn.Layer) -> nn.Layer:
    paddle.seed(3)
    model = pact.quantise(model, shape=SHAPE)
    pact.calibrate(model, [paddle.rand([2, *SHAPE[1:]])])
    model.eval()
    return model


def quanters(model: nn.Layer) -> list[pact.PactActivationLayer]:
    return [layer for layer in model.sublayers() if isinstance(layer, pact.PactActivationLayer)]


def test_what_a_layer_made_is_rounded_there_for_all_who_read_it() -> None:
    model = quantised(Residual())
    assert isinstance(model.relu.output_quanter, pact.PactActivationLayer)
    assert model.left.activation_quanter is None
    assert model.right.activation_quanter is None
    assert len(quanters(model)) == 2  # the image and the output of relu
    x = paddle.rand(SHAPE)
    for layer in (model.left, model.right):
        layer.weight.set_value(paddle.zeros_like(layer.weight))
        layer.bias.set_value(paddle.zeros_like(layer.bias))
    steps = model(x).numpy() / (model.relu.output_quanter.scales().numpy() / 127)
    assert np.allclose(steps, np.rint(steps), atol=1e-3), "the sum reads rounded values as well"


def test_readers_of_what_no_layer_made_share_a_quanter_and_a_layer_called_twice_has_its_own() -> None:
    model = quantised(Joined())
    assert model.left.activation_quanter is model.right.activation_quanter
    assert model.twice.activation_quanter is not model.left.activation_quanter
    assert len(quanters(model)) == 2
    assert len([one for one in model.parameters() if "pact_alpha" in one.name]) == 2
    other = pact.quantise(Joined(), shape=SHAPE)
    checkpoint.load_weights(other, checkpoint.weights_of(model), "a checkpoint")
    x = paddle.rand(SHAPE)
    other.eval()
    assert np.array_equal(other(x).numpy(), model(x).numpy())


@pytest.mark.parametrize("kind", [Residual, Joined, Plain])
def test_folding_and_conversion_keep_every_quanter(kind: type[nn.Layer], tmp_path: Path) -> None:
    model = quantised(kind())
    count = len(quanters(model))
    x = paddle.rand(SHAPE)
    before = model(x).numpy()
    convert.to_int8(model)
    assert not quanters(model)
    fixed = [layer for layer in model.sublayers() if isinstance(layer, convert.Int8Activation)]
    assert len(fixed) == count
    assert np.allclose(model(x).numpy(), before, atol=0.05)
    prefix = export.save(model, [None, *SHAPE[1:]], tmp_path)
    assert export.largest_difference(model, prefix, x.numpy()) <= 1e-6


def test_behind_a_relu_values_are_clipped_and_kept_without_a_sign(tmp_path: Path) -> None:
    model = quantised(Residual())
    model.relu.output_quanter.start_from(0.1)  # most of what comes is above it
    convert.to_int8(model)
    assert isinstance(model.relu, convert.Int8ReLU)
    x = paddle.rand(SHAPE)
    expected = model(x).numpy()
    prefix = export.save(model, [None, *SHAPE[1:]], tmp_path)
    assert export.largest_difference(model, prefix, x.numpy()) <= 1e-6
    assert unsigned.without_signs(predictor._read_program(prefix)) == 1
    openvino = predictor.Predictor(prefix, "openvino", "int8")
    for count in (1, 2, 1):  # compiled for the first shape, then for all
        answer = openvino(np.concatenate([x.numpy()] * count))[0]
        assert np.allclose(answer[-1:], expected, atol=1e-4), "OpenVINO clips where the simulation does"
    # oneDNN has twice as many steps behind a ReLU and scales the weights anew: close, and clipped as well.
    onednn = predictor.Predictor(prefix, "onednn", "int8")(x.numpy())[0]
    assert np.abs(onednn - expected).mean() < 0.02 * np.abs(expected).max()


def test_a_network_in_training_stays_in_training_and_its_statistics_stay() -> None:
    model = Plain()
    model.train()
    model = pact.quantise(model, shape=SHAPE)
    assert model.training
    assert model.first[1].training
    assert np.array_equal(model.first[1]._mean.numpy(), np.zeros(4, "float32"))
