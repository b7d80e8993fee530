"""What a Run is: the plans, the environment, and for each step what happened. Read from its journal.

A run lives in ``.tipc/runs/<id>/``: ``plan.jsonl`` (a Plan a line), ``environment.json``, ``journal.jsonl``
(append-only), ``verdict.json`` and ``report.html`` once they were made. Checks and reports read only this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tipc.plan.model import Plan, Step

PASSED = "passed"
FLAKY = "flaky"  # passed, but not at the first attempt
FAILED = "failed"
TIMEOUT = "timeout"
BLOCKED = "blocked"  # something that it needs did not pass
INTERRUPTED = "interrupted"
PENDING = "pending"  # in the plan, not yet run (a crash, --only, -k, --fail-fast)
NOT_SELECTED = "not selected"  # the reason of a pending step that -k or --only left out
STATES = (PASSED, FLAKY, FAILED, TIMEOUT, BLOCKED, INTERRUPTED, PENDING)
GOOD = (PASSED, FLAKY)


@dataclass(frozen=True)
class StepResult:
    """The last word on one step, and what it used."""

    plan: str  # Plan.key
    step: str  # Step.id
    state: str = PENDING
    reason: str = ""  # one line: "exit 1", "killed by SIGSEGV", "no artefact …", "needs …/train"
    exit_code: int | None = None
    signal: int | None = None
    attempts: int = 0
    started: float = 0.0  # seconds since the epoch
    wall: float = 0.0  # seconds
    cpu: float = 0.0  # seconds, user and system, of the whole tree
    peak_rss: int = 0  # bytes, of the whole tree
    peak_gpu: int = 0  # bytes; 0 where there is no GPU
    gpu_util: float = 0.0  # mean, per cent
    log: str = ""  # absolute path of the log of this attempt
    warm: bool = False
    executor: str = "local"
    host: str = ""
    artefacts: Mapping[str, str] = field(default_factory=dict)  # path → digest, of what it produced

    @property
    def ok(self) -> bool:
        """It passed, at whatever attempt."""
        return self.state in GOOD

    @property
    def left_out(self) -> bool:
        """It was not selected, and has not passed earlier in the same run."""
        return self.state == PENDING and self.reason == NOT_SELECTED


@dataclass(frozen=True)
class Run:
    """One execution, whole or broken off, as its directory tells it."""

    id: str
    directory: Path
    plans: tuple[Plan, ...]
    environment: Mapping[str, Any]
    results: Mapping[tuple[str, str], StepResult]  # (Plan.key, Step.id); every step of every plan is there
    started: float
    ended: float | None  # None: it was killed or is still running
    argv: tuple[str, ...] = ()

    def result(self, plan: Plan, step: Step) -> StepResult:
        """What happened to a step; ``pending`` if nothing did."""
        return self.results[(plan.key, step.id)]

    @property
    def left_out(self) -> str:
        """``5 of 12 steps were not selected``: the run is a part of the chain; empty: it is the whole."""
        count = sum(result.left_out for result in self.results.values())
        return f"{count:,} of {len(self.results):,} steps were not selected" if count else ""

    @property
    def ok(self) -> bool:
        """Every step that was to run has passed."""
        return bool(self.results) and all(result.ok for result in self.results.values())
