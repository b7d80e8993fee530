"""What ``tipc init`` writes: texts with @NAMES@ in them, and the files that they become."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tipc.errors import UsageError

HERE = Path(__file__).parent
NAME = re.compile(r"@([A-Z_]+)@")
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
    "EPOCHS": "5",
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
SKELETON = "is still the skeleton of tipc init"
# purpose: the command that names the script, and the options that the configs pass to it
ENTRIES = {
    "Training": ("TRAIN", ("USE_GPU", "EPOCHS_KEY", "OUTPUT_KEY", "BATCH_KEY", "PRETRAINED_KEY", "DATA_KEY")),
    "Evaluation": ("EVAL", ("USE_GPU", "PRETRAINED_KEY", "DATA_KEY")),
    "Export": ("EXPORT", ("EXPORT_DIR_KEY", "EXPORT_WEIGHTS_KEY")),
    "Inference": (
        "INFER",
        ("INFER_USE_GPU", "INFER_BATCH_KEY", "MODEL_DIR_KEY", "IMAGE_KEY", "BENCHMARK_KEY"),
    ),
}


@dataclass(frozen=True)
class Scaffold:
    """The model's name, and the values for the texts that are not the defaults."""

    model: str
    values: Mapping[str, str] = field(default_factory=dict)

    def base(self) -> dict[str, str]:
        """The values for the texts."""
        base = {**DEFAULTS, **self.values, "MODEL": checked(self.model)}
        for name, value in base.items():
            if not value.strip() or set(":\n\r") & set(value):
                raise UsageError(
                    f"{name.lower()}: {value!r} cannot stand in a config",
                    remedy="no colon, no line break, not empty",
                )
        return base

    def files(self) -> dict[str, str]:
        """Every file of ``test_tipc/`` by its path in the repository."""
        base = self.base()
        options = {"base": "", "AMP": f" {base['AMP']}", "PACT": f" {base['PACT']}"}
        made = {
            "test_tipc/README.md": filled("README.md", base),
            "test_tipc/parity.py": filled("parity.py.txt", base),
        }
        for name in ("prepare.sh", "test_train_inference_python.sh", "common_func.sh"):
            made[f"test_tipc/{name}"] = filled(name, base)
        for kind, (title, trainer, config, document) in CHAINS.items():
            values = {**base, "TITLE": title, "TRAINER": trainer, "OPTION": options[kind], "CONFIG": config}
            made[f"test_tipc/configs/{self.model}/{config}"] = filled("config.txt", values)
            made[f"test_tipc/docs/{document}"] = filled("document.md", values)
        return made

    def entry_scripts(self) -> dict[str, str]:
        """A skeleton for each script that the configs name: it takes their options, and fails when it is
        run."""
        base = self.base()
        made: dict[str, str] = {}
        for purpose, (command, keys) in ENTRIES.items():
            words = base[command].split()
            script = next((word for word in words if word.endswith(".py")), "")
            path = Path(script)
            if not script or path.is_absolute() or ".." in path.parts or script in made:
                continue
            fixed = [word.partition("=")[0] for word in words if word.startswith("--")]
            if command == "TRAIN":
                fixed += [base[name].partition("=")[0] for name in ("AMP", "PACT")]
                fixed += ["--test-only"] if script == base["EVAL"].split()[0] else []
            names = dict.fromkeys([*(base[key] for key in keys), *fixed])
            lines = [f'parser.add_argument({name!r}, nargs="?", const=True)' for name in names]
            values = {"PURPOSE": purpose, "SCRIPT": script, "OPTIONS": "\n".join(lines)}
            made[script] = filled("entry.py.txt", values)
        return made


def checked(model: str) -> str:
    if not MODEL.fullmatch(model):
        raise UsageError(
            f"`{model}` cannot be a model's name here",
            remedy="letters, digits, _, ., + and -, as in mobilenet_v3_small",
        )
    return model


def filled(template: str, values: Mapping[str, str]) -> str:
    """A text with every @NAME@ replaced."""
    return NAME.sub(lambda match: values[match[1]], (HERE / template).read_text(encoding="utf-8"))


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
            scratch.write_text(text, encoding="utf-8")
            scratch.replace(path)
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", path=str(path)) from error
        written.append(name)
    return written, kept
