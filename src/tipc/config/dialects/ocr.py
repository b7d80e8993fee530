"""``ocr``: PaddleOCR."""

from __future__ import annotations

from tipc.config.layouts import FULL
from tipc.config.rules import Dialect, Marks

DIALECT = Dialect(
    name="ocr",
    title="PaddleOCR",
    layout=FULL,
    marks=Marks(
        keys=(
            (4, "Global.use_gpu:"),
            (6, "Global.epoch_num:"),
            (7, "Global.save_model_dir:"),
            (14, "trainer:"),
        ),
        script=("Global.use_amp=True", "lines[50]", "train.log"),
        script_lacks=("deploy.yaml",),
        repositories=("PaddleOCR",),
        packages=("ppocr",),
    ),
)
