"""An exported model: does it load, what goes in, and what is quantised?"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

CONVOLUTIONS = ("conv2d", "depthwise_conv2d", "conv2d_transpose", "fused_conv2d")
PRODUCTS = ("matmul_v2", "matmul", "mul", "fc", "linear")


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """What the model ``structure`` is made of."""
    structure = question["structure"]
    if not structure:
        raise FileNotFoundError(
            f"no structure ({question['endings']}) with parameters in {question['model_dir']}"
        )
    params = question["params"]
    reply = {"structure": os.path.basename(structure), "parameters": os.path.basename(params)}
    if structure.endswith(".json"):
        return {**reply, **_inspect_pir(structure, os.path.splitext(structure)[0])}
    return {**reply, **_inspect_legacy(structure, params)}


def _inspect_legacy(structure: str, params: str) -> dict[str, Any]:
    import paddle

    paddle.enable_static()
    try:
        scope = paddle.static.Scope()
        with paddle.static.scope_guard(scope):
            executor = paddle.static.Executor(paddle.CPUPlace())
            program, inputs, outputs = paddle.static.load_inference_model(
                os.path.dirname(structure),
                executor,
                model_filename=os.path.basename(structure),
                params_filename=os.path.basename(params),
            )
            block = program.global_block()
            names = [var.name for var in block.vars.values() if var.persistable]
            arrays = {}
            for name in names:
                var = scope.find_var(name)
                if var is not None and name not in ("feed", "fetch"):
                    arrays[name] = np.array(var.get_tensor())
            shapes = {}
            for name in inputs:
                shapes[name] = [int(size) for size in block.var(name).shape]
            operators: dict[str, int] = {}
            for op in block.ops:
                operators[op.type] = operators.get(op.type, 0) + 1
            return {
                "inputs": shapes,
                "outputs": len(outputs),
                "operators": operators,
                "layers": _layers(block, arrays),
            }
    finally:
        paddle.disable_static()


def _layers(block: Any, arrays: dict[str, Any]) -> list[dict[str, Any]]:
    """Every convolution and linear layer, and how its weight and its input are quantised."""
    producer = {}
    for op in block.ops:
        for name in op.output_arg_names:
            producer[name] = op
    found = []
    for op in block.ops:
        slot = _slot(op, ("Filter", "Y", "W", "weight"))
        if op.type not in (*CONVOLUTIONS, *PRODUCTS) or not slot:
            continue
        source, chain = _origin(op.input(slot)[0], producer)
        if source not in arrays:
            continue  # a product of two activations: no layer
        _, incoming = _origin(op.input(_slot(op, ("Input", "X")))[0], producer)
        layer = {"op": op.type, "weight": source, "dtype": str(arrays[source].dtype)}
        layer["activation_bits"] = _bits(_quantiser(incoming))
        layer.update(_quantisation(_quantiser(chain), arrays[source], arrays))
        found.append(layer)
    return found


def _slot(op: Any, names: tuple[str, ...]) -> str:
    """The first of these inputs that an operator has; empty: none."""
    for name in names:
        if name in op.input_names:
            return name
    return ""


def _quantiser(chain: list[Any]) -> Any:
    for op in chain:
        if "quantize" in op.type:
            return op
    return None


def _quantisation(quantiser: Any, weight: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """In how many bits a weight is stored, and how."""
    bits = _bits(quantiser)
    if not bits and weight.dtype == np.int8:
        bits = 8
    if not bits:
        return {"bits": 0}
    scale = _scale(quantiser, arrays)
    axis = 0
    if quantiser is not None and quantiser.has_attr("quant_axis"):
        axis = int(quantiser.attr("quant_axis"))
    return {
        "bits": bits,
        "per_channel": scale is not None and scale.size > 1,
        "on_grid": _on_grid(weight, scale, axis, bits),
    }


def _origin(name: str, producer: dict[str, Any]) -> tuple[str, list[Any]]:
    """Where a value comes from, through the quantisers (and views) that lie between."""
    chain: list[Any] = []
    while name in producer and len(chain) < 8:
        op = producer[name]
        if "quantize" not in op.type and op.type not in ("reshape2", "transpose2", "cast", "assign"):
            break
        chain.append(op)
        name = op.input("X")[0]
    return name, chain


def _bits(op: Any) -> int:
    if op is None:
        return 0
    return int(op.attr("bit_length")) if op.has_attr("bit_length") else 8


def _scale(op: Any, arrays: dict[str, Any]) -> Any:
    for slot in ("Scale", "InScale", "Scales"):
        if op is not None and slot in op.input_names and op.input(slot):
            return arrays.get(op.input(slot)[0])
    return None


def _on_grid(array: Any, scale: Any, axis: int, bits: int) -> bool | None:
    """The values are whole multiples of their step: int8 as such, integers in float, or a scaled grid."""
    top = 2 ** (bits - 1) - 1
    if array.dtype.kind in "iu":
        return bool(np.abs(array.astype(np.int64)).max(initial=0) <= top + 1)
    if np.array_equal(array, np.rint(array)) and np.abs(array).max(initial=0) > 1:
        return bool(np.abs(array).max() <= top + 1)
    if scale is None:
        return None
    shape = [1] * array.ndim
    if scale.size > 1 and scale.size == array.shape[axis]:
        shape[axis] = -1
    steps = array / np.maximum(
        np.abs(scale.reshape(shape if scale.size > 1 else [1] * array.ndim)) / top, 1e-12
    )
    return bool(np.abs(steps - np.rint(steps)).max(initial=0.0) < 1e-2)


def _inspect_pir(structure: str, prefix: str) -> dict[str, Any]:
    """A model in the newer JSON form: paddle cannot export quantised ones in it, so names are enough."""
    import paddle

    loaded = paddle.jit.load(prefix)
    with open(structure, encoding="utf-8") as stream:
        operators: dict[str, int] = {}
        _count(json.load(stream), operators)
    layers = []
    for name in (*CONVOLUTIONS, "matmul", "linear"):
        for _ in range(operators.get(name, 0)):
            layers.append({"op": name, "weight": ""})
    return {
        "inputs": {spec.name: [int(side) for side in spec.shape] for spec in loaded._input_spec()},
        "outputs": len(loaded._output_spec()),
        "operators": operators,
        "layers": layers,
    }


def _count(value: Any, operators: dict[str, int]) -> None:
    if isinstance(value, dict):
        name = value.get("#")
        if isinstance(name, str) and "O" in value:
            name = name.rpartition(".")[2]
            operators[name] = operators.get(name, 0) + 1
        for item in value.values():
            _count(item, operators)
    elif isinstance(value, list):
        for item in value:
            _count(item, operators)
