"""oneDNN in int8, for quantised models."""

from __future__ import annotations

from typing import Any

NAME = "onednn-int8"
PRECISION = "int8"
# With no operators named, oneDNN's int8 pass also takes those that it cannot do (concat of a segmentation).
OPERATORS = {"conv2d", "depthwise_conv2d", "fused_conv2d"}
UNSIGNED = ("relu", "relu6")  # what comes out of these is never negative
LARGEST = 127
CONVOLUTIONS = ("conv2d", "depthwise_conv2d")
# What becomes a part of the convolution before it, besides a bias.
JOINED = (
    *("batch_norm", "relu", "relu6", "leaky_relu", "swish", "hard_swish", "hard_sigmoid", "sigmoid", "mish"),
    *("gelu", "tanh"),
)
JOINS_SUMS = "conv_elementwise_add_onednn_fuse_pass"  # a shortcut, too


def applies(legacy: bool, quantised: bool, used: frozenset[str]) -> bool:
    """Only the older form can be exported with quantisers."""
    return legacy and quantised


def configure(config: Any) -> None:
    """int8 is a setting of oneDNN."""
    config.enable_mkldnn()
    config.enable_mkldnn_int8(OPERATORS)


def round_anew(program: Any, scope: Any, place: Any, skip: Any = ()) -> None:
    """Round weights and activations of a quantised program as oneDNN does, for paddle's own kernels;
    ``skip`` names the passes that the deployment leaves out.

    paddle's passes for oneDNN make floats of the stored weights, and integers again with 127 as the largest
    of each channel: a model that stores up to 63 is rounded once more. What comes out of a ReLU is kept
    without a sign, in 255 steps instead of 127. And they take all quantisers out and put new ones around the
    convolutions: what reads the same value in floats, a sum with a shortcut say, gets it as it was.
    """
    operators = program.global_block().ops
    makers = {}
    for operator in operators:
        for name in operator.output_arg_names:
            makers[name] = operator
    for operator in operators:
        if operator.type == "dequantize_linear" and operator.input("X")[0] not in makers:
            _use_whole_range(operator, scope, place)
        elif operator.type == "quantize_linear":
            maker = makers.get(operator.input("X")[0])
            if maker is not None and maker.type in UNSIGNED:
                _double_steps(operator, operators)
    _leave_floats_alone(program.global_block(), makers, sums_joined=JOINS_SUMS not in skip)


def _leave_floats_alone(block: Any, makers: dict[str, Any], *, sums_joined: bool) -> None:
    """What does not compute in int8 reads values that were not rounded, unless a convolution made them: its
    own result is kept in 8 bits for everybody."""
    for operator in block.ops:
        source = operator.input("X")[0] if operator.type == "quantize_linear" else ""
        if source not in makers or _by_convolution(source, makers, block):
            continue
        for rounded in _read_back(operator, block.ops):
            for reader in block.ops:
                if rounded not in reader.input_arg_names or reader.type in CONVOLUTIONS:
                    continue
                if not (sums_joined and _joins_a_convolution(reader, makers, block)):
                    reader._rename_input(rounded, source)


def _read_back(quantiser: Any, operators: Any) -> list[str]:
    """The floats that are made of what a quantiser makes."""
    made = quantiser.output("Y")[0]
    found = []
    for operator in operators:
        if operator.type == "dequantize_linear" and operator.input("X")[0] == made:
            found.append(operator.output("Y")[0])
    return found


def _by_convolution(name: str, makers: dict[str, Any], block: Any) -> bool:
    """Whether a value is the result of a convolution, with its bias and activation."""
    operator = makers.get(name)
    while operator is not None:
        if operator.type in CONVOLUTIONS:
            return True
        bias = operator.type == "elementwise_add" and block.var(operator.input("Y")[0]).persistable
        if not bias and operator.type not in JOINED:
            return False
        operator = makers.get(operator.input("X")[0])
    return False


def _joins_a_convolution(operator: Any, makers: dict[str, Any], block: Any) -> bool:
    """Whether an operator is a sum that becomes a part of a convolution, which then reads in int8."""
    if operator.type != "elementwise_add":
        return False
    return any(_by_convolution(name, makers, block) for name in operator.input_arg_names)


def _use_whole_range(operator: Any, scope: Any, place: Any) -> None:
    """Give the stored weights of a layer the whole range of int8, and their scales what fits to that."""
    import numpy as np

    stored = scope.find_var(operator.input("X")[0]).get_tensor()
    scales = scope.find_var(operator.input("Scale")[0]).get_tensor()
    weights, factors = np.array(stored), np.array(scales)
    if weights.dtype != np.int8:
        return
    axis = operator.attr("quant_axis")
    if factors.size == 1:
        peaks = np.abs(weights.astype("float64")).max().reshape(1)
        shape = [1] * weights.ndim
    else:
        channels = np.moveaxis(weights.astype("float64"), axis, 0)
        peaks = np.abs(channels.reshape(len(channels), -1)).max(axis=1)
        shape = [1] * weights.ndim
        shape[axis] = -1
    peaks = np.where(peaks == 0, LARGEST, peaks)  # a channel of zeros stays one
    anew = np.rint(weights * (LARGEST / peaks).reshape(shape))
    stored.set(anew.astype("int8"), place)
    scales.set((factors * peaks / LARGEST).astype(factors.dtype), place)


def _double_steps(operator: Any, operators: Any) -> None:
    """One bit more, for the operator and for those that read what it makes."""
    made = operator.output("Y")[0]
    changed = [operator]
    for one in operators:
        if one.type == "dequantize_linear" and one.input("X")[0] == made:
            changed.append(one)
    for one in changed:
        one._set_attr("bit_length", 9)
        one._set_attr("qmin", -256)
        one._set_attr("qmax", 255)
