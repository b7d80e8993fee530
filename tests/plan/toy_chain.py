"""The table of a toy chain, as text for plug-ins and trees that tests write."""

from __future__ import annotations

# ``LINES``, ``WHOLE`` and ``RUN``, which ``chain()`` makes a table of.
TABLE = """
from tipc.config.dialects.chain_rules import chain
from tipc.config.layout import Layout, Row
from tipc.config.rules import Inference, Whole

LINES = Layout(
    (
        Row(0, "header", keys=("toy_params",), kind="header"),
        Row(1, "model_name", "v", ("model_name",), "name"),
        Row(2, "python", "v", ("python",), "python"),
        Row(3, "pack", "v", ("pack",), "script"),
        Row(4, "inference", "v", ("inference",), "script"),
        Row(5, "use_gpu", "kl", kind="flag"),
        Row(6, "model_dir", "kv", kind="path"),
    )
)
WHOLE = Whole(
    modes=("toy_infer",),
    script="{pack}",
    export="{python} {script} --out={model_dir}",
    saved="{model_dir}",
)
RUN = {"cpu": Inference("{python} {inference} {=use_gpu} {+model_dir}", (), "{log_path}/infer.log")}
"""
