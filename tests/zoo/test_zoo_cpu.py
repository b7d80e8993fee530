"""What is computed faster on a CPU is what paddle computes, forward and backward."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
from paddle.nn import functional as F

from paddlezoo import amp_emulation, cpu
from paddlezoo.models import layers
from paddlezoo.seg import pixel_losses

pytestmark = pytest.mark.paddle


def with_gradient(function: Any, x: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The value of a function, and the gradient of its weighted sum."""
    tensor = paddle.to_tensor(x, stop_gradient=False)
    value = function(tensor)
    (value * paddle.to_tensor(weight)).sum().backward()
    assert np.array_equal(tensor.numpy(), x)
    return value.numpy(), tensor.grad.numpy()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ((8, 8), (64, 64)),
        ((5, 7), (61, 83)),
        ((1, 1), (9, 4)),
        ((33, 20), (16, 9)),
        ((6, 6), (6, 12)),
        ((130, 3), (140, 5)),
    ],
)
def test_logits_are_resized_as_by_paddles_bilinear_interpolation(
    old: tuple[int, int], new: tuple[int, int]
) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(2, 3, *old)).astype("float32")
    weight = random.normal(size=(2, 3, *new)).astype("float32")
    ours = with_gradient(lambda t: layers.resize_logits(t, list(new), training=True), x, weight)
    theirs = with_gradient(
        lambda t: F.interpolate(t, list(new), mode="bilinear", align_corners=False), x, weight
    )
    for mine, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, expected, atol=2e-6 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("spread", [1.0, 8.0])
def test_the_cross_entropy_of_a_pixel_is_paddles(spread: float) -> None:
    random = np.random.default_rng(0)
    logits = (spread * random.normal(size=(2, 5, 9, 7))).astype("float32")
    label = random.integers(0, 5, (2, 9, 7))
    label[:, :2] = 255
    weight = random.normal(size=(2, 9, 7)).astype("float32")
    truth = paddle.to_tensor(label)

    def plain(x: Any) -> Any:
        return F.cross_entropy(x, truth.unsqueeze(1), ignore_index=255, axis=1, reduction="none").squeeze(1)

    ours = with_gradient(lambda x: pixel_losses.cross_entropy(x, truth), logits, weight)
    for mine, expected in zip(ours, with_gradient(plain, logits, weight), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-5)
    assert not ours[0][:, :2].any()
    assert not ours[1][:, :, :2].any()


def test_very_unlikely_pixels_keep_their_loss() -> None:
    """paddle's own stops at 64."""
    logits = np.array([300.0, -500.0], "float32").reshape(1, 2, 1, 1)
    label = paddle.ones([1, 1, 1], "int64")
    value, gradient = with_gradient(
        lambda x: pixel_losses.cross_entropy(x, label), logits, np.ones((1, 1, 1), "float32")
    )
    assert value.item() == 800
    assert gradient.ravel().tolist() == [1, -1]


def test_a_label_out_of_range_is_not_taken_for_another_class() -> None:
    with pytest.raises(IndexError):
        pixel_losses.cross_entropy(paddle.zeros([1, 3, 2, 2]), paddle.full([1, 2, 2], 3, "int64"))


def test_emulated_mixed_precision_and_exported_graphs_keep_paddles_operators() -> None:
    x = paddle.zeros([1, 2, 4, 4])
    assert cpu.takes_over(x, "bilinear_interp")
    assert not cpu.takes_over(x.astype("float64"), "bilinear_interp")
    with amp_emulation.rounding("O2", "float16", counts := amp_emulation.Counts()):
        assert not cpu.takes_over(x, "bilinear_interp")
        layers.resize_logits(x, [8, 8], training=True)
    assert counts.low["bilinear_interp"] == 1
    paddle.enable_static()
    try:
        assert not cpu.takes_over(x, "bilinear_interp")
    finally:
        paddle.disable_static()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vendor_id : AuthenticAMD\nflags : fpu fma avx2", True),
        ("vendor_id : GenuineIntel\nflags : fpu fma avx2", False),
        ("vendor_id : AuthenticAMD\nflags : fpu avx", False),
        (None, False),
    ],
)
def test_mkl_is_told_of_avx2_where_it_does_not_look(text: str | None, expected: bool, tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    if text is not None:
        info.write_text(text)
    assert cpu.has_avx2_that_mkl_leaves_unused(info) is expected


def test_a_setting_of_mkl_that_is_there_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cpu.MKL_SWITCH, "3")
    cpu.tune()
    assert os.environ[cpu.MKL_SWITCH] == "3"


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("flags : avx512f amx_tile amx_int8", None, "AVX512_CORE_FP16"),
        ("flags : avx512f amx_tile amx_int8", "AVX2", "AVX2"),
        ("flags : avx512f avx512_vnni", None, None),
        (None, None, None),
    ],
)
def test_openvino_is_kept_from_amx_where_there_is_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, before: str | None, after: str | None
) -> None:
    info = tmp_path / "cpuinfo"
    if text is not None:
        info.write_text(text)
    monkeypatch.delenv(cpu.ONEDNN_SWITCH, raising=False)
    if before is not None:
        monkeypatch.setenv(cpu.ONEDNN_SWITCH, before)
    cpu.leave_amx_out(info)
    assert os.environ.get(cpu.ONEDNN_SWITCH) == after
    monkeypatch.delenv(cpu.ONEDNN_SWITCH, raising=False)
