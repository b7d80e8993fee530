"""The log that has a step's training lines, wherever the script wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tipc.certify.evidence.log_records import TrainingLine
from tipc.certify.evidence.logs import Log, read_log
from tipc.certify.scene import StepScene
from tipc.message import Message, wording


@dataclass(frozen=True)
class TrainingLog:
    """Where the training lines stand, and the lines."""

    path: Path
    whole: Log

    @property
    def rows(self) -> tuple[TrainingLine, ...]:
        return self.whole.training

    @property
    def lines(self) -> int:
        return self.whole.lines


def training_log(scene: StepScene) -> TrainingLog:
    """The step's own log if it has training lines, else the first of those that it wrote beside its
    weights."""
    own = TrainingLog(scene.step_log, read_log(scene.step_log))
    if own.rows or not scene.step.weights:
        return own
    folder = scene.path(scene.step.weights).parent
    started = scene.outcome.since
    for path in sorted(folder.glob("*.log")):
        if path.is_file() and path.stat().st_mtime >= started - 2:
            other = TrainingLog(path, read_log(path))
            if other.rows:
                return other
    return own


def place(scene: StepScene, path: Path, line: int) -> str:
    """A place in a log for people: the step's own under the name that its family has for it."""
    if path == scene.step_log:
        return f"{scene.step.log.removeprefix('./')}:{line}"
    try:
        return f"{path.relative_to(scene.repo)}:{line}"
    except ValueError:
        return f"{path.name}:{line}"


def with_complaint(scene: StepScene, message: str | Message) -> str | Message:
    """A message, and as its likely cause the last line that the step's logger printed as an error."""
    complaints = read_log(scene.step_log).complaints
    if not complaints:
        return message
    if isinstance(message, str):
        message = wording(message)
    return wording("{message}; its log says: {text}", message=message, text=complaints[-1].text)
