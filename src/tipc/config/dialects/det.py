"""``det``: PaddleDetection."""

from __future__ import annotations

from tipc.config.dialect import Row
from tipc.config.layouts import FULL, changed
from tipc.config.rules import Dialect, Marks

DIALECT = Dialect(
    name="det",
    title="PaddleDetection",
    layout=changed(
        FULL,
        Row(27, "save_infer", "kv", kind="path"),
        Row(28, "export_weight", "kv", kind="weights"),
        Row(35, "kl_quant_export", "v", ("kl_quant_export",), "script"),
        Row(36, "filler", keys=("##",), kind="filler"),
        Row(37, "infer_mode", "l", ("infer_mode",)),
        Row(44, "use_trt", "kl", kind="flag", unused=True),
        value="rest of line",
    ),
    marks=Marks(
        keys=((6, "epoch:"), (9, "pretrain_weights:"), (14, "trainer:"), (37, "infer_mode:")),
        script=("infer_mode_list", "utils_func.sh"),
        repositories=("PaddleDetection",),
        packages=("ppdet",),
    ),
)
