"""What ``tipc init`` writes: texts with @NAMES@ in them, and the files that they become."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tipc.bounded import open_fresh
from tipc.errors import EnvironmentProblem, UsageError, wording

HERE = Path(__file__).parent
NAME = re.compile(r"@([A-Z_]+)@")
DIALECT = "models"  # of the configs that are written: the specification's 32 lines
MODEL = re.compile(r"[A-Za-z0-9][\w.+-]*")
DEFAULTS = {
    "TRAIN": "train.py",
    "EVAL": "train.py --test-only",
    "EXPORT": "tools/export_model.py",
    "INFER": "deploy/inference_python/infer.py",
    "DATA": "./lite_data",
    "IMAGE": "./images/demo.jpg",
    "WEIGHTS": "latest.pdparams",
    "AMP": "--amp_level=O2",
    "PACT": "--pact_quant",
    "EPOCHS": "10",
    "WHOLE_EPOCHS": "90",
    "BATCH": "4",
    "WHOLE_BATCH": "128",
    "USE_GPU": "--use-gpu",
    "EPOCHS_KEY": "--epochs",
    "OUTPUT_KEY": "--output-dir",
    "BATCH_KEY": "--batch-size",
    "PRETRAINED_KEY": "--pretrained",
    "DATA_KEY": "--data-path",
    "EXPORT_DIR_KEY": "--save-inference-dir",
    "EXPORT_WEIGHTS_KEY": "--pretrained",
    "INFER_USE_GPU": "--use-gpu",
    "INFER_BATCH_KEY": "--batch-size",
    "MODEL_DIR_KEY": "--model-dir",
    "IMAGE_KEY": "--img-path",
    "BENCHMARK_KEY": "--benchmark",
}
# kind: (title, trainer, config, document)
CHAINS = {
    "base": ("Base", "norm_train", "train_infer_python.txt", "test_train_inference_python.md"),
    "AMP": (
        "Mixed precision",
        "amp_train",
        "train_amp_infer_python.txt",
        "test_train_amp_inference_python.md",
    ),
    "PACT": ("PACT", "pact_train", "train_pact_infer_python.txt", "test_train_pact_inference_python.md"),
}
TEMPLATES = HERE / "templates"
TASKS = {
    "classification": {"TASK": "image classification", "TASK_ZH": "图像分类", "METRIC": "top1"},
    "segmentation": {"TASK": "segmentation", "TASK_ZH": "语义分割", "METRIC": "mIoU"},
}
# What a template's scripts are called and take, where that is not the default.
TEMPLATE_VALUES = {"EVAL": "eval.py", "IMAGE": "./lite_data/val", "EPOCHS": "10"}
MAKE_DATA = "tools/make_lite_data.py"


@dataclass(frozen=True)
class Scaffold:
    """The model's name, and the values for the texts that are not the defaults."""

    model: str
    values: Mapping[str, str] = field(default_factory=dict)

    def base(self) -> dict[str, str]:
        """The values for the texts."""
        base = {**DEFAULTS, **self.values, "MODEL": checked(self.model)}
        for name, value in base.items():
            checked_value(name, value)
        return base

    def files(self) -> dict[str, str]:
        """Every file of ``test_tipc/`` by its path in the repository."""
        base = self.base()
        options = {"base": "", "AMP": f" {base['AMP']}", "PACT": f" {base['PACT']}"}
        made = {"test_tipc/README.md": filled("README.md", base)}
        for name in ("prepare.sh", "test_train_inference_python.sh", "common_func.sh"):
            made[f"test_tipc/{name}"] = filled(name, base)
        for kind, (title, trainer, config, document) in CHAINS.items():
            values = {**base, "TITLE": title, "TRAINER": trainer, "OPTION": options[kind], "CONFIG": config}
            made[f"test_tipc/configs/{self.model}/{config}"] = filled("config.txt", values)
            made[f"test_tipc/docs/{document}"] = filled("document.md", values)
        return made


def template_files(task: str, model: str) -> dict[str, str]:
    """A whole repository that trains, evaluates, predicts, exports and infers, by path."""
    scaffold = Scaffold(model, TEMPLATE_VALUES)
    values = {**scaffold.base(), **TASKS[task]}
    made = scaffold.files()
    for folder in (TEMPLATES / "common", TEMPLATES / task):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                if name.endswith(".py.txt"):  # so that no tool takes it for code of this package
                    name = name.removesuffix(".txt")
                made[name] = filled(path, values)
    return made


def parity_file(model: str) -> dict[str, str]:
    """The skeleton of ``parity.py``."""
    return {"test_tipc/parity.py": filled("parity.py.txt", {"MODEL": model or "the model"})}


def checked_value(name: str, value: str) -> str:
    """A value that can stand in a config."""
    if not value.strip() or set(":\n\r") & set(value):
        raise UsageError(
            wording("{name}: {value!r} cannot stand in a config", name=name.lower(), value=value),
            remedy="no colon, no line break, not empty",
        )
    return value


def checked(model: str) -> str:
    """A name that a model can have."""
    if not MODEL.fullmatch(model):
        raise UsageError(
            wording("`{model}` cannot be a model's name here", model=model),
            remedy="letters, digits, _, ., + and -, as in mobilenet_v3_small",
        )
    return model


def filled(template: str | Path, values: Mapping[str, str]) -> str:
    """A text with every @NAME@ replaced."""
    return NAME.sub(lambda match: values[match[1]], (HERE / template).read_text(encoding="utf-8"))


def draw_data(repo: Path) -> None:
    """Run the repository's own script that draws its lite data: it needs nothing but numpy, which is here."""
    done = subprocess.run([sys.executable, MAKE_DATA], cwd=repo, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnvironmentProblem(
            wording("{make_data} failed: {stderr}", make_data=MAKE_DATA, stderr=done.stderr.strip()[-300:])
        )


def other_dialects(repo: Path) -> set[str]:
    """The families of the configs that a repository has, but for the one that is written here."""
    from tipc.config.identify import identify
    from tipc.config.source import read_source

    found = set()
    for path in sorted((repo / "test_tipc" / "configs").glob("**/*.txt")):
        try:
            identity = identify(read_source(str(path)), repo)
        except UsageError:
            continue
        if identity.chain and identity.family != DIALECT:
            found.add(identity.family or "its own script")
    return found


def other_scripts(repo: Path, files: Mapping[str, str]) -> list[str]:
    """The scripts that are in a template's places and are not of it. Those of a repository that began as one
    may be changed, some; none of them left is another repository."""
    others = []
    for name, text in files.items():
        path = repo / name
        if not name.endswith(".py") or not path.is_file():
            continue
        if path.read_bytes() == text.encode("utf-8"):
            return []
        others.append(name)
    return others


def write(repo: Path, files: Mapping[str, str], *, force: bool) -> tuple[list[str], list[str]]:
    """Write the files; those that are there stay as they are unless forced. (written, kept)."""
    written, kept = [], []
    for name, text in files.items():
        path = repo / name
        if path.exists() and not force:
            kept.append(name)
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            scratch = path.with_name(f".{path.name}.new")
            with open_fresh(scratch) as file:
                file.write(text.encode("utf-8"))
            scratch.replace(path)
        except OSError as error:
            raise UsageError(
                wording("cannot be written: {strerror}", strerror=error.strerror), path=str(path)
            ) from error
        written.append(name)
    return written, kept
