"""oneDNN in fp32: on in most deployments on a CPU."""

from __future__ import annotations

from typing import Any

NAME = "onednn"
PRECISION = "fp32"


def applies(legacy: bool, quantised: bool, used: frozenset[str]) -> bool:
    """To every model."""
    return True


def configure(config: Any) -> None:
    """Newer releases have another name for it."""
    enable = getattr(config, "enable_mkldnn", None) or config.enable_onednn
    enable()
