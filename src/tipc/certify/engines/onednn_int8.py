"""oneDNN in int8, for quantised models."""

from __future__ import annotations

from typing import Any

NAME = "onednn-int8"
PRECISION = "int8"
# With no operators named, oneDNN's int8 pass also takes those that it cannot do (concat of a segmentation).
OPERATORS = {"conv2d", "depthwise_conv2d", "fused_conv2d"}


def applies(legacy: bool, quantised: bool, used: frozenset[str]) -> bool:
    """Only the older form can be exported with quantisers."""
    return legacy and quantised


def configure(config: Any) -> None:
    """int8 is a setting of oneDNN."""
    config.enable_mkldnn()
    config.enable_mkldnn_int8(OPERATORS)
