"""What the tables of chains that train nothing have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tipc.config.dialects.families import PROMISE
from tipc.config.layout import Layout
from tipc.config.rules import Dialect, Inference, Rules, Whole

OUTPUT = "./test_tipc/output/{model_name}/{mode}"
# The families' status lines, as their training scripts have them.
STATUS = {
    "models": " Run successfully with command - {model_name} - {command}!  ",
    "seg": " Run successfully with command - {model_name} - {command} - {log}  ",
    "ocr": " Run successfully with command - {model_name} - {command} - {log} ",
    "clas": " Run successfully with command - {model_name} - {command} - {log} ! ",
    "det": " Run successfully with command - {model_name} - {command} - {log}  ",
}


def chain(
    family: str,
    title: str,
    layout: Layout,
    whole: Whole,
    infer: Mapping[str, Inference],
    *,
    promise: Mapping[str, Any] | None = None,
    **rules: Any,
) -> Dialect:
    """The table of a family for a chain: a model is made, and inference reads it."""
    common = {"log_path": OUTPUT, "status": STATUS[family], **rules}
    made = Rules(
        trainers=(),
        train=("", "", ""),
        eval="",
        exports=(),
        save_dir=("", ""),
        infer=infer,
        whole=whole,
        **common,
    )
    return Dialect(family, title, layout, made, {**PROMISE, **(promise or {})})
