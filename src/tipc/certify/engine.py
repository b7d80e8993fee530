"""Run to Verdict: show every check what it is for, and keep what it concludes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tipc.certify.probing import ask_probes
from tipc.certify.registry import Check, Outcome, all_checks, unchecked
from tipc.certify.scene import Answers, CellScene, PlanScene, RepoScene, StepScene
from tipc.certify.store import save_verdict
from tipc.certify.verdict import STATUSES, Finding, Verdict
from tipc.plan.model import Cell, Plan
from tipc.run.record import Run


def certify(run: Run, *, strict: bool = False) -> Verdict:
    """Make every check on a run and write ``verdict.json`` into its directory."""
    answers = ask_probes(run)
    findings = [
        finding
        for index, plan in enumerate(run.plans)
        for finding in plan_findings(run, plan, index, answers)
    ]
    verdict = Verdict(run.id, tuple(findings), strict)
    save_verdict(run, verdict)
    return verdict


def plan_findings(run: Run, plan: Plan, index: int, answers: Answers) -> Iterator[Finding]:
    """The findings about one plan: the plan's own, then cell by cell, then step by step."""
    checks = list(all_checks().values())
    scene = PlanScene(run, plan, index, answers)
    yield from findings_of(checks, "plan", scene)
    cells = {cell.id: cell for cell in plan.cells}
    for cell in plan.cells:
        yield from findings_of(checks, "cell", CellScene(run, plan, index, answers, cell=cell))
    for step in plan.steps:
        cell = cells.get(step.cell) or Cell(
            step.cell, trainer="", asked="", runs_on=""
        )  # e.g. to prepare data
        shown = StepScene(run, plan, index, answers, cell=cell, step=step)
        yield from findings_of(checks, "step", shown)
        # A step that did not pass has said what there is to say; its log and artefacts prove nothing.
        if shown.outcome.ok:
            yield from findings_of(checks, step.kind, shown)


def repo_findings(scene: RepoScene) -> list[Finding]:
    """The findings about a repository: ``tipc check``."""
    return list(findings_of(all_checks().values(), "repo", scene))


def findings_of(checks: Iterable[Check], scope: str, scene: PlanScene | RepoScene) -> Iterator[Finding]:
    """What the checks of one scope conclude about what they are shown."""
    for check in checks:
        if check.scope == scope:
            yield from (as_finding(check, outcome, scene) for outcome in outcomes(check, scene))


def outcomes(check: Check, scene: PlanScene | RepoScene) -> list[Outcome]:
    """What one check concludes; one that breaks says so, and never passes."""
    try:
        return list(check.function(scene))
    except Exception as error:  # noqa: BLE001 - a plug-in's bug or an unforeseen log must not lose the verdict
        where = error.__traceback__
        while where and where.tb_next:
            where = where.tb_next
        place = f"{where.tb_frame.f_code.co_filename}:{where.tb_lineno}" if where else "?"
        return [unchecked(f"the check itself broke: {type(error).__name__}: {error} ({place})")]


def as_finding(check: Check, outcome: Outcome, scene: PlanScene | RepoScene) -> Finding:
    """An outcome with the names of the check and of what it was shown."""
    assert outcome.status in STATUSES, f"{check.id} gave the status {outcome.status!r}"
    good = outcome.status == "pass"
    return Finding(
        check=check.id,
        title=check.title,
        status=outcome.status,
        message=outcome.message,
        plan=scene.plan.key if isinstance(scene, PlanScene) else "",
        cell=scene.cell.id if isinstance(scene, CellScene) else "",
        step=scene.step.id if isinstance(scene, StepScene) else outcome.step,
        required=outcome.required,
        remedy="" if good else outcome.remedy or check.remedy,
        evidence=outcome.evidence,
    )
