"""A log, read once from its beginning to its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tipc.certify.evidence.log_alarms import (
    FiniteReader,
    wanted_complaints,
    wanted_errors,
    wanted_figures,
)
from tipc.certify.evidence.log_lines import lines
from tipc.certify.evidence.log_readers import (
    ComplaintReader,
    ErrorReader,
    EvaluationReader,
    TrainingReader,
)
from tipc.certify.evidence.log_records import ErrorLine, EvaluationLine, NotFinite, TrainingLine

CHART_LIMIT = 500  # points of a chart
MOST_LOGS, MOST_ROWS = 256, 40_000  # that are remembered: about 50 MB


@dataclass(frozen=True)
class Log:
    """What a log tells.

    Of a giant one the first and the last ten thousand lines of a kind are kept, and the middle is looked
    through for errors and figures that are none.
    """

    lines: int
    training: tuple[TrainingLine, ...]
    evaluations: tuple[EvaluationLine, ...]
    errors: tuple[ErrorLine, ...]
    complaints: tuple[ErrorLine, ...]
    not_finite: NotFinite | None
    # There was more that could have been an error, or a figure that is none, than is looked at.
    errors_missed: bool = False
    figures_missed: bool = False

    @property
    def rows(self) -> int:
        """How much it takes to remember it."""
        return len(self.training) + len(self.evaluations)


Key = tuple[Path, int, int]  # a log, its size and its time of change: one that grew is read again


def read_log(path: Path) -> Log:
    """Everything that a log tells; an empty one if it is not there."""
    try:
        state = path.stat()
    except (OSError, ValueError):
        return Log(0, (), (), (), (), None)
    key = (path, state.st_size, state.st_mtime_ns)
    return _memory.log(key)


class Memory:
    """The logs that were asked for lately, as many as fit."""

    def __init__(self) -> None:
        self.logs: dict[Key, Log] = {}  # the one that was asked for last is the last
        self.rows = 0

    def log(self, key: Key) -> Log:
        """A log, read if it is not remembered; the oldest are forgotten by how much they take."""
        log = self.logs.pop(key, None)
        if log is None:
            log = _read(key[0])
            self.rows += log.rows
        self.logs[key] = log
        while len(self.logs) > 1 and (len(self.logs) > MOST_LOGS or self.rows > MOST_ROWS):
            self.rows -= self.logs.pop(next(iter(self.logs))).rows
        return log


_memory = Memory()


def _read(path: Path) -> Log:
    training, evaluation, finite = TrainingReader(), EvaluationReader(), FiniteReader()
    errors, complaints = ErrorReader(), ComplaintReader()
    count = 0
    of_figures, of_errors = wanted_figures(), wanted_errors()
    for number, text in lines(path, (*of_figures, *of_errors, *wanted_complaints())):
        count = number
        for reader in (training, evaluation, finite, errors, complaints):
            reader.feed(number, text)
    return Log(
        count,
        training.all(),
        evaluation.all(),
        errors.errors(),
        tuple(complaints.found),
        finite.found,
        errors_missed=any(one.missed for one in of_errors),
        figures_missed=any(one.missed for one in of_figures),
    )


def chart_rows(rows: Sequence[TrainingLine]) -> list[dict[str, Any]]:
    """Training lines for a chart, thinned where they are very many."""
    stride = max(1, math.ceil(len(rows) / CHART_LIMIT))
    found = []
    for row in rows[::stride]:
        point: dict[str, Any] = {"line": row.line, **row.values}
        if row.epoch is not None:
            point["epoch"] = row.epoch
        if row.iteration is not None:
            point["iter"] = row.iteration
        found.append(point)
    return found
