"""A run for other programs: everything that the other reports show, as JSON with a schema version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tipc import __version__
from tipc.certify.verdict import Finding
from tipc.certify.verdict_store import plain
from tipc.json_stream import with_list
from tipc.kinds import STATUSES
from tipc.language import DEFAULT, sentence
from tipc.plan.model import AppliedFix, Skip
from tipc.reasons import Reason
from tipc.report.figures import Benchmark, Metric
from tipc.report.headline import headline
from tipc.report.machine_facts import fingerprint, machine_name
from tipc.report.plain_text import command
from tipc.report.view import CellView, PlanView, RunView, StepView

SCHEMA = "tipc.report/1"


@dataclass(frozen=True)
class StepDocument:
    """A step and how it ended."""

    id: str
    kind: str
    label: str
    state: str  # with the checks
    result: str  # without
    reason: Reason | None
    exit_code: int | None
    signal: int | None
    attempts: int
    started: float
    wall: float
    cpu: float
    peak_rss: int
    peak_gpu: int
    device: str
    settings: Mapping[str, str]
    command: str
    log: str
    metrics: tuple[Metric, ...]
    benchmarks: tuple[Benchmark, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class SkipDocument:
    """What the plan left out."""

    kind: str
    device: str
    settings: Mapping[str, str]
    what: str
    code: str
    reason: str


@dataclass(frozen=True)
class CellDocument:
    """A combination with its steps."""

    id: str
    trainer: str
    asked: str
    runs_on: str
    autocast: str
    precision: str
    amp_level: str
    state: str
    not_certified: tuple[str, ...]
    skipped: tuple[SkipDocument, ...]
    findings: tuple[Finding, ...]
    steps: tuple[StepDocument, ...]


@dataclass(frozen=True)
class PlanDocument:
    """A config in a mode."""

    config: str
    mode: str
    model: str
    dialect: str
    repo: str
    state: str
    notes: tuple[str, ...]
    fixes: tuple[AppliedFix, ...]
    findings: tuple[Finding, ...]
    cells: tuple[CellDocument, ...]


@dataclass(frozen=True)
class HeadlineDocument:
    """How the run went, in a line."""

    word: str
    where: str
    why: str
    details: tuple[str, ...]


@dataclass(frozen=True)
class MachineDocument:
    """Where it ran."""

    fingerprint: str
    name: str


@dataclass(frozen=True)
class RunDocument:
    """A run; ``passed`` is null where nothing was checked, ``ended`` where it was broken off."""

    id: str
    directory: str
    argv: tuple[str, ...]
    started: float
    ended: float | None
    seconds: float
    state: str
    headline: HeadlineDocument
    checked: bool
    passed: bool | None
    machine: MachineDocument
    environment: Mapping[str, Any]
    counts: Mapping[str, int]  # state → steps
    checks: Mapping[str, int]  # status → findings
    findings: tuple[Finding, ...]
    plans: tuple[PlanDocument, ...]


@dataclass(frozen=True)
class ReportDocument:
    """Some runs."""

    tipc: str  # the version that wrote it
    runs: tuple[RunDocument, ...]


def json_parts(views: Sequence[RunView]) -> Iterator[str]:
    """The text of the document in parts, a config a line: the whole takes more memory than the runs.

    docs/reports.md says what its fields mean. NaN and infinity are null.
    """
    report = plain(ReportDocument(__version__, ()))
    yield from with_list({"schema": SCHEMA, **report}, "runs", map(_run_parts, views))
    yield "\n"


def _run_parts(view: RunView) -> Iterator[str]:
    return with_list(plain(_run(view)), "plans", map(_plan_parts, view.plans))


def _plan_parts(view: PlanView) -> Iterator[str]:
    return with_list(plain(_plan(view)), "cells", map(_cell_parts, view.cells), newline="")


def _cell_parts(view: CellView) -> Iterator[str]:
    return with_list(plain(_cell(view)), "steps", map(_step_parts, view.steps), newline="")


def _step_parts(view: StepView) -> Iterator[str]:
    yield json.dumps(plain(_step(view)), ensure_ascii=False)


def _run(view: RunView) -> RunDocument:
    """All but its plans."""
    run, line, verdict = view.run, headline(view), view.verdict
    passed = None
    checks = {}
    if verdict is not None:
        passed = verdict.passed and run.ok
        checks = {status: verdict.count(status) for status in STATUSES}
    return RunDocument(
        id=run.id,
        directory=str(run.directory),
        argv=tuple(run.argv),
        started=run.started,
        ended=run.ended,
        seconds=view.elapsed,
        state=view.state,
        headline=HeadlineDocument(line.word, line.where, line.why, line.details),
        checked=verdict is not None,
        passed=passed,
        machine=MachineDocument(fingerprint(run.environment), machine_name(run.environment)),
        environment=run.environment,
        counts=dict(view.counts),
        checks=checks,
        findings=tuple(view.findings),
        plans=(),
    )


def _plan(view: PlanView) -> PlanDocument:
    """All but its cells."""
    plan = view.plan
    return PlanDocument(
        config=plan.config,
        mode=plan.mode,
        model=plan.model,
        dialect=plan.dialect,
        repo=plan.repo,
        state=view.state,
        notes=plan.notes,
        fixes=plan.fixes,
        findings=tuple(view.findings),
        cells=(),
    )


def _cell(view: CellView) -> CellDocument:
    """All but its steps."""
    cell = view.cell
    return CellDocument(
        id=cell.id,
        trainer=cell.trainer,
        asked=cell.asked,
        runs_on=cell.runs_on,
        autocast=cell.autocast,
        precision=cell.precision,
        amp_level=cell.amp_level,
        state=view.state,
        not_certified=view.why_not_certified(DEFAULT),
        skipped=tuple(map(_skip, view.skips)),
        findings=tuple(view.findings),
        steps=(),
    )


def _skip(skip: Skip) -> SkipDocument:
    return SkipDocument(
        kind=skip.kind,
        device=skip.device,
        settings=skip.settings,
        what=skip.label,
        code=skip.reason.code,
        reason=sentence(skip.reason, DEFAULT),
    )


def _step(view: StepView) -> StepDocument:
    step, result, figures = view.step, view.result, view.figures
    return StepDocument(
        id=step.id,
        kind=step.kind,
        label=view.label,
        state=view.state,
        result=result.state,
        reason=result.reason,
        exit_code=result.exit_code,
        signal=result.signal,
        attempts=result.attempts,
        started=result.started,
        wall=result.wall,
        cpu=result.cpu,
        peak_rss=result.peak_rss,
        peak_gpu=result.peak_gpu,
        device=step.device,
        settings=step.settings,
        command=command(step.argv, step.env, step.cwd, step.shell),
        log=result.log,
        metrics=figures.metrics,
        benchmarks=figures.benchmarks,
        findings=tuple(view.findings),
    )
