"""Linear layers as convolutions of one point: the same results, and engines that run them in int8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.paddle, pytest.mark.filterwarnings("ignore")]
paddle = pytest.importorskip("paddle")

from paddlezoo import export, seeding  # noqa: E402
from paddlezoo.cls import deploy, pointwise  # noqa: E402
from paddlezoo.predictor import Predictor  # noqa: E402
from paddlezoo.quant import pact  # noqa: E402


def images(count: int) -> paddle.Tensor:
    return paddle.to_tensor(seeding.generator(count).normal(size=(count, 3, 16, 16)).astype("float32"))


def classifier(bias: bool = True) -> paddle.nn.Layer:
    """A convolution and two linear layers, quantised, with clips for what it is given here."""
    seeding.seed_at(0)
    features = [paddle.nn.Conv2D(3, 8, 3), paddle.nn.Hardswish(), paddle.nn.AdaptiveAvgPool2D(1)]
    head = [paddle.nn.Linear(8, 16), paddle.nn.Hardswish(), paddle.nn.Linear(16, 4)]
    if not bias:
        head[0] = paddle.nn.Linear(8, 16, bias_attr=False)
    network = pact.quantise(paddle.nn.Sequential(*features, paddle.nn.Flatten(), *head))
    pact.calibrate(network, [images(4)])
    network.eval()
    return network


@pytest.mark.parametrize("bias", [True, False])
def test_the_network_computes_the_same_as_before(bias: bool) -> None:
    network = classifier(bias)
    before = network(images(4)).numpy()
    assert pointwise.replace(network) == 2
    after = network(images(4)).numpy()
    # A last bit of the first layer may turn a rounding before the second.
    assert np.abs(after - before).max() <= 0.01 * np.abs(before).max()


def test_no_linear_layer_is_left_in_what_is_exported(tmp_path: Path) -> None:
    network = classifier()
    deploy.prepare(network)
    prefix = export.save(network, [None, 3, 16, 16], tmp_path)
    program = paddle.base.core.ProgramDesc(prefix.with_suffix(".pdmodel").read_bytes())
    block = program.block(0)
    operators = [block.op(index).type() for index in range(block.op_size())]
    assert operators.count("conv2d") == 3
    assert not {"matmul_v2", "matmul", "mul", "fc"} & set(operators)


def test_the_exported_model_is_the_simulation_and_engines_agree_with_it(tmp_path: Path) -> None:
    network = classifier()
    deploy.prepare(network)
    prefix = export.save(network, [None, 3, 16, 16], tmp_path)
    expected = network(images(4)).numpy()
    assert np.allclose(Predictor(prefix, "native")(images(4).numpy())[0], expected, atol=1e-6)
    for engine in ("onednn", "openvino"):
        got = Predictor(prefix, engine, "int8")(images(4).numpy())[0]
        assert np.abs(got - expected).max() <= 0.1 * np.abs(expected).max()


def test_preparing_twice_changes_nothing_more() -> None:
    network = classifier()
    deploy.prepare(network)
    once = network(images(4)).numpy()
    deploy.prepare(network)
    assert np.array_equal(network(images(4)).numpy(), once)


def test_a_network_in_fp32_stays_as_it_is() -> None:
    network = paddle.nn.Sequential(paddle.nn.Flatten(), paddle.nn.Linear(8, 4))
    deploy.prepare(network)
    assert isinstance(network[1], paddle.nn.Linear)
