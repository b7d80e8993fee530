"""What a log can tell, as records: a training line, the result of an evaluation, an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# The specification's four, in its order.
LOSS, READER_COST, BATCH_COST, IPS = "loss", "avg_reader_cost", "avg_batch_cost", "avg_ips"
FIELDS = (LOSS, READER_COST, BATCH_COST, IPS)
SAMPLES, RATE = "avg_samples", "lr"
TOLD = (*FIELDS, SAMPLES, RATE)


@dataclass(frozen=True)
class TrainingLine:
    """One training line. Values may be NaN or infinite; a field that was not printed is missing."""

    line: int
    values: Mapping[str, float]  # of TOLD
    names: Mapping[str, str] = field(default_factory=dict)  # of TOLD → the name that was printed
    units: Mapping[str, str] = field(default_factory=dict)  # of TOLD → the unit that was printed
    metrics: Mapping[str, float] = field(default_factory=dict)  # every other figure of the line
    epoch: int | None = None
    epochs: int | None = None
    iteration: int | None = None
    iterations: int | None = None

    def get(self, name: str, default: float = float("nan")) -> float:
        """One of its values."""
        return self.values.get(name, default)


@dataclass(frozen=True)
class EvaluationLine:
    """A line with the result of an evaluation."""

    line: int
    metrics: Mapping[str, float]
    epoch: int | None = None
    per_cent: bool = False  # a per cent sign was printed


@dataclass(frozen=True)
class ErrorLine:
    """An error that a log tells of."""

    line: int
    text: str
    handled: bool = False  # a package that is not there, or told as a warning: the script went on without


@dataclass(frozen=True)
class NotFinite:
    """A figure that is no finite number."""

    line: int
    name: str
    value: float
