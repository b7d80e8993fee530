"""A run for other programs: everything that the other reports show, as JSON with a schema version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tipc import __version__
from tipc.certify.store import plain
from tipc.certify.verdict import STATUSES, Finding
from tipc.report.headline import headline
from tipc.report.machine import fingerprint, machine_name
from tipc.report.text import command
from tipc.report.view import CellView, PlanView, RunView, StepView

SCHEMA = "tipc.report/1"


def as_json(views: Sequence[RunView]) -> dict[str, Any]:
    """The document; docs/reports.md says what its fields mean. NaN and infinity are null."""
    document: dict[str, Any] = plain(
        {"schema": SCHEMA, "tipc": __version__, "runs": [_run(view) for view in views]}
    )
    return document


def _run(view: RunView) -> dict[str, Any]:
    run, line = view.run, headline(view)
    return {
        "id": run.id,
        "directory": str(run.directory),
        "argv": run.argv,
        "started": run.started,
        "ended": run.ended,
        "seconds": view.elapsed,
        "state": view.state,
        "headline": {"word": line.word, "where": line.where, "why": line.why, "details": line.details},
        "checked": view.verdict is not None,
        "passed": view.verdict.passed and run.ok if view.verdict else None,
        "machine": {"fingerprint": fingerprint(run.environment), "name": machine_name(run.environment)},
        "environment": run.environment,
        "counts": dict(view.counts),
        "checks": {status: view.verdict.count(status) for status in STATUSES} if view.verdict else {},
        "findings": _findings(view.findings),
        "plans": [_plan(plan) for plan in view.plans],
    }


def _plan(view: PlanView) -> dict[str, Any]:
    plan = view.plan
    return {
        "config": plan.config,
        "mode": plan.mode,
        "model": plan.model,
        "dialect": plan.dialect,
        "repo": plan.repo,
        "state": view.state,
        "notes": plan.notes,
        "fixes": [asdict(fix) for fix in plan.fixes],
        "findings": _findings(view.findings),
        "cells": [_cell(cell) for cell in view.cells],
    }


def _cell(view: CellView) -> dict[str, Any]:
    return {
        **asdict(view.cell),
        "state": view.state,
        "not_certified": view.not_certified,
        "skipped": [{"kind": skip.kind, "what": skip.what, "reason": skip.reason} for skip in view.skips],
        "findings": _findings(view.findings),
        "steps": [_step(step) for step in view.steps],
    }


def _step(view: StepView) -> dict[str, Any]:
    step, result = view.step, view.result
    return {
        "id": step.id,
        "kind": step.kind,
        "label": view.label,
        "state": view.state,
        "result": result.state,
        "reason": result.reason,
        "exit_code": result.exit_code,
        "signal": result.signal,
        "attempts": result.attempts,
        "started": result.started,
        "wall": result.wall,
        "cpu": result.cpu,
        "peak_rss": result.peak_rss,
        "peak_gpu": result.peak_gpu,
        "device": step.device,
        "settings": step.settings,
        "command": command(step.argv, step.env, "" if step.cwd == "." else step.cwd, step.shell),
        "log": result.log,
        "metrics": [asdict(metric) for metric in view.figures.metrics],
        "benchmarks": [asdict(benchmark) for benchmark in view.figures.benchmarks],
        "findings": _findings(view.findings),
    }


def _findings(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [asdict(finding) for finding in findings]
