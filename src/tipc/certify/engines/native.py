"""Paddle's own kernels, without oneDNN: what other engines are compared with."""

from __future__ import annotations

from typing import Any

NAME = "native"
PRECISION = "fp32"


def applies(legacy: bool, quantised: bool, used: frozenset[str]) -> bool:
    """To every model."""
    return True


def configure(config: Any) -> None:
    """oneDNN is on by default in some releases."""
    for name in ("disable_mkldnn", "disable_onednn"):
        if hasattr(config, name):
            getattr(config, name)()
