"""The figures of a training that are the method's rather than the user's; ``--opts`` changes them."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from paddlezoo import overrides
from paddlezoo.errors import ZooError


class Recipe(BaseModel):
    """How MobileNetV3 is trained here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label_smoothing: float = Field(default=0.1, ge=0, lt=1)
    weight_decay: float = Field(default=4e-5, ge=0)
    statistics_batches: int = Field(default=100, ge=1)  # for batch norm, before each evaluation
    calibration_batches: int = Field(default=4, ge=1)  # for the first clips of PACT
    clip_learning_rate: float = Field(default=2.0, gt=0)  # times --lr
    clip_l2: float = Field(default=1e-4, ge=0)


def read_recipe(opts: Sequence[str]) -> Recipe:
    """The recipe with the changes of ``--opts key=value …``; ZooError names a wrong key."""
    try:
        return Recipe.model_validate(overrides.apply({}, opts))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        known = ", ".join(Recipe.model_fields)
        raise ZooError(f"--opts {key}: {first['msg']}; known are {known}") from None
