"""JUnit XML (the xunit2 form that Jenkins, GitLab and others read): a suite a config, a case a step."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from time import gmtime, strftime

from tipc.certify.verdict import Finding
from tipc.kinds import BLOCKED, FAIL, FAILED, INTERRUPTED, NOT_CERTIFIED, PENDING, TIMEOUT, UNCHECKED
from tipc.language import sentence, sentences
from tipc.plan.model import Plan
from tipc.report.plain_text import clean, log_end, one_line
from tipc.report.view import CellView, PlanView, RunView, StepView

LOG_LINES = 60


def junit(views: Sequence[RunView]) -> bytes:
    """The whole file."""
    return b"".join(junit_parts(views))


def junit_parts(views: Sequence[RunView]) -> Iterator[bytes]:
    """The same in parts. Steps that were left out and what could not be certified are skipped cases."""
    root = ET.Element("testsuites", name="tipc")
    totals = dict.fromkeys(("tests", "failures", "errors"), 0)
    parts = []  # each suite as text: the elements of all of them would take ten times as much memory
    for suite in _suites(views):
        for name in totals:
            totals[name] += int(suite.get(name, "0"))
        ET.indent(suite, level=1)
        parts.append(b"  " + ET.tostring(suite, encoding="utf-8") + b"\n")
    for name, total in totals.items():
        root.set(name, str(total))
    root.set("time", f"{sum(view.elapsed for view in views):.3f}")
    root.text = "\n"
    begin, _, end = ET.tostring(root, encoding="utf-8", xml_declaration=True).partition(b"\n</")
    yield begin + b"\n"
    yield from parts
    yield b"</" + end + b"\n"


def _suites(views: Sequence[RunView]) -> Iterator[ET.Element]:
    for view in views:
        within = ""
        if len(views) > 1:  # the same steps in several runs
            within = f"{view.run.id}."
        for plan in view.plans:
            yield _suite(view, plan, within)
        if view.findings:
            suite = _open(view, f"{view.run.id}: repository")
            for finding in view.findings:
                _finding(suite, f"{within}repository", finding, view)
            _close(suite, 0.0)
            yield suite


def _class_name(plan: Plan, within: str) -> str:
    """Tells a case from those of every other suite: servers put the cases of all suites together by it."""
    config = plan.config.removesuffix(".txt").replace(".", "_").replace("/", ".")
    return f"{within}{config.strip('.')}.{plan.mode}"


def _suite(view: RunView, plan: PlanView, within: str) -> ET.Element:
    suite = _open(view, f"{within}{plan.plan.key}")
    prefix = _class_name(plan.plan, within)
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
        _cell(suite, f"{prefix}.{cell.cell.id}", cell, view)
    for finding in plan.findings:
        _finding(suite, f"{prefix}.checks", finding, view)
    _close(suite, sum(one.result.wall for one in plan.steps))
    return suite


def _cell(suite: ET.Element, group: str, cell: CellView, view: RunView) -> None:
    for one in cell.steps:
        _step(suite, group, one, view)
        # Of other steps they only repeat that it did not pass.
        if one.result.ok or one.result.left_out:
            for finding in one.findings:
                _finding(suite, f"{group}.checks", finding, view)
    for finding in cell.findings:
        _finding(suite, f"{group}.checks", finding, view)
    for skip in cell.skips:
        _skipped(_case(suite, group, skip.label, 0.0), sentence(skip.reason))
    if cell.cell.not_certified:
        case = _case(suite, group, f"certified on {cell.cell.asked}", 0.0)
        _skipped(case, sentences(cell.cell.not_certified))


def _step(suite: ET.Element, group: str, one: StepView, view: RunView) -> None:
    result = one.result
    name = one.step.id
    if one.label != one.step.kind:
        name += f" ({one.label})"
    case = _case(suite, group, name, result.wall)
    end = "\n".join(log_end(result.log, LOG_LINES))
    _outcome(case, one, view, end)
    # The earlier attempts of a step that was tried again; the schema wants them after the failure.
    attempt = "rerunFailure"
    if result.ok:
        attempt = "flakyFailure"
    for _ in range(result.attempts - 1):
        _problem(case, attempt, "attempt", "an attempt failed; it was tried again", "")
    if end:
        ET.SubElement(case, "system-out").text = f"{clean(result.log)}\n{end}"


def _outcome(case: ET.Element, one: StepView, view: RunView, end: str) -> None:
    """What a case says of a step that did not pass."""
    state = one.result.state
    why = sentence(one.result.reason)
    if state in (FAILED, TIMEOUT):
        _problem(case, "failure", state, why, end)
    elif state == INTERRUPTED or (state == PENDING and view.run.ended is None):
        _problem(case, "error", state, why or "it did not run: the run was broken off", end)
    elif state == BLOCKED and not view.broken:
        _problem(case, "failure", state, why, "")
    elif state in (BLOCKED, PENDING) and why:
        _skipped(case, f"{state}: {why}")
    elif state in (BLOCKED, PENDING):
        _skipped(case, "not run")


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


def _open(view: RunView, name: str) -> ET.Element:
    return ET.Element(
        "testsuite",
        name=one_line(name),
        timestamp=strftime("%Y-%m-%dT%H:%M:%S", gmtime(view.run.started)),
        hostname=one_line(view.run.environment.get("host", "")),
    )


def _close(suite: ET.Element, seconds: float) -> None:
    cases = suite.findall("testcase")
    seen: Counter[tuple[str, str]] = Counter()
    for case in cases:
        key = (case.get("classname", ""), case.get("name", ""))
        seen[key] += 1
        if seen[key] > 1:  # a check that found several things in one place
            case.set("name", f"{key[1]} #{seen[key]}")
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
