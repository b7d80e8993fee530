"""What a training with PACT says of its own precision."""

from __future__ import annotations

import paddle
import pytest

from paddlezoo import amp
from paddlezoo.quant import pact

pytestmark = [pytest.mark.paddle, pytest.mark.filterwarnings("ignore")]


def test_only_a_network_that_is_not_quantised_is_float32_throughout() -> None:
    nn = paddle.nn
    model = nn.Sequential(nn.Conv2D(3, 4, 3), nn.Conv2D(4, 4, 3), nn.Flatten(), nn.Linear(64, 2))
    precision = amp.FullPrecision()
    assert precision.first_line(model) == "precision: float32"
    assert precision.last_line() == "precision: float32 throughout"
    quantised = pact.quantise(model, shape=(1, 3, 8, 8))
    assert precision.first_line(quantised) == "precision: float32 arithmetic, int8 simulated"
    said = "precision: float32 arithmetic, int8 simulated in the layers Conv2D 2, Linear 1"
    assert precision.last_line() == said
