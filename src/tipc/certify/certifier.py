"""Run to Verdict: show every check what it is for, and keep what it concludes."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing

from tipc.certify.checks.unwatched import without_doors
from tipc.certify.evidence.facts_of_run import load_witnessed
from tipc.certify.evidence.prober import Prober
from tipc.certify.evidence.probing import Asked, ask_probes
from tipc.certify.registry import Check, Outcome, all_checks, unchecked
from tipc.certify.scene import CellScene, PlanScene, RepoScene, StepScene, Witnessed
from tipc.certify.verdict import PASS, STATUSES, Finding, Verdict
from tipc.certify.verdict_store import save_verdict
from tipc.message import Message, in_english, wording
from tipc.plan.model import Cell
from tipc.run.record.results import Run

NO_WORDINGS: dict[str, Message] = {}  # one for all findings without parameters
# Checks that compare a model's answers, within a bound that depends on what rounding does to the model.
BOUNDED_BY_ROUNDING = frozenset({"TP301", "TP302", "TP303", "TP305"})


def certify(
    run: Run,
    *,
    strict: bool = False,
    say: Callable[[str], None] | None = None,
    prober: Prober | None = None,
) -> Verdict:
    """Make every check on a run and write ``verdict.json`` into its directory; ``say`` is told what is being
    checked. A ``prober`` that was asked before knows answers already; who made it closes it."""
    tell = say or (lambda text: None)
    witnessed = load_witnessed(run)
    with ExitStack() as stack:
        probes = prober or stack.enter_context(closing(Prober(run.directory / "evidence")))
        every = range(len(run.plans))
        found = findings_about(run, every, witnessed, ask_probes(run, witnessed, probes, tell), tell)
        doubted = {index for index in every if any(map(is_doubted, found[index]))}
        if doubted:
            for index in doubted:
                found[index].clear()  # of ten thousand steps they need not be there twice
            tell(str(wording("what rounding does to the exported models")))
            asked = ask_probes(run, witnessed, probes, tell, rounding=doubted)
            found |= findings_about(run, doubted, witnessed, asked, tell)
    findings: list[Finding] = []
    for those in found.values():
        findings += those
    verdict = Verdict(run.id, tuple(findings), strict)
    save_verdict(run, verdict)
    return verdict


def findings_about(
    run: Run, plans: Iterable[int], witnessed: Witnessed, asked: Asked, tell: Callable[[str], None]
) -> dict[int, list[Finding]]:
    """The findings about plans of a run, by their numbers."""
    found = {}
    for index in plans:
        plan = run.plans[index]
        told = wording(
            "{model}: {steps} steps against what was seen of them", model=plan.model, steps=len(plan.steps)
        )
        tell(str(told))
        scene = PlanScene(run, plan, index, asked.answers, witnessed, asked.tried, asked.images)
        found[index] = list(plan_findings(scene))
    return found


def is_doubted(finding: Finding) -> bool:
    """Whether knowing what rounding does to the model could help it.

    That only widens the bound on noise, so a comparison that passes without would pass with it.
    """
    return finding.check in BOUNDED_BY_ROUNDING and finding.status != PASS


def plan_findings(scene: PlanScene) -> Iterator[Finding]:
    """The findings about one plan: the plan's own, then cell by cell, then step by step."""
    checks = list(all_checks().values())
    yield from findings_of(checks, "plan", scene)
    cells = {cell.id: cell for cell in scene.plan.cells}
    for cell in scene.plan.cells:
        yield from findings_of(checks, "cell", scene.of_cell(cell))
    for step in scene.plan.steps:
        # A step that prepares data belongs to no cell.
        cell = cells.get(step.cell) or Cell(step.cell, trainer="", asked="", runs_on="")
        shown = scene.of_step(cell, step)
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
            for outcome in outcomes(check, scene):
                if isinstance(scene, CellScene):
                    outcome = without_doors(check.id, outcome, scene)
                yield as_finding(check, outcome, scene)


def outcomes(check: Check, scene: PlanScene | RepoScene) -> list[Outcome]:
    """What one check concludes; one that breaks says so, and never passes."""
    try:
        return list(check.function(scene))
    except Exception as error:  # noqa: BLE001 - a plug-in's bug or an unforeseen log must not lose the verdict
        innermost = traceback.extract_tb(error.__traceback__)[-1]
        broke = wording(
            "the check itself broke: {kind}: {error} ({place})",
            kind=type(error).__name__,
            error=str(error),
            place=f"{innermost.filename}:{innermost.lineno}",
        )
        return [unchecked(broke)]


def as_finding(check: Check, outcome: Outcome, scene: PlanScene | RepoScene) -> Finding:
    """An outcome with the names of the check and of what it was shown."""
    assert outcome.status in STATUSES, f"{check.id} gave the status {outcome.status!r}"
    remedy = outcome.remedy or check.remedy
    if outcome.status == PASS:
        remedy = ""
    wordings = NO_WORDINGS
    for name, text in (("message", outcome.message), ("remedy", remedy)):
        if isinstance(text, Message):
            wordings = {**wordings, name: text}
    plan = cell = ""
    step = outcome.step
    if isinstance(scene, PlanScene):
        plan = scene.plan.key
    if isinstance(scene, CellScene):
        cell = scene.cell.id
    if isinstance(scene, StepScene):
        step = scene.step.id
    return Finding(
        check=check.id,
        title=check.title,
        status=outcome.status,
        message=in_english(outcome.message),
        plan=plan,
        cell=cell,
        step=step,
        required=outcome.required,
        remedy=in_english(remedy),
        evidence=outcome.evidence,
        wordings=wordings,
    )
