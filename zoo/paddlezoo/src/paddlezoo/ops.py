"""Operators that newer releases of paddle refuse in the legacy static graph.

Since paddle 3.2 ``sigmoid`` and ``bmm`` (since 3.3 ``argmax``, too) are generated functions that take eager
and PIR tensors only: "argument (position 1) must be Value, but got Variable". The operators are still there,
and the legacy format is the one that carries int8 weights; so there they are appended by hand.
"""

from __future__ import annotations

from typing import Any

import paddle
from paddle.base.framework import in_dynamic_or_pir_mode
from paddle.base.layer_helper import LayerHelper
from paddle.nn import functional as F


def sigmoid(x: Any) -> Any:
    """``F.sigmoid``."""
    return F.sigmoid(x) if in_dynamic_or_pir_mode() else _append("sigmoid", {"X": x}, x.dtype)


def bmm(x: Any, y: Any) -> Any:
    """``paddle.bmm``."""
    return paddle.bmm(x, y) if in_dynamic_or_pir_mode() else _append("bmm", {"X": x, "Y": y}, x.dtype)


def argmax(x: Any, axis: int, dtype: str = "int64") -> Any:
    """``paddle.argmax``."""
    if in_dynamic_or_pir_mode():
        return paddle.argmax(x, axis=axis, dtype=dtype)
    number = paddle.base.framework.convert_np_dtype_to_dtype_(dtype)
    attributes = {"axis": axis, "dtype": number, "keepdims": False, "flatten": False}
    return _append("arg_max", {"X": x}, dtype, attributes)


def _append(kind: str, inputs: dict[str, Any], dtype: Any, attributes: dict[str, Any] | None = None) -> Any:
    helper = LayerHelper(kind)
    result = helper.create_variable_for_type_inference(dtype)
    helper.append_op(type=kind, inputs=inputs, outputs={"Out": result}, attrs=attributes or {})
    return result
