"""A journal, folded into what it comes to: the one place that knows what events mean.

The writer of a journal folds each event as it appends it; a reader folds the lines of the file. Both end up
with the same, so a run need not be read back by the process that has just made it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tipc.kinds import BLOCKED, INTERRUPTED, PENDING
from tipc.plan.model import Key, Plan
from tipc.reasons import because
from tipc.run.record.events import (
    AttemptBegan,
    AttemptFailed,
    Deselected,
    Event,
    RunBegan,
    RunFinished,
    RunResumed,
    StepEnded,
    StepOutdated,
)
from tipc.run.record.results import StepResult

InputDigests = tuple[tuple[str, str], ...]  # name → digest, in order


@dataclass
class Replay:
    """What has happened so far."""

    began: RunBegan | None = None
    options: dict[str, object] = field(default_factory=dict)  # the request that holds now
    calls: int = 1
    idle: float = 0.0  # seconds between the end of a call and the next one
    finished: RunFinished | None = None  # None: a call is still going on, or was killed
    results: dict[Key, StepResult] = field(default_factory=dict)  # of the steps that something happened to
    inputs: dict[Key, InputDigests] = field(default_factory=dict)  # of the last attempt that began
    _outdated: dict[Key, StepResult] = field(default_factory=dict)  # results that may hold again
    _shared: dict[InputDigests, InputDigests] = field(default_factory=dict)  # many steps have the same inputs
    _last: float = 0.0  # the latest moment that is known

    def add_all(self, events: Iterable[Event]) -> Replay:
        """Fold several events."""
        for event in events:
            self.add(event)
        return self

    def add(self, event: Event) -> None:
        """Fold the next event."""
        match event:
            case RunBegan():
                self.began, self.options = event, dict(event.options)
                self._last = event.at
            case RunResumed():
                self._resume(event)
            case Deselected():
                self._deselect(event)
            case StepOutdated():
                key = (event.plan, event.step)
                if key in self.results:
                    self._outdated[key] = self.results[key]
                self.results[key] = StepResult(*key, reason=event.reason)
            case AttemptBegan():
                self._begin(event)
            case StepEnded():
                self.results[event.result.plan, event.result.step] = event.result
                self._last = max(self._last, event.result.started + event.result.wall)
            case RunFinished():
                self.finished = event
                self._last = event.at
            case AttemptFailed():
                pass  # another attempt of the same step follows, which has the last word

    def results_of(self, plans: Iterable[Plan]) -> dict[Key, StepResult]:
        """A result for each step of the plans; ``pending`` where nothing happened."""
        keys = []
        for plan in plans:
            for step in plan.steps:
                keys.append((plan.key, step.id))
        return {key: self.results.get(key) or StepResult(*key) for key in keys}

    def _resume(self, event: RunResumed) -> None:
        """A call with a selection of its own, which follows; what was outdated may hold again."""
        self.finished = None
        self.calls += 1
        self.idle += max(0.0, event.at - self._last)
        self._last = event.at
        if event.options:
            self.options = dict(event.options)
        for key, result in list(self.results.items()):
            # What was blocked is so again only if what it needs fails again.
            if result.left_out or result.state == BLOCKED:
                del self.results[key]
        self.results |= self._outdated
        self._outdated.clear()

    def _deselect(self, event: Deselected) -> None:
        for step in event.steps:
            key = (event.plan, step)
            known = self.results.get(key) or StepResult(*key)
            if known.state in (PENDING, BLOCKED, INTERRUPTED):
                self.results[key] = replace(known, state=PENDING, reason=because("not-selected"))

    def _begin(self, event: AttemptBegan) -> None:
        """Until its end is told, an attempt is one that tipc did not live to see the end of."""
        key = (event.plan, event.step)
        self._last = max(self._last, event.at)
        inputs = tuple(event.inputs.items())
        self.inputs[key] = self._shared.setdefault(inputs, inputs)
        self._outdated.pop(key, None)
        self.results[key] = StepResult(
            *key,
            INTERRUPTED,
            because("killed-with-tipc"),
            attempts=event.attempt,
            started=event.at,
            log=event.log,
        )


def still_running(results: dict[Key, StepResult]) -> dict[Key, StepResult]:
    """The results of a run whose tipc is alive: what has begun and not ended is running."""
    shown = {}
    for key, result in results.items():
        if result.reason == because("killed-with-tipc"):
            result = replace(result, state=PENDING, reason=because("running"))
        shown[key] = result
    return shown
