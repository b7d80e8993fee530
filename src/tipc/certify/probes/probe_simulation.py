"""Runs an exported quantised model in paddle's own kernels, rounded as one of the int8 engines rounds it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

Arrays = dict[str, Any]
KINDS = {"FP32": "float32", "FP16": "float16", "INT64": "int64", "INT32": "int32"}


class Simulation:
    """A program of the older form with parameters of its own, which ``round_anew`` has changed."""

    def __init__(
        self,
        model: str,
        params: str,
        round_anew: Callable[[Any, Any, Any, tuple[str, ...]], None],
        skip: tuple[str, ...],
    ) -> None:
        import paddle

        paddle.enable_static()
        self._scope = paddle.static.Scope()
        place = paddle.CPUPlace()
        self._executor = paddle.static.Executor(place)
        with paddle.static.scope_guard(self._scope):
            self._program, self.names, self._targets = paddle.static.load_inference_model(
                os.path.dirname(model),
                self._executor,
                model_filename=os.path.basename(model),
                params_filename=os.path.basename(params),
            )
            round_anew(self._program, self._scope, place, skip)

    def filled(self, name: str, count: int, value: float) -> Any:
        """An input that nothing is given for."""
        variable = self._program.global_block().var(name)
        shape = []
        for side in variable.shape:
            if side < 0:
                side = count
            shape.append(side)
        kind = str(variable.dtype).rpartition(".")[2]
        return np.full(shape, value, KINDS.get(kind, "float32"))

    def run(self, given: Arrays) -> Arrays:
        """Inputs by name, outputs by name."""
        import paddle

        with paddle.static.scope_guard(self._scope):
            values = self._executor.run(self._program, feed=given, fetch_list=self._targets)
        outputs = {}
        for target, value in zip(self._targets, values):  # noqa: B905 - Python 3.8
            outputs[target.name] = np.array(value)
        return outputs
