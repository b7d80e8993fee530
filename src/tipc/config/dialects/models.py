"""``models``: the 32-line layout of the TIPC specification (PaddlePaddle/models and most reproductions)."""

from __future__ import annotations

from tipc.config.layouts import SLIM
from tipc.config.rules import Dialect, Marks

DIALECT = Dialect(
    name="models",
    title="the specification's 32 lines (PaddlePaddle/models)",
    layout=SLIM,
    marks=Marks(
        keys=((12, "trainer:"), (16, "eval:"), (21, "norm_export:"), (26, "inference:")),
        script=("trainer_py=", "lines[31]"),
        script_lacks=("pip install",),
        repositories=("models",),
    ),
)
