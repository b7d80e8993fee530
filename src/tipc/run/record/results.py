"""What a Run is: the plans, the environment, and for each step what happened.

A run lives in ``.tipc/runs/<id>/``: ``plan.jsonl`` (a Plan a line), ``environment.json``, ``journal.jsonl``
(append-only), ``verdict.json`` and ``report.html`` once they were made. Checks and reports read only this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Interval, Predicate

from tipc.kinds import GOOD, PENDING, STATES
from tipc.plan.model import Key, Plan, Step
from tipc.reasons import Reason, because

# What a file may say; anything else is damage. The largest dates lie some thousand years ahead.
Moment = Annotated[float, Interval(ge=0, le=1e11)]  # seconds since the epoch
Seconds = Annotated[float, Interval(ge=0, le=1e11)]
State = Annotated[str, Predicate(STATES.__contains__)]
Count = Annotated[int, Interval(ge=0, le=2**62)]


@dataclass(frozen=True, slots=True)
class StepResult:
    """The last word on one step, and what it used."""

    plan: str  # Plan.key
    step: str  # Step.id
    state: State = PENDING
    reason: Reason | None = None
    exit_code: int | None = None
    signal: int | None = None
    attempts: Count = 0
    started: Moment = 0.0
    wall: Seconds = 0.0
    cpu: Seconds = 0.0  # user and system, of the whole tree
    waited: Seconds = 0.0  # of ``wall``: for a processor that others had
    peak_rss: Count = 0  # bytes, of the whole tree
    peak_gpu: Count = 0  # bytes; 0 where there is no GPU
    gpu_util: Seconds = 0.0  # mean, per cent
    log: str = ""  # absolute path of the log of this attempt
    warm: bool = False
    executor: str = "local"
    host: str = ""
    artefacts: Mapping[str, str] = field(default_factory=dict)  # path → digest, of what it produced
    removed: tuple[str, ...] = ()  # preparing: data that it removed and did not put back
    facts: str = ""  # SHA-256 of the facts file, as it was written when the step had ended
    clock: Annotated[float, Interval(ge=-1e11, le=1e11)] = 0.0  # seconds that the clock jumped while it ran

    @property
    def ok(self) -> bool:
        """It passed, at whatever attempt."""
        return self.state in GOOD

    @property
    def since(self) -> float:
        """The earliest date of what it wrote: a clock that was put back dates files before its start."""
        return self.started + min(0.0, self.clock)

    @property
    def until(self) -> float:
        """The latest date of what it wrote."""
        return self.started + self.wall + max(0.0, self.clock)

    @property
    def left_out(self) -> bool:
        """It was not selected, and has not passed earlier in the same run."""
        return self._pending_because("not-selected")

    @property
    def outdated(self) -> bool:
        """It passed earlier in the same run, and what it depends on has changed since."""
        return self._pending_because("outdated") or self._pending_because("outdated-artefact")

    def _pending_because(self, code: str) -> bool:
        return self.state == PENDING and self.reason is not None and self.reason.code == code


@dataclass(frozen=True)
class Run:
    """One execution, whole or broken off."""

    id: str
    directory: Path
    plans: tuple[Plan, ...]
    environment: Mapping[str, Any]
    results: Mapping[Key, StepResult]  # every step of every plan is there
    started: float
    ended: float | None  # None: it was killed or is still running
    argv: tuple[str, ...] = ()
    calls: int = 1  # of tipc: the first one and each that went on with it
    idle: float = 0.0  # seconds between these calls, in which nothing ran
    # Files of the run that are not what tipc itself has written into them, and what differs.
    tampered: tuple[Reason, ...] = ()
    # What became of sources while the steps ran, as absolute paths: scripts, configs and what commands name;
    # other settings that changed; scripts outside of the outputs that were not there before.
    changed_sources: tuple[str, ...] = ()
    changed_settings: tuple[str, ...] = ()
    new_scripts: tuple[str, ...] = ()

    def result(self, plan: Plan, step: Step) -> StepResult:
        """What happened to a step; ``pending`` if nothing did."""
        return self.results[(plan.key, step.id)]

    @cached_property
    def writers(self) -> Counter[tuple[str, str]]:
        """(Plan.repo, path of an artefact) → how many steps have left it."""
        found: Counter[tuple[str, str]] = Counter()
        for plan in self.plans:
            for step in plan.steps:
                found.update([(plan.repo, name) for name in self.result(plan, step).artefacts])
        return found

    @property
    def left_out(self) -> Reason | None:
        """Why the run is only a part of the chain: steps were not selected, or are outdated."""
        results = self.results.values()
        unselected = sum(result.left_out for result in results)
        if unselected:
            return because("steps-not-selected", count=unselected, steps=len(results))
        outdated = sum(result.outdated for result in results)
        if outdated:
            return because("steps-outdated", count=outdated, steps=len(results))
        return None

    @property
    def ok(self) -> bool:
        """Every step that was to run has passed."""
        return bool(self.results) and all(result.ok for result in self.results.values())
