"""The dialects that need no tracing: by what each is known, and its table, loaded when it is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from tipc.config.records import NamedTuple
from tipc.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tipc.config.rules import Dialect


class Marks(NamedTuple):
    """By what a dialect is known. Every ``keys`` entry is (line index, beginning of that line)."""

    keys: tuple[tuple[int, str], ...] = ()
    script: tuple[str, ...] = ()  # all of these stand in the repository's own script
    script_lacks: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()  # the name of the repository's directory
    packages: tuple[str, ...] = ()  # a directory of the repository


MARKS = {
    "models": Marks(
        keys=((12, "trainer:"), (16, "eval:"), (21, "norm_export:"), (26, "inference:")),
        script=("trainer_py=", "lines[31]"),
        script_lacks=("pip install",),
        repositories=("models",),
    ),
    "seg": Marks(
        keys=((6, "--iters:"), (14, "trainer:"), (28, "--model_path:"), (46, "--config:")),
        script=("deploy.yaml", "lines[51]"),
        repositories=("PaddleSeg",),
        packages=("paddleseg",),
    ),
    "ocr": Marks(
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
    "clas": Marks(
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
    "det": Marks(
        keys=((6, "epoch:"), (9, "pretrain_weights:"), (14, "trainer:"), (37, "infer_mode:")),
        script=("infer_mode_list", "utils_func.sh"),
        repositories=("PaddleDetection",),
        packages=("ppdet",),
    ),
}
NAMES = tuple(MARKS)


@cache
def load(name: str) -> Dialect:
    """A dialect by its name, or an error that lists them."""
    if name not in NAMES:
        raise UsageError(f"there is no dialect `{name}`", remedy=f"one of {', '.join(NAMES)}")
    dialect: Dialect = import_module(f"tipc.config.dialects.{name}").DIALECT
    return dialect
