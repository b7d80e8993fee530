"""``seg``: PaddleSeg."""

from __future__ import annotations

from tipc.config.dialect import Row
from tipc.config.layouts import FULL, changed
from tipc.config.rules import Dialect, Marks

DIALECT = Dialect(
    name="seg",
    title="PaddleSeg",
    layout=changed(
        FULL,
        Row(26, "header", keys=("export_params",), kind="header"),
        # In PaddleSeg's own files this line is the header of the next block: no colon, so an empty name.
        Row(35, "inference_dir", "v", ("infer_params",), "path"),
        Row(51, "infer2", "kv"),
    ),
    marks=Marks(
        keys=((6, "--iters:"), (14, "trainer:"), (28, "--model_path:"), (46, "--config:")),
        script=("deploy.yaml", "lines[51]"),
        repositories=("PaddleSeg",),
        packages=("paddleseg",),
    ),
)
