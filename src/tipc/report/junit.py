"""JUnit XML (the xunit2 form that Jenkins, GitLab and others read): a suite a config, a case a step."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from time import gmtime, strftime

from tipc.certify.verdict import FAIL, NOT_CERTIFIED, UNCHECKED, Finding
from tipc.report.text import clean, log_end, one_line
from tipc.report.view import PlanView, RunView, StepView
from tipc.run.record import BLOCKED, FAILED, INTERRUPTED, PENDING, TIMEOUT

LOG_LINES = 60


def junit(views: Sequence[RunView]) -> bytes:
    """The whole file. Steps that were left out and what could not be certified are skipped cases."""
    root = ET.Element("testsuites", name="tipc")
    for view in views:
        for plan in view.plans:
            _suite(root, view, plan)
        if view.findings:
            suite = _open(root, view, f"{view.run.id}: repository")
            for finding in view.findings:
                _finding(suite, "repository", finding, view)
            _close(suite, 0.0)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(view.elapsed for view in views):.3f}")
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _suite(root: ET.Element, view: RunView, plan: PlanView) -> None:
    suite = _open(root, view, plan.plan.key)
    properties = ET.SubElement(suite, "properties")
    told = {
        "run": view.run.id,
        "model": plan.plan.model,
        "dialect": plan.plan.dialect,
        "repo": plan.plan.repo,
    }
    for name, value in told.items():
        ET.SubElement(properties, "property", name=name, value=one_line(value))
    for cell in plan.cells:
        group = f"{plan.plan.model}.{cell.cell.id}"
        for one in cell.steps:
            _step(suite, group, one, view)
            # Of other steps they only repeat that it did not pass.
            for finding in one.findings if one.result.ok or one.result.left_out else ():
                _finding(suite, f"{group}.checks", finding, view)
        for finding in cell.findings:
            _finding(suite, f"{group}.checks", finding, view)
        for skip in cell.skips:
            _skipped(_case(suite, group, skip.what, 0.0), skip.reason)
        if cell.cell.not_certified:
            _skipped(_case(suite, group, f"certified on {cell.cell.asked}", 0.0), cell.cell.not_certified)
    for finding in plan.findings:
        _finding(suite, f"{plan.plan.model}.checks", finding, view)
    _close(suite, sum(one.result.wall for one in plan.steps))


def _step(suite: ET.Element, group: str, one: StepView, view: RunView) -> None:
    result = one.result
    case = _case(
        suite,
        group,
        f"{one.step.id} ({one.label})" if one.label != one.step.kind else one.step.id,
        result.wall,
    )
    end = "\n".join(log_end(result.log, LOG_LINES))
    # The earlier attempts of a step that was tried again; the schema wants them after the failure.
    again = ["flakyFailure" if result.ok else "rerunFailure"] * (result.attempts - 1)
    if result.state in (FAILED, TIMEOUT):
        _problem(case, "failure", result.state, result.reason, end)
    elif result.state == INTERRUPTED or (result.state == PENDING and view.run.ended is None):
        _problem(case, "error", result.state, result.reason or "it did not run: the run was broken off", end)
    elif result.state == BLOCKED and not view.broken:
        _problem(case, "failure", result.state, result.reason, "")
    elif result.state in (BLOCKED, PENDING):
        _skipped(case, f"{result.state}: {result.reason}" if result.reason else "not run")
    for name in again:
        _problem(case, name, "attempt", "an attempt failed; it was tried again", "")
    if end:
        ET.SubElement(case, "system-out").text = f"{clean(result.log)}\n{end}"


def _finding(suite: ET.Element, group: str, finding: Finding, view: RunView) -> None:
    name = " ".join(filter(None, (finding.check, finding.title, finding.step)))
    case = _case(suite, group, name, 0.0)
    strict = view.verdict is not None and view.verdict.strict
    text = f"{clean(finding.message)}\n{clean(finding.remedy)}".strip()
    required = finding.status == UNCHECKED and finding.required
    if finding.status == FAIL or required or (strict and finding.status in (UNCHECKED, NOT_CERTIFIED)):
        _problem(case, "failure", finding.status, finding.message, text)
    elif finding.status in (UNCHECKED, NOT_CERTIFIED):
        _skipped(case, f"{finding.status.replace('_', ' ')}: {finding.message}")


def _open(root: ET.Element, view: RunView, name: str) -> ET.Element:
    return ET.SubElement(
        root,
        "testsuite",
        name=one_line(name),
        timestamp=strftime("%Y-%m-%dT%H:%M:%S", gmtime(view.run.started)),
        hostname=one_line(view.run.environment.get("host", "")),
    )


def _close(suite: ET.Element, seconds: float) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{seconds:.3f}")


def _case(suite: ET.Element, group: str, name: str, seconds: float) -> ET.Element:
    return ET.SubElement(
        suite, "testcase", classname=one_line(group), name=one_line(name), time=f"{seconds:.3f}"
    )


def _problem(case: ET.Element, tag: str, kind: str, message: str, text: str) -> None:
    ET.SubElement(case, tag, type=kind, message=one_line(message)).text = clean(text)


def _skipped(case: ET.Element, reason: str) -> None:
    ET.SubElement(case, "skipped", message=one_line(reason))
