"""A Run and its Verdict as people look at them: plans, cells and steps, each with what was concluded.

Made once a report; terminal, HTML, JUnit, JSON, Markdown and the history all read this.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from tipc.certify.verdict import Finding, Verdict
from tipc.kinds import (
    FAIL,
    FAILED,
    FLAKY,
    INTERRUPTED,
    NOT_CERTIFIED,
    PASSED,
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


@dataclass(frozen=True)
class StepView:
    """A step, what happened to it, and what its log tells."""

    step: Step
    result: StepResult
    findings: tuple[Finding, ...]
    state: str
    figures: Figures

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
        found = [finding for finding in self.every_finding if finding.status == NOT_CERTIFIED]
        reasons = [f"{finding.check}: {finding.message}" for finding in found]
        if self.cell.not_certified and not any(finding.check == DEVICE_CHECK for finding in found):
            reasons.insert(0, sentences(self.cell.not_certified))
        return tuple(dict.fromkeys(reasons))

    @property
    def every_finding(self) -> tuple[Finding, ...]:
        """About the cell and about its steps."""
        return (*self.findings, *(finding for view in self.steps for finding in view.findings))

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

    @property
    def steps(self) -> tuple[StepView, ...]:
        """All steps of all cells."""
        return tuple(view for cell in self.cells for view in cell.steps)


@dataclass(frozen=True)
class RunView:
    """Everything that a report says about one run."""

    run: Run
    verdict: Verdict | None
    plans: tuple[PlanView, ...]
    findings: tuple[Finding, ...]  # about the repository
    state: str

    @property
    def steps(self) -> tuple[StepView, ...]:
        """All steps of all plans."""
        return tuple(view for plan in self.plans for view in plan.steps)

    @property
    def telling(self) -> tuple[Finding, ...]:
        """The findings that say more than the states of the steps: none about a step that did not pass."""
        failed = {
            (plan.plan.key, one.step.id) for plan in self.plans for one in plan.steps if not one.result.ok
        }
        found = self.verdict.findings if self.verdict else ()
        return tuple(finding for finding in found if (finding.plan, finding.step) not in failed)

    @property
    def broken(self) -> bool:
        """A step failed, which explains the blocked ones; else these lack what was not selected."""
        return any(one.result.state in (FAILED, TIMEOUT, INTERRUPTED) for one in self.steps)

    @property
    def counts(self) -> Counter[str]:
        """How many steps are in each state; what the plan left out counts as skipped."""
        counts = Counter(view.state for view in self.steps)
        skipped = sum(len(plan.plan.skipped) for plan in self.plans)
        return counts + Counter({SKIPPED: skipped})

    @property
    def elapsed(self) -> float:
        """Seconds from start to end, or to the last thing that is known; without the time between calls."""
        last = max((view.result.started + view.result.wall for view in self.steps), default=self.run.started)
        return max(0.0, (self.run.ended or last) - self.run.started - self.run.idle)


def label(step: Step) -> str:
    """What a step is called in a table: its kind and, for inference, its setting."""
    if step.kind != "infer":
        return step.kind
    settings = dict(step.settings)
    words = [step.device, settings.pop("precision", "")]
    batch = settings.pop("batch_size", "")
    words.append(f"bs{batch}" if batch else "")
    for name, value in settings.items():
        if value in ("", "null", "False", "false", step.device):
            continue
        words.append(name if value in ("True", "true") else f"{name}={value}")
    return " ".join(["infer", *filter(None, words)])


def asked(cell: Cell) -> str:
    """Where a cell ran and, if that is another place than was asked for, where it should have."""
    if not cell.not_certified or not cell.asked:
        return cell.runs_on
    return f"{'gpu:' if cell.asked[0].isdigit() else ''}{cell.asked} → {cell.runs_on}"


def worst(states: Iterable[str]) -> str:
    """The state of a whole with parts in these states."""
    return min(states, key=WORST_FIRST.index, default=SKIPPED)


def judged(state: str, findings: Iterable[Finding], strict: bool = False) -> str:
    """A state, corrected by the checks: what they refute or leave open is not passed."""
    if state not in (PASSED, FLAKY):
        return state
    statuses = {finding.status for finding in findings if finding.status != UNCHECKED or finding.required}
    if FAIL in statuses:
        return REFUTED
    if UNCHECKED in statuses:
        return UNPROVEN
    if NOT_CERTIFIED in statuses:
        return UNPROVEN if strict else UNCERTIFIED
    return state


def view_of(run: Run, verdict: Verdict | None) -> RunView:
    """Sort the findings to what they are about, read the figures, and say what state everything is in."""
    about: dict[str, About] = defaultdict(lambda: defaultdict(list))
    for finding in verdict.findings if verdict else ():
        about[finding.plan][finding.cell, finding.step].append(finding)
    strict = bool(verdict and verdict.strict)
    plans = tuple(_plan_view(run, plan, about.pop(plan.key, {}), strict) for plan in run.plans)
    rest = tuple(finding for one in about.values() for findings in one.values() for finding in findings)
    state = worst([*(plan.state for plan in plans), judged(PASSED, rest, strict)])
    return RunView(run, verdict, plans, rest, state)


def _plan_view(run: Run, plan: Plan, about: About, strict: bool) -> PlanView:
    steps: dict[str, list[Step]] = {}
    for step in plan.steps:  # in order of execution: preparing first
        steps.setdefault(step.cell, []).append(step)
    for cell in plan.cells:
        steps.setdefault(cell.id, [])
    skips: dict[str, list[Skip]] = defaultdict(list)
    for skip in plan.skipped:
        skips[skip.cell].append(skip)
    known = {cell.id: cell for cell in plan.cells}
    cells = []
    for name, members in steps.items():
        # Preparing belongs to no combination: it gets a row of its own, named after what it does.
        cell = known.get(name) or Cell(name, members[0].kind, "", members[0].device)
        views = []
        for step in members:
            result = run.result(plan, step)
            found = tuple(about.pop((name, step.id), []) + about.pop(("", step.id), []))
            state = judged(result.state, found, strict)
            views.append(StepView(step, result, found, state, figures_of(step, result, found)))
        found = tuple(about.pop((name, ""), []))
        state = worst([*(view.state for view in views), judged(PASSED, found, strict) if views else SKIPPED])
        if cell.not_certified and state in (PASSED, FLAKY):
            state = UNCERTIFIED
        cells.append(CellView(cell, tuple(views), tuple(skips.pop(name, ())), found, state))
    found = tuple(finding for findings in about.values() for finding in findings)
    state = worst([*(cell.state for cell in cells), judged(PASSED, found, strict)])
    return PlanView(plan, tuple(cells), found, state)
