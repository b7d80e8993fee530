"""Where activations are quantised: a tensor at a time, so that all who read it read the same values.

Engines keep one scale a tensor. If every layer rounded what it reads for itself, oneDNN would take the first
of their scales for all of them, OpenVINO would round once for each, and a residual sum would read what was
not rounded at all, which is then kept in float beside the integers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import paddle

OUTPUT_QUANTER = "output_quanter"  # the attribute of the layer that made a tensor
# Folding a batch norm takes these layers away or moves them.
NOT_MAKERS = (paddle.nn.Conv2D, paddle.nn.BatchNorm2D, paddle.nn.SyncBatchNorm)


class Trace:
    """Who made and who read which tensor in one forward pass."""

    def __init__(self, model: Any, readers: Sequence[Any], shape: Sequence[int]) -> None:
        self.tensors: dict[int, Any] = {}  # all are kept: no two may have the same identity
        self.makers: dict[int, list[Any]] = defaultdict(list)  # innermost layer first
        self.readers: dict[int, list[Any]] = defaultdict(list)
        self.calls: Counter[Any] = Counter()
        hooks = [layer.register_forward_post_hook(self._made) for layer in model.sublayers()]
        hooks += [layer.register_forward_pre_hook(self._read) for layer in readers]
        training = model.training
        model.eval()
        with paddle.no_grad():
            model(paddle.zeros([*shape]))
        (model.train if training else model.eval)()
        for hook in hooks:
            hook.remove()

    def _made(self, layer: Any, _: Any, output: Any) -> None:
        self.calls[layer] += 1
        if isinstance(output, paddle.Tensor):
            self.tensors[id(output)] = output
            self.makers[id(output)].append(layer)

    def _read(self, layer: Any, inputs: Sequence[Any]) -> None:
        self.tensors[id(inputs[0])] = inputs[0]
        self.readers[id(inputs[0])].append(layer)


def place(model: Any, layers: Sequence[Any], shape: Sequence[int]) -> None:
    """Give each tensor that quantised layers read one quanter, in place; ``shape`` is that of an input.

    It goes to the layer that made the tensor, or is shared by the readers where no layer did (a
    concatenation). A layer that is called more than once keeps its own.
    """
    trace = Trace(model, layers, shape)
    quantised = set(layers)
    for tensor, readers in trace.readers.items():
        readers = [layer for layer in readers if trace.calls[layer] == 1]
        if not readers:
            continue
        quanter = readers[0].activation_quanter
        makers = (one for one in trace.makers[tensor] if trace.calls[one] == 1)
        maker = next(
            (one for one in makers if one not in quantised and not isinstance(one, NOT_MAKERS)), None
        )
        for layer in readers:
            layer.activation_quanter = None if maker else quanter
        if maker:
            maker.add_sublayer(OUTPUT_QUANTER, quanter)
            maker.register_forward_post_hook(quantise_output)


def quantise_output(layer: Any, _: Any, output: Any) -> Any:
    """A hook: what the layer gives, rounded."""
    return getattr(layer, OUTPUT_QUANTER)(output)
