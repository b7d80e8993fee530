"""For OpenVINO: what comes out of a ReLU is kept in 8 bits without a sign, for which its kernels are faster.

OpenVINO reads a quantisation as one with a sign, unless its zero point is -128: then it takes the same steps,
but from 0 on, and twice as many. So the ReLU itself has to clip. That is done when OpenVINO loads a model and
not in the exported file, since no other engine looks at the zero point, and oneDNN knows a ReLU without help.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

# The attribute of an exported ReLU that tells where its quantisation clips. Not PaddleSlim's out_threshold,
# which may be another value than the scale.
CLIP = "pact_clip"
ZERO_POINT = "unsigned_zero_point"
LOWEST = -128.0


def without_signs(program: Any) -> int:
    """Change the graph in place; returns how many quantisations are without a sign now."""
    from paddle.base import core

    block = program.block(0)
    operators = [block.op(i) for i in range(block.op_size())]
    readers = defaultdict(list)
    for operator in operators:
        for name in operator.input_arg_names():
            readers[name].append(operator)
    changed = 0
    for relu in (one for one in operators if one.type() == "relu" and one.has_attr(CLIP)):
        [output] = relu.output("Out")
        quantisers = readers[output]
        if [one.type() for one in quantisers] != ["quantize_linear"]:
            continue  # somebody reads what was not rounded
        dequantisers = readers[quantisers[0].output("Y")[0]]
        for operator in (*quantisers, *dequantisers):
            operator.set_input("ZeroPoint", [ZERO_POINT])
        relu.set_type("clip")
        relu._set_attr("min", 0.0)
        relu._set_attr("max", relu.attr(CLIP))
        changed += 1
    if changed:
        variable = block.var(ZERO_POINT.encode())
        variable.set_shape([1])
        variable.set_dtype(core.VarDesc.VarType.FP32)
        constant = block._prepend_op()
        constant.set_type("assign_value")
        constant.set_output("Out", [ZERO_POINT])
        constant._set_attr("shape", [1])
        constant._set_attr("dtype", core.VarDesc.VarType.FP32)
        constant._set_attr("fp32_values", [LOWEST])
    return changed
