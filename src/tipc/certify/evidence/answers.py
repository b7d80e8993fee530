"""What the probes answer. They ran code and read files of a repository, so nothing they say is believed
unchecked."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tipc.message import english_text


class Answer(BaseModel):
    """What every answer has; ``error`` says why the question has none, and ``limited`` that the reason is a
    limit of ours (time, memory): nothing is known about the model then."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=True)
    error: str = ""
    limited: bool = False
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


class RunReply(BaseModel):
    """One run of an exported model; its outputs are in a file of arrays."""

    outputs: list[str] = Field(default_factory=list)
    inputs: list[str] = Field(default_factory=list)
    unfed: list[str] = Field(default_factory=list)  # inputs for which nothing was given
    inner: list[str] = Field(default_factory=list)  # values inside the model, behind the outputs in the file
    error: str = ""


class RunAnswer(Answer):
    """Several of them."""

    runs: list[RunReply] = Field(default_factory=list)


class ImagesAnswer(Answer):
    """Image files that could be decoded; they are in a file of arrays."""

    read: list[str] = Field(default_factory=list)


class MetricAnswer(BaseModel):
    """A metric of one engine's outputs."""

    name: str
    value: float


class ParityAnswer(Answer):
    """What ``test_tipc/parity.py`` adds: the same images through both preprocessings, and a metric."""

    samples: int = 0
    paths: list[str] = Field(default_factory=list)  # of the samples
    preprocess_shapes: list[list[int]] = Field(default_factory=list)  # training's, deployment's
    preprocess_max_abs: float | None = None
    preprocess_note: str = ""
    metrics: dict[str, MetricAnswer] = Field(default_factory=dict)  # engine → of its outputs


KINDS: dict[str, type[Answer]] = {
    "model": ModelAnswer,
    "run": RunAnswer,
    "parity": ParityAnswer,
    "images": ImagesAnswer,
}


def read_answer(kind: str, text: str) -> Answer:
    """A probe's answer as JSON text; one that cannot be read is an answer with an error."""
    try:
        return KINDS[kind].model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        told = english_text(
            "the probe's answer cannot be read: {place}: {error}", place=str(first["loc"]), error=first["msg"]
        )
        return KINDS[kind](error=told)
