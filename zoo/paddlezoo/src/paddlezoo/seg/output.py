"""The network as it is deployed: one output, with arg-max or softmax appended."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional as F

from paddlezoo import ops


class WithOutput(nn.Layer):
    """A network whose first output is its only one, after `output_op` (argmax, softmax or none)."""

    def __init__(self, network: nn.Layer, output_op: str):
        super().__init__()
        self.network = network
        self.output_op = output_op

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        logits = self.network(x)[0]
        if self.output_op == "argmax":
            return ops.argmax(logits, 1, "int32")
        return F.softmax(logits, axis=1) if self.output_op == "softmax" else logits
