"""A Run and its Verdict as people look at them: plans, cells and steps, each with what was concluded.

Made once a report; terminal, HTML, JUnit, JSON, Markdown and the history all read this.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tipc.certify.check_text import finding_message
from tipc.certify.verdict import Finding, Verdict
from tipc.kinds import (
    FAIL,
    FAILED,
    FLAKY,
    INFER,
    INTERRUPTED,
    NOT_CERTIFIED,
    PASSED,
    PREPARE,
    REFUTED,
    SKIPPED,
    TIMEOUT,
    UNCERTIFIED,
    UNCHECKED,
    UNPROVEN,
    WORST_FIRST,
)
from tipc.language import sentences
from tipc.plan.model import Cell, Plan, Skip, Step
from tipc.report.figures import Figures, figures_of
from tipc.run.record.results import Run, StepResult

About = dict[tuple[str, str], list[Finding]]  # (cell, step) → what was found about it


DEVICE_CHECK = "TS003"  # the check that says of a cell what its ``not_certified`` says


@dataclass(frozen=True, slots=True)
class StepView:
    """A step, what happened to it, and what was found about it."""

    step: Step
    result: StepResult
    findings: tuple[Finding, ...]
    state: str

    @property
    def figures(self) -> Figures:
        """Read each time that they are asked for: of ten thousand steps they take too much memory."""
        return figures_of(self.step, self.result, self.findings)

    @property
    def label(self) -> str:
        """``train``, or for inference the setting: ``infer cpu fp32 bs1 mkldnn``."""
        return label(self.step)


@dataclass(frozen=True)
class CellView:
    """A cell with its steps, what was left out of it, and the findings about it."""

    cell: Cell
    steps: tuple[StepView, ...]
    skips: tuple[Skip, ...]
    findings: tuple[Finding, ...]  # about the cell as a whole; those about a step are with the step
    state: str

    @property
    def not_certified(self) -> tuple[str, ...]:
        """Why this cell does not certify what was asked for; empty: it does, as far as it passed."""
        return self.why_not_certified()

    def why_not_certified(self, into: str = "") -> tuple[str, ...]:
        """The same in a given language."""
        reasons: dict[str, None] = {}
        device_checked = False
        for finding in self.every_finding:
            if finding.status == NOT_CERTIFIED:
                reasons[f"{finding.check}: {finding_message(finding, into)}"] = None
                device_checked = device_checked or finding.check == DEVICE_CHECK
        if self.cell.not_certified and not device_checked:
            return (sentences(self.cell.not_certified, into), *reasons)
        return tuple(reasons)

    @property
    def every_finding(self) -> tuple[Finding, ...]:
        """About the cell and about its steps."""
        found = list(self.findings)
        for view in self.steps:
            found += view.findings
        return tuple(found)

    @property
    def wall(self) -> float:
        """Seconds that its steps took together."""
        return sum(view.result.wall for view in self.steps)


@dataclass(frozen=True)
class PlanView:
    """One config in one mode."""

    plan: Plan
    cells: tuple[CellView, ...]
    findings: tuple[Finding, ...]  # about the plan as a whole
    state: str

    @cached_property
    def steps(self) -> tuple[StepView, ...]:
        """All steps of all cells."""
        views: list[StepView] = []
        for cell in self.cells:
            views += cell.steps
        return tuple(views)

    @property
    def prepared(self) -> StepResult | None:
        """What came of preparing its data."""
        for one in self.steps:
            if one.step.kind == PREPARE:
                return one.result
        return None


@dataclass(frozen=True)
class RunView:
    """Everything that a report says about one run."""

    run: Run
    verdict: Verdict | None
    plans: tuple[PlanView, ...]
    findings: tuple[Finding, ...]  # about the repository
    state: str

    @cached_property
    def steps(self) -> tuple[StepView, ...]:
        """All steps of all plans."""
        views: list[StepView] = []
        for plan in self.plans:
            views += plan.steps
        return tuple(views)

    @cached_property
    def telling(self) -> tuple[Finding, ...]:
        """The findings that say more than the states of the steps: none about a step that did not pass."""
        if self.verdict is None:
            return ()
        failed = set()
        for plan in self.plans:
            for one in plan.steps:
                if not one.result.ok:
                    failed.add((plan.plan.key, one.step.id))
        return tuple(one for one in self.verdict.findings if (one.plan, one.step) not in failed)

    @property
    def broken(self) -> bool:
        """A step failed, which explains the blocked ones; else these lack what was not selected."""
        states = {one.result.state for one in self.steps}
        return not states.isdisjoint((FAILED, TIMEOUT, INTERRUPTED))

    @property
    def counts(self) -> Counter[str]:
        """How many steps are in each state; what the plan left out counts as skipped."""
        counts = Counter(view.state for view in self.steps)
        for plan in self.plans:
            if plan.plan.skipped:
                counts[SKIPPED] += len(plan.plan.skipped)
        return counts

    @property
    def elapsed(self) -> float:
        """Seconds from start to end, or to the last thing that is known; without the time between calls."""
        last = self.run.started
        for view in self.steps:
            last = max(last, view.result.started + view.result.wall)
        return max(0.0, (self.run.ended or last) - self.run.started - self.run.idle)


def label(step: Step) -> str:
    """What a step is called in a table: its kind and, for inference, its setting."""
    if step.kind != INFER:
        return step.kind
    settings = dict(step.settings)
    words = [INFER, step.device]
    precision = settings.pop("precision", "")
    if precision:
        words.append(precision)
    batch = settings.pop("batch_size", "")
    if batch:
        words.append(f"bs{batch}")
    for name, value in settings.items():
        if value in ("True", "true"):
            words.append(name)
        elif value not in ("", "null", "False", "false", step.device):
            words.append(f"{name}={value}")
    return " ".join(words)


def worst(states: Iterable[str]) -> str:
    """The state of a whole with parts in these states."""
    return min(states, key=WORST_FIRST.index, default=SKIPPED)


def judged(state: str, findings: Iterable[Finding], strict: bool = False) -> str:
    """A state, corrected by the checks: what they refute or leave open is not passed."""
    if state not in (PASSED, FLAKY):
        return state
    statuses = set()
    for finding in findings:
        if finding.status != UNCHECKED or finding.required:
            statuses.add(finding.status)
    if FAIL in statuses:
        return REFUTED
    if UNCHECKED in statuses or (strict and NOT_CERTIFIED in statuses):
        return UNPROVEN
    if NOT_CERTIFIED in statuses:
        return UNCERTIFIED
    return state


def view_of(run: Run, verdict: Verdict | None) -> RunView:
    """Sort the findings to what they are about, read the figures, and say what state everything is in."""
    about: dict[str, About] = defaultdict(lambda: defaultdict(list))
    strict = False
    if verdict is not None:
        strict = verdict.strict
        for finding in verdict.findings:
            about[finding.plan][finding.cell, finding.step].append(finding)
    plans = [_plan_view(run, plan, about.pop(plan.key, {}), strict) for plan in run.plans]
    rest: list[Finding] = []
    for left in about.values():
        rest += _left(left)
    state = worst([*_states(plans), judged(PASSED, rest, strict)])
    return RunView(run, verdict, tuple(plans), tuple(rest), state)


def _states(views: Iterable[StepView | CellView | PlanView]) -> list[str]:
    return [view.state for view in views]


def _left(about: About) -> tuple[Finding, ...]:
    """The findings that were not taken."""
    found: list[Finding] = []
    for findings in about.values():
        found += findings
    return tuple(found)


def _plan_view(run: Run, plan: Plan, about: About, strict: bool) -> PlanView:
    steps: dict[str, list[Step]] = {}
    for step in plan.steps:  # in order of execution: preparing first
        steps.setdefault(step.cell, []).append(step)
    known = {}
    for cell in plan.cells:
        steps.setdefault(cell.id, [])
        known[cell.id] = cell
    skips: dict[str, list[Skip]] = defaultdict(list)
    for skip in plan.skipped:
        skips[skip.cell].append(skip)
    cells = []
    for name, members in steps.items():
        # Preparing belongs to no combination: it gets a row of its own, named after what it does.
        cell = known.get(name) or Cell(name, members[0].kind, "", members[0].device)
        views = []
        for step in members:
            result = run.result(plan, step)
            found = tuple(about.pop((name, step.id), []) + about.pop(("", step.id), []))
            state = judged(result.state, found, strict)
            views.append(StepView(step, result, found, state))
        found = tuple(about.pop((name, ""), []))
        state = _cell_state(cell, views, found, strict)
        cells.append(CellView(cell, tuple(views), tuple(skips.pop(name, ())), found, state))
    found = _left(about)
    state = worst([*_states(cells), judged(PASSED, found, strict)])
    return PlanView(plan, tuple(cells), found, state)


def _cell_state(cell: Cell, views: Sequence[StepView], found: Sequence[Finding], strict: bool) -> str:
    if not views:
        return SKIPPED
    state = worst([*_states(views), judged(PASSED, found, strict)])
    if cell.not_certified and state in (PASSED, FLAKY):
        return UNCERTIFIED
    return state
