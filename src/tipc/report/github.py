"""What GitHub shows beside a change: an annotation at the config's line for everything that went wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tipc.certify.check_text import finding_message, finding_words
from tipc.certify.verdict import Finding
from tipc.kinds import FAIL, FAILED, TIMEOUT, UNCHECKED
from tipc.language import say
from tipc.plan.model import Plan
from tipc.report.plain_text import one_line
from tipc.report.view import PlanView, RunView
from tipc.run.show.diagnose import diagnose
from tipc.run.show.log_tail import tail
from tipc.visible import visible

MOST = 10  # GitHub shows no more errors of one step of a job


def error_lines(view: RunView) -> list[str]:
    """``::error file=…,line=…,title=…::message``, the first of each cause."""
    found: dict[str, str] = {}
    for plan in view.plans:
        for key, line in (*_failed_steps(plan), *_findings(plan, view)):
            found.setdefault(key, line)
    return list(found.values())[:MOST]


def _failed_steps(plan: PlanView) -> Iterator[tuple[str, str]]:
    for one in plan.steps:
        if one.result.state not in (FAILED, TIMEOUT):
            continue
        known = diagnose(plan.plan, one.step, one.result, tail(one.result.log), plan.prepared)
        message = known.cause or f"{one.step.id} {one.result.state}"
        if known.remedy:
            message += f"\n{say('try: ')}{known.remedy}"
        yield message, _line("error", plan.plan, one.step.line, f"tipc: {one.step.id} failed", message)


def _findings(plan: PlanView, view: RunView) -> Iterator[tuple[str, str]]:
    lines = {one.step.id: one.step.line for one in plan.steps}
    for finding in view.telling:
        if finding.plan != plan.plan.key:
            continue
        level = _level(finding)
        if level:
            words = finding_words(finding)
            message = finding_message(finding)
            if words.remedy:
                message += f"\n{say('try: ')}{words.remedy}"
            title = f"tipc {finding.check}: {words.title}"
            yield (
                f"{finding.check} {finding.message}",
                _line(level, plan.plan, lines.get(finding.step, 0), title, message),
            )


def _level(finding: Finding) -> str:
    if finding.status == FAIL:
        return "error"
    if finding.status == UNCHECKED and finding.required:
        return "warning"
    return ""


def _line(level: str, plan: Plan, line: int, title: str, message: str) -> str:
    # As seen from the checkout, also where a job works in a folder of it.
    path = os.path.relpath(Path(plan.repo) / plan.config, os.environ.get("GITHUB_WORKSPACE") or ".")
    place = f"file={_property(path)},line={max(line, 1)},title={_property(one_line(title, 120))}"
    return f"::{level} {place}::{_data(message)}"


def _data(text: str) -> str:
    """A message as GitHub wants it: one line, with the three characters escaped that would end it."""
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
