"""``inference.yml`` beside an exported model: what deployment must know and must not guess."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from paddlezoo import checkpoint, predictor
from paddlezoo.cls import pointwise
from paddlezoo.cls.network import Card
from paddlezoo.cls.transforms import Transform
from paddlezoo.errors import ZooError
from paddlezoo.export import NAME
from paddlezoo.quant import convert, pact

FILE = "inference.yml"


@dataclass(frozen=True)
class Deployed:
    """An exported classifier: where it is, what it takes, what its outputs mean."""

    prefix: Path
    model: str
    classes: tuple[str, ...]
    transform: Transform
    precision: str  # of the training: fp32, amp O2, pact
    quantised: bool  # its weights are int8

    @staticmethod
    def read(folder: str | Path) -> Deployed:
        """What ``describe`` wrote; ZooError if it is missing or damaged."""
        path = Path(folder) / FILE
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
            transform = Transform.from_dict(content["transform"])
            return Deployed(
                Path(folder) / NAME,
                content["model"],
                tuple(content["classes"]),
                transform,
                content["precision"],
                content["int8_weights"],
            )
        except FileNotFoundError:
            raise ZooError(f"{path}: no such file: export the model with tools/export_model.py") from None
        except (yaml.YAMLError, KeyError, TypeError, UnicodeDecodeError) as error:
            raise ZooError(f"{path}: damaged: {error!r}") from None

    @property
    def default_engine(self) -> str:
        """On a CPU: oneDNN; for int8 OpenVINO, since oneDNN halves int8 weights on CPUs without VNNI."""
        return "openvino" if self.quantised else "onednn"

    def default_precision(self, engine: str) -> str:
        """int8 where the model and the engine have it, else fp32."""
        return "int8" if self.quantised and engine != "native" else "fp32"


def prepare(model: Any) -> None:
    """Make of a trained network what is exported, in place; after PACT that is the simulation in int8.

    One that was trained in fp32 stays as it is.
    """
    if pact.quantised_layers(model):
        pointwise.replace(model)
        convert.to_int8(model)


def describe(card: Card, folder: str | Path) -> None:
    """Write the file beside the exported model."""
    content = {
        "model": card.model,
        "precision": card.precision,
        "classes": list(card.classes),
        "input": {"name": "x", "shape": [None, 3, card.transform.crop, card.transform.crop]},
        "output": "logits",
        "transform": card.transform.to_dict(),
        "int8_weights": predictor.is_quantised(Path(folder) / NAME),
    }
    checkpoint.write_text(Path(folder) / FILE, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
