"""The door of weights files: ``paddle.load`` and ``paddle.save``."""

from __future__ import annotations

import os
from typing import Any

from tipc.run.guest.witness.door import Door
from tipc.run.guest.witness.tensors import leaves, weights

MOST = 256  # files of either kind; then the last one is replaced
NOT_WEIGHTS = (".pdopt", ".pdscaler", ".pdstates")


class WeightsFiles(Door):
    """Which weights were read and written. What is done with those read shows at the other doors."""

    name = "paddle.load, paddle.save"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.loads: list[dict[str, Any]] = []
        self.saves: list[dict[str, Any]] = []

    def attach(self, paddle: Any) -> None:
        """Watch both, wherever paddle itself has them."""
        self.paddle = paddle
        self.around(paddle, "load", after=self._loaded)
        self.around(paddle, "save", after=self._saved)
        for module in (paddle.framework, paddle.framework.io):
            module.load = paddle.load
            module.save = paddle.save

    def _loaded(self, _note: None, content: Any, path: Any, *_args: Any, **_kwargs: Any) -> None:
        self._add(self.loads, path, content)

        self.witness.networks.generation += 1  # what networks answer from now on, other weights may answer

    def _saved(self, _note: None, _answer: Any, content: Any, path: Any, *_args: Any, **_kwargs: Any) -> None:
        tensors = self._add(self.saves, path, content)
        if tensors and self.witness.training.steps:
            self.saves[-1].update(self.witness.training.compared(tensors))

    def _add(self, files: list[dict[str, Any]], path: Any, content: Any) -> list[tuple[str, Any]]:
        """Remember a file; the tensors in it."""
        if not isinstance(path, (str, os.PathLike)):
            return []
        name = os.path.abspath(os.fspath(path))
        if name.endswith(NOT_WEIGHTS):
            return []
        import numpy

        core = self.paddle.base.core
        of_programs = getattr(core, "DenseTensor", None) or core.LoDTensor  # paddle 2.6 has the older name
        kinds = (self.paddle.Tensor, numpy.ndarray, of_programs)
        found = list(leaves(content, "", kinds))
        if not found:
            return []
        seen = {"path": name, "weights": weights(found), "at_step": self.witness.training.steps}
        if len(files) < MOST:
            files.append(seen)
        else:
            files[-1] = seen
        return found

    def facts(self, *, final: bool) -> dict[str, Any]:
        """``loads`` and ``saves``."""
        return {"loads": self.loads, "saves": self.saves}
