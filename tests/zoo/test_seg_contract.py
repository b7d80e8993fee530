"""What every segmentation model promises, for all of them alike."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
from seg_helpers import settle

from paddlezoo import checkpoint
from paddlezoo.models import MODELS
from paddlezoo.predictor import Predictor
from paddlezoo.seg import deploy

pytestmark = pytest.mark.paddle
# Written by benchmarks/seg_parity.py from paddleseg 2.8.0 itself.
PARAMETERS = json.loads(Path(__file__).with_name("seg_parameters.json").read_text())
HEADS = {"pp_liteseg_stdc1": 3, "pp_liteseg_stdc2": 3, "ocrnet_hrnetw18": 2, "ocrnet_hrnetw48": 2}
NAMES = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in MODELS]


@pytest.fixture(scope="module", params=NAMES)
def model(request: pytest.FixtureRequest) -> Iterator[tuple[str, Any]]:
    """A network from a seed, by its name; built once for all tests of it."""
    paddle.seed(1)
    network = MODELS[request.param]()
    settle(network, paddle.to_tensor(batch(64, 64)))
    yield request.param, network
    del network


def batch(height: int, width: int, count: int = 2) -> np.ndarray:
    return np.random.RandomState(0).uniform(-1, 1, (count, 3, height, width)).astype("float32")


def test_it_has_the_parameters_of_paddleseg(model: tuple[str, Any]) -> None:
    name, network = model
    expected = PARAMETERS[name]
    keys = sorted((key, tuple(value.shape)) for key, value in network.state_dict().items())
    trainable = sum(int(np.prod(p.shape)) for p in network.parameters() if not p.stop_gradient)
    assert (len(keys), trainable) == (expected["keys"], expected["trainable"])
    assert hashlib.sha256(repr(keys).encode()).hexdigest() == expected["sha256"]


def test_a_training_step_gives_logits_at_the_input_size_from_every_head_and_gradients(
    model: tuple[str, Any],
) -> None:
    name, network = model
    network.train()
    classes = PARAMETERS[name]["classes"]
    outputs = network(paddle.to_tensor(batch(32, 64)))
    assert [tuple(logits.shape) for logits in outputs] == [(2, classes, 32, 64)] * HEADS.get(name, 1)
    sum(logits.square().mean() for logits in outputs).backward()
    trained = {key: p for key, p in network.named_parameters() if not p.stop_gradient}
    unused = [key for key, p in trained.items() if p.grad is None]
    reached = [key for key, p in trained.items() if p.grad is not None and float(p.grad.abs().max()) > 0]
    network.clear_gradients()
    network.eval()
    # Layers that nothing but published weights needs are the only ones without a gradient.
    assert all("_depthwise_separable_0" in key for key in unused)
    assert len(reached) > 0.9 * (len(trained) - len(unused))


@pytest.mark.parametrize("size", [(61, 83), (33, 32)])
def test_a_size_that_no_stride_divides_is_kept(model: tuple[str, Any], size: tuple[int, int]) -> None:
    name, network = model
    with paddle.no_grad():
        (logits,) = network(paddle.to_tensor(batch(*size, count=1)))
    assert tuple(logits.shape) == (1, PARAMETERS[name]["classes"], *size)
    assert bool(paddle.isfinite(logits).all())


def test_saved_weights_load_into_a_new_network_and_nothing_else_does(
    model: tuple[str, Any], tmp_path: Path
) -> None:
    name, network = model
    path = tmp_path / "model.pdparams"
    checkpoint.write(path, checkpoint.weights_of(network))
    arrays = checkpoint.arrays_in(checkpoint.read(path))
    path.unlink()  # up to 280 MB
    other = MODELS[name]()
    checkpoint.load_weights(other, arrays, path)
    other.eval()
    x = paddle.to_tensor(batch(32, 32, count=1))
    with paddle.no_grad():
        assert np.array_equal(other(x)[0].numpy(), network(x)[0].numpy())
    stranger = MODELS["pphumanseg_lite" if name != "pphumanseg_lite" else "fcn_hrnetw18_small"]()
    with pytest.raises(Exception, match="another model"):
        checkpoint.load_weights(stranger, arrays, path)


def test_the_exported_model_predicts_what_the_network_does(model: tuple[str, Any], tmp_path: Path) -> None:
    _, network = model
    steps = [{"type": "Normalize"}]
    prefix = deploy.save(network, steps, tmp_path, output_op="none", shape=[-1, 3, -1, -1])
    x = batch(48, 64)
    with paddle.no_grad():
        expected = network(paddle.to_tensor(x))[0].numpy()
    allowed = 1e-4 * max(1.0, np.abs(expected).max())
    for engine in ("native", "onednn"):
        predict = Predictor(prefix, engine, skip_passes=[deploy.SLOW_PASS])
        for rows in (x, x[:1]):
            (got,) = predict(rows)
            wanted = expected[: len(rows)]
            assert np.abs(got - wanted).max() <= allowed, engine
            assert (got.argmax(1) == wanted.argmax(1)).mean() >= 0.999, engine
