"""A training config: a YAML file in PaddleSeg's layout, with `_base_` to build on another one.

model: {type: pphumanseg_lite, num_classes: 2}
train_dataset: {dataset_root: lite_data/people, train_path: train.txt, transforms: [{type: Normalize}]}
val_dataset: …   optimizer: …   lr_scheduler: …   loss: {types: [{type: CrossEntropyLoss}], coef: [1]}
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from paddlezoo import overrides
from paddlezoo.errors import ZooError, explain_os_error
from paddlezoo.seg.names import canonical


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class Model(_Section):
    """Which network, for how many classes."""

    type: Annotated[str, AfterValidator(canonical)]
    num_classes: int = Field(ge=2, le=255)


class Dataset(_Section):
    """A list of images and masks below a root, and what is done to them."""

    type: Literal["Dataset"] = "Dataset"
    dataset_root: Path
    train_path: Path | None = None
    val_path: Path | None = None
    num_classes: int | None = None
    mode: Literal["train", "val"] | None = None
    transforms: list[dict[str, Any]]

    @property
    def list_path(self) -> Path:
        """The list, below the root unless its path is a whole one."""
        path = self.train_path or self.val_path
        assert path is not None
        return path if path.is_absolute() or path.is_file() else self.dataset_root / path

    @model_validator(mode="after")
    def _one_list(self) -> Dataset:
        if (self.train_path is None) == (self.val_path is None):
            raise ValueError("exactly one of train_path and val_path must be given")
        return self


class Optimizer(_Section):
    """SGD with momentum, or AdamW."""

    type: Literal["SGD", "sgd", "AdamW"] = "SGD"
    momentum: float = Field(default=0.9, ge=0, lt=1)
    weight_decay: float = Field(default=4.0e-5, ge=0)


class Schedule(_Section):
    """Polynomial decay, after a linear warm-up if `warmup_iters` is not 0."""

    type: Literal["PolynomialDecay"] = "PolynomialDecay"
    learning_rate: float = Field(default=0.01, gt=0)
    end_lr: float = Field(default=0.0, ge=0)
    power: float = Field(default=0.9, gt=0)
    warmup_iters: int = Field(default=0, ge=0)
    warmup_start_lr: float = Field(default=0.0, ge=0)


class Losses(_Section):
    """One loss for each output of the network in training, and their weights."""

    types: list[dict[str, Any]] = Field(min_length=1)
    coef: list[float] = Field(min_length=1)

    @model_validator(mode="after")
    def _as_many(self) -> Losses:
        if len(self.types) != len(self.coef):
            raise ValueError(f"{len(self.types)} types and {len(self.coef)} coef: there must be as many")
        return self


class Config(_Section):
    """Everything a training needs but for what the command line says."""

    batch_size: int = Field(default=2, ge=1)
    iters: int = Field(default=1000, ge=1)
    model: Model
    train_dataset: Dataset
    val_dataset: Dataset
    optimizer: Optimizer = Optimizer()
    lr_scheduler: Schedule = Schedule()
    loss: Losses


def read(path: str | Path, opts: Sequence[str] = ()) -> Config:
    """The config in a YAML file, changed by ``--opts``; ZooError names file and key of what is wrong."""
    path = Path(path)
    if not path.exists():
        path = path.with_stem(canonical(path.stem))
    try:
        return Config.model_validate(overrides.apply(_merged(path, ()), opts))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the config"
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise ZooError(f"{path}: {key}: {first['msg']}{more}") from None


def _merged(path: Path, above: tuple[Path, ...]) -> dict[str, Any]:
    """The content of a file over the content of its base."""
    if path.resolve() in above:
        raise ZooError(f"{path}: _base_ goes round in a circle")
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ZooError(f"cannot read the config {explain_os_error(error)}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise ZooError(f"{path}{line}: not YAML: {getattr(error, 'problem', None) or error}") from None
    if not isinstance(content, dict):
        raise ZooError(f"{path}: a config is a mapping, this is a {type(content).__name__}")
    base = content.pop("_base_", None)
    if base is None:
        return content
    return _over(_merged(path.parent / base, (*above, path.resolve())), content)


def _over(base: dict[str, Any], content: dict[str, Any]) -> dict[str, Any]:
    """`content` over `base`, mapping by mapping; lists are replaced whole."""
    result = dict(base)
    for key, value in content.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = _over(result[key], value) if both else value
    return result
