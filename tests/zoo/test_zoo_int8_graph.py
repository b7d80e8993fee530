"""The exported int8 graph has the form that the int8 engine can fuse."""

from __future__ import annotations

from pathlib import Path

import paddle
import pytest

from paddlezoo import export
from paddlezoo.quant import pact

pytestmark = [pytest.mark.paddle, pytest.mark.filterwarnings("ignore")]


def test_every_bias_is_an_addition_along_the_channels_and_scales_are_stored_once(tmp_path: Path) -> None:
    nn = paddle.nn
    model = nn.Sequential(
        nn.Sequential(nn.Conv2D(3, 4, 3, bias_attr=False), nn.BatchNorm2D(4), nn.ReLU()),
        nn.Sequential(nn.Conv2D(4, 4, 3), nn.BatchNorm2D(4), nn.ReLU()),
        nn.Conv2D(4, 2, 1),
    )
    quantised = pact.quantise(model)
    pact.calibrate(quantised, [paddle.rand([2, 3, 16, 16])])
    prefix = export.save(quantised, [None, 3, None, None], tmp_path)
    paddle.enable_static()
    try:
        program = paddle.base.framework.Program.parse_from_string(prefix.with_suffix(".pdmodel").read_bytes())
    finally:
        paddle.disable_static()
    block = program.global_block()
    kinds = [operator.type for operator in block.ops]
    additions = [operator for operator in block.ops if operator.type == "elementwise_add"]
    stored = [name for name, variable in block.vars.items() if variable.persistable]
    assert [operator.attr("axis") for operator in additions] == [1, 1, 1]
    assert "reshape2" not in kinds
    assert "batch_norm" not in kinds
    # Weight, its scales, the clip and the bias of three layers; zero points of one, two and four channels.
    assert len([name for name in stored if name not in ("feed", "fetch")]) == 3 * 4 + 3
