"""OpenVINO inside Paddle Inference, where the deployment uses it: it compiles, which takes seconds."""

from __future__ import annotations

from typing import Any

NAME = "openvino"
PRECISION = "fp32"


def applies(legacy: bool, quantised: bool, used: frozenset[str]) -> bool:
    """It reads the older form only."""
    return legacy and not quantised and NAME in used


def configure(config: Any) -> None:
    """Threads are set by the caller."""
    config.enable_openvino_engine()
