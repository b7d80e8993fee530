"""What the probes answer. They ran code and read files of a repository, so nothing they say is believed
unchecked."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class Answer(BaseModel):
    """What every answer has; ``error`` says why the question has none."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=True)
    error: str = ""
    missing: str = ""  # what the repository does not have (parity.py, one of its functions): nobody's error
    seconds: float = 0.0


class Layer(BaseModel):
    """A convolution or a linear layer of an exported model."""

    op: str
    weight: str
    bits: int = 0  # of the weight; 0: not quantised
    activation_bits: int = 0
    per_channel: bool = False
    on_grid: bool | None = None  # None: not quantised, or its values are not there
    dtype: str = ""

    @property
    def quantised(self) -> bool:
        return self.bits > 0 and self.activation_bits > 0


class ModelAnswer(Answer):
    """An exported model: it loads, and what it is made of."""

    structure: str = ""
    parameters: str = ""
    inputs: dict[str, list[int]] = Field(default_factory=dict)
    outputs: int = 0
    operators: dict[str, int] = Field(default_factory=dict)
    layers: list[Layer] = Field(default_factory=list)
    tensors: int = 0
    matched: int = 0  # tensors that are, bit for bit, among the trained weights
    comparable: int = 0  # tensors for which the trained weights have one of the same shape
    unmatched: str = ""  # the name of one that is not
    compared_with: str = ""
    not_finite: list[str] = Field(default_factory=list)


class Clip(BaseModel):
    """A learnt clipping value."""

    name: str
    end: float
    start: float | None = None


class WeightsAnswer(Answer):
    """A file of trained weights."""

    tensors: int = 0
    values: int = 0
    not_finite: list[str] = Field(default_factory=list)
    zero: int = 0  # tensors of nothing but zeros
    clips: list[Clip] = Field(default_factory=list)


class Comparison(BaseModel):
    """One engine at one batch size against the reference."""

    engine: Literal["native", "onednn", "int8"]
    batch: int
    max_abs: float = 0.0
    max_rel: float = 0.0
    batch_max_abs: float = 0.0  # against the same engine's largest batch
    argmax_equal: int = 0
    argmax_total: int = 0
    finite: bool = True
    shape: list[int] = Field(default_factory=list)
    error: str = ""


class Metric(BaseModel):
    """A metric of one engine's outputs."""

    name: str
    value: float


class ParityAnswer(Answer):
    """The training engine against the inference engine, on the same images."""

    samples: int = 0
    dtype: str = "float32"  # of the exported weights
    noise: float = 0.0  # the reference against itself
    rounding: float = 0.0  # the reference against itself, its input off by a rounding (int8: of 8 bits)
    scale: float = 0.0  # largest |value| of the reference
    shape: list[int] = Field(default_factory=list)
    constant: bool = False  # the reference gives the same output for every image
    table: list[Comparison] = Field(default_factory=list)
    preprocess_shapes: list[list[int]] = Field(default_factory=list)  # training's, deployment's
    preprocess_max_abs: float | None = None
    preprocess_note: str = ""
    decisions: dict[str, int] = Field(
        default_factory=dict
    )  # image that infer.py printed → class of the model
    metrics: dict[str, Metric] = Field(default_factory=dict)  # "reference", "native", "onednn", "int8"


class Operators(BaseModel):
    """The operator counts that the observer of a training step leaves: ``tipc.ops/1``."""

    model_config = ConfigDict(extra="ignore")
    operators: dict[str, dict[str, int]] = Field(max_length=20_000)


KINDS: dict[str, type[Answer]] = {"model": ModelAnswer, "weights": WeightsAnswer, "parity": ParityAnswer}


def read_answer(kind: str, text: str) -> Answer:
    """A probe's answer as JSON text; one that cannot be read is an answer with an error."""
    try:
        return KINDS[kind].model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        return KINDS[kind](error=f"the probe's answer cannot be read: {first['loc']}: {first['msg']}")
