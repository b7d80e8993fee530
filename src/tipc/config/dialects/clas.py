"""``clas``: PaddleClas."""

from __future__ import annotations

from tipc.config.dialect import Row
from tipc.config.layouts import FULL, changed
from tipc.config.rules import Dialect, Marks

DIALECT = Dialect(
    name="clas",
    title="PaddleClas",
    layout=changed(
        FULL,
        Row(8, "train_batch", "kv", kind="number"),
        Row(19, "to_static", "kv", kind="script"),
        Row(33, "kl_quant", "kv", ("kl_quant",), "script"),
        Row(35, "pretrained_model_url", keys=("pretrained_model_url",)),
        Row(36, "infer_model", "v", ("infer_model",), "path"),
        Row(37, "infer_export", keys=("infer_export",), kind="flag"),
        per_mode=False,
    ),
    marks=Marks(
        keys=(
            (4, "-o Global.device:"),
            (6, "-o Global.epochs:"),
            (14, "trainer:"),
            (46, "-o Global.inference_model_dir:"),
        ),
        script=("kl_quant_cmd_value", "cd deploy"),
        repositories=("PaddleClas",),
        packages=("ppcls",),
    ),
)
