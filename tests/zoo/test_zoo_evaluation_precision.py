"""In which precision a network is evaluated while it is trained in a lower one."""

from __future__ import annotations

import contextlib

import paddle
import pytest

from paddlezoo import amp
from paddlezoo.device import Device

pytestmark = [pytest.mark.paddle, pytest.mark.filterwarnings("ignore")]


def test_evaluation_is_in_low_precision_where_the_weights_are(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, str]] = []

    def auto_cast(**options: str) -> contextlib.AbstractContextManager[None]:
        asked.append(options)
        return contextlib.nullcontext()

    monkeypatch.setattr(paddle.device.cuda, "get_device_capability", lambda: (8, 0))
    monkeypatch.setattr(paddle.amp, "auto_cast", auto_cast)
    with amp.choose("O2", "float16", Device("gpu")).evaluating():
        assert asked == [{"level": "O2", "dtype": "float16"}]
    emulated = amp.choose("O2", "float16", Device("cpu"))
    with emulated.evaluating():
        paddle.nn.Conv2D(3, 4, 3)(paddle.rand([1, 3, 8, 8]))
    assert "conv2d" not in emulated.last_line()  # it rounds nothing and counts nothing
    assert len(asked) == 1
