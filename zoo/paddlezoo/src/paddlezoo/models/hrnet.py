"""HRNet (Wang et al., Deep High-Resolution Representation Learning for Visual Recognition, TPAMI 2020,
https://arxiv.org/abs/1908.07919): up to four branches at strides 4, 8, 16 and 32 that run side by side and
exchange what they have after every module. Sub-layers are added by name because these names are in published
weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import paddle
from paddle import nn

from paddlezoo.models.layers import ConvBN, ConvBNReLU, resize_to, size_of


@dataclass(frozen=True)
class HRNetSize:
    """How wide and deep: channels of the four branches, basic blocks a branch, modules in stages 2, 3 and
    4."""

    channels: tuple[int, int, int, int]
    blocks: int = 4
    modules: tuple[int, int, int] = (1, 4, 3)
    stem_blocks: int = 4
    stem_channels: int = 64


W18 = HRNetSize((18, 36, 72, 144))
W48 = HRNetSize((48, 96, 192, 384))
W18_SMALL_V1 = HRNetSize((16, 32, 64, 128), blocks=2, modules=(1, 1, 1), stem_blocks=1, stem_channels=32)


def start_as_shortcut(last: ConvBN) -> None:
    """Let a block begin as its shortcut, by its last layer: a hundred layers of random numbers, one behind
    the other, make too much of every rounding."""
    nn.initializer.Constant(0.0)(last._batch_norm.weight)


class Bottleneck(nn.Layer):
    """1x1, 3x3, 1x1 and a shortcut; the first block of the stem widens the shortcut too."""

    def __init__(self, in_channels: int, channels: int, widen: bool, padding: Any):
        super().__init__()
        self.conv1 = ConvBNReLU(in_channels, channels, 1, bias_attr=False)
        self.conv2 = ConvBNReLU(channels, channels, 3, padding, bias_attr=False)
        self.conv3 = ConvBN(channels, channels * 4, 1, bias_attr=False)
        start_as_shortcut(self.conv3)
        self.relu = nn.ReLU()
        self.widen = widen
        if widen:
            self.conv_down = ConvBN(in_channels, channels * 4, 1, bias_attr=False)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        shortcut = self.conv_down(x) if self.widen else x
        return self.relu(paddle.add(self.conv3(self.conv2(self.conv1(x))), shortcut))


class BasicBlock(nn.Layer):
    """Two 3x3 convolutions and a shortcut."""

    def __init__(self, channels: int, padding: Any):
        super().__init__()
        self.conv1 = ConvBNReLU(channels, channels, 3, padding, bias_attr=False)
        self.conv2 = ConvBN(channels, channels, 3, padding, bias_attr=False)
        start_as_shortcut(self.conv2)
        self.relu = nn.ReLU()

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.relu(paddle.add(self.conv2(self.conv1(x)), x))


class Stem(nn.Layer):
    """Bottleneck blocks at stride 4, before the branches part."""

    def __init__(self, size: HRNetSize, padding: Any):
        super().__init__()
        self._names = [f"bb_layer2_{index + 1}" for index in range(size.stem_blocks)]
        for index, name in enumerate(self._names):
            in_channels = 64 if index == 0 else size.stem_channels * 4
            self.add_sublayer(name, Bottleneck(in_channels, size.stem_channels, index == 0, padding))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        for name in self._names:
            x = getattr(self, name)(x)
        return x


class Transition(nn.Layer):
    """From n branches to n + 1: the new one is the last, halved; a branch whose width changes gets a
    convolution."""

    def __init__(self, name: str, before: tuple[int, ...], after: tuple[int, ...], padding: Any):
        super().__init__()
        self._layers: list[tuple[int, str]] = []
        for index, channels in enumerate(after):
            source = min(index, len(before) - 1)
            layer = f"transition_{name}_layer_{index + 1}"
            if index >= len(before) or before[index] != channels:
                stride = 2 if index >= len(before) else 1
                options = {"stride": stride, "bias_attr": False}
                self.add_sublayer(layer, ConvBNReLU(before[source], channels, 3, padding, **options))
            else:
                layer = ""
            self._layers.append((source, layer))

    def forward(self, branches: list[paddle.Tensor]) -> list[paddle.Tensor]:
        return [
            getattr(self, layer)(branches[source]) if layer else branches[source]
            for source, layer in self._layers
        ]


class Branches(nn.Layer):
    """The basic blocks of each branch."""

    def __init__(self, name: str, channels: tuple[int, ...], blocks: int, padding: Any):
        super().__init__()
        self._names = [
            [f"bb_{name}_branch_layer_{branch + 1}_{block + 1}" for block in range(blocks)]
            for branch in range(len(channels))
        ]
        for width, names in zip(channels, self._names, strict=True):
            for layer in names:
                self.add_sublayer(layer, BasicBlock(width, padding))

    def forward(self, branches: list[paddle.Tensor]) -> list[paddle.Tensor]:
        outputs = []
        for x, names in zip(branches, self._names, strict=True):
            for layer in names:
                x = getattr(self, layer)(x)
            outputs.append(x)
        return outputs


class Fuse(nn.Layer):
    """Give each branch the sum of all: coarser ones by a 1x1 convolution and upsampling, finer ones by
    strides."""

    def __init__(self, name: str, channels: tuple[int, ...], padding: Any):
        super().__init__()
        self.activations = nn.LayerList([nn.ReLU() for _ in channels])
        self._paths: dict[tuple[int, int], list[str]] = {}
        for to, width in enumerate(channels):
            for source, source_width in enumerate(channels):
                path = f"residual_{name}_layer_{to + 1}_{source + 1}"
                if source > to:
                    self.add_sublayer(path, ConvBN(source_width, width, 1, bias_attr=False))
                    self._paths[to, source] = [path]
                elif source < to:
                    steps = [f"{path}_{step + 1}" for step in range(to - source)]
                    options = {"stride": 2, "bias_attr": False}
                    for step in steps[:-1]:
                        self.add_sublayer(step, ConvBNReLU(source_width, source_width, 3, padding, **options))
                    self.add_sublayer(steps[-1], ConvBN(source_width, width, 3, padding, **options))
                    self._paths[to, source] = steps

    def forward(self, branches: list[paddle.Tensor]) -> list[paddle.Tensor]:
        outputs = []
        for to, total in enumerate(branches):
            size = size_of(total)
            for source, x in enumerate(branches):
                if source == to:
                    continue
                for layer in self._paths[to, source]:
                    x = getattr(self, layer)(x)
                total = paddle.add(total, resize_to(x, size) if source > to else x)
            outputs.append(self.activations[to](total))
        return outputs


class Module(nn.Layer):
    """Branches, then the exchange between them."""

    def __init__(self, name: str, channels: tuple[int, ...], blocks: int, padding: Any):
        super().__init__()
        self.branches_func = Branches(name, channels, blocks, padding)
        self.fuse_func = Fuse(name, channels, padding)

    def forward(self, branches: list[paddle.Tensor]) -> list[paddle.Tensor]:
        return self.fuse_func(self.branches_func(branches))


class Stage(nn.Layer):
    """Several modules in a row."""

    def __init__(self, name: str, channels: tuple[int, ...], size: HRNetSize, modules: int, padding: Any):
        super().__init__()
        self._names = [f"stage_{name}_{index + 1}" for index in range(modules)]
        for index, layer in enumerate(self._names):
            self.add_sublayer(layer, Module(f"{name}_{index + 1}", channels, size.blocks, padding))

    def forward(self, branches: list[paddle.Tensor]) -> list[paddle.Tensor]:
        for layer in self._names:
            branches = getattr(self, layer)(branches)
        return branches


class HRNet(nn.Layer):
    """The backbone; gives one feature at stride 4, all branches side by side.

    `padding_same` pads a strided convolution on the right and below only, as PaddleSeg does by default;
    without it the padding is one on every side. Weights are trained for one of the two.
    """

    def __init__(self, size: HRNetSize, padding_same: bool = True):
        super().__init__()
        padding = "same" if padding_same else 1
        channels = size.channels
        self.feat_channels = (sum(channels),)
        self.conv_layer1_1 = ConvBNReLU(3, 64, 3, padding, stride=2, bias_attr=False)
        self.conv_layer1_2 = ConvBNReLU(64, 64, 3, padding, stride=2, bias_attr=False)
        self.la1 = Stem(size, padding)
        self.tr1 = Transition("tr1", (size.stem_channels * 4,), channels[:2], padding)
        self.st2 = Stage("st2", channels[:2], size, size.modules[0], padding)
        self.tr2 = Transition("tr2", channels[:2], channels[:3], padding)
        self.st3 = Stage("st3", channels[:3], size, size.modules[1], padding)
        self.tr3 = Transition("tr3", channels[:3], channels, padding)
        self.st4 = Stage("st4", channels, size, size.modules[2], padding)

    def forward(self, x: paddle.Tensor) -> list[paddle.Tensor]:
        x = self.la1(self.conv_layer1_2(self.conv_layer1_1(x)))
        branches = self.st2(self.tr1([x]))
        branches = self.st3(self.tr2(branches))
        finest, *coarser = self.st4(self.tr3(branches))
        size = size_of(finest)
        return [paddle.concat([finest, *(resize_to(x, size) for x in coarser)], axis=1)]
