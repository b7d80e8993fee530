"""Curves for VisualDL: ``--use_vdl`` writes the figures of the log as scalars, too.

VisualDL is no dependency: ``pip install visualdl`` where it is wanted, then ``visualdl --logdir <folder>``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paddlezoo.errors import ZooError


class Scalars:
    """Writes nothing: what is used without ``--use_vdl``, and in processes that are not the main one."""

    def add(self, group: str, values: Mapping[str, float], step: int) -> None:
        """Points at ``step`` of the curves ``group/name``."""

    def close(self) -> None:
        """Write what is not yet on the disk."""


class VisualDL(Scalars):
    """Writes with VisualDL's ``LogWriter``."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def add(self, group: str, values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            self._writer.add_scalar(tag=f"{group}/{name}", value=value, step=step)

    def close(self) -> None:
        self._writer.close()


def open_scalars(wanted: bool, folder: Path, enabled: bool = True) -> Scalars:
    """The writer for ``--use_vdl``; ZooError where VisualDL is wanted and not installed."""
    if not wanted or not enabled:
        return Scalars()
    try:
        from visualdl import LogWriter
    except ImportError as error:
        raise ZooError(f"--use_vdl needs VisualDL ({error}): pip install visualdl") from None
    return VisualDL(LogWriter(logdir=str(folder)))
