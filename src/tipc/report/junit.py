"""JUnit XML (the xunit2 form that Jenkins, GitLab and others read): a suite a config, a case a step."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
    parts: list[bytes] = []
    for suite, cases in _suites(views):
        parts += _suite_parts(suite, cases)
        for name in totals:
            totals[name] += int(suite.get(name, "0"))
    for name, total in totals.items():
        root.set(name, str(total))
    root.set("time", f"{sum(view.elapsed for view in views):.3f}")
    root.text = "\n"
    begin, _, end = ET.tostring(root, encoding="utf-8", xml_declaration=True).partition(b"\n</")
    yield begin + b"\n"
    yield from parts
    yield b"</" + end + b"\n"


def _suite_parts(suite: ET.Element, cases: Iterable[ET.Element]) -> list[bytes]:
    """A suite with its cases as text, each made when its turn comes: the elements of all of them would take
    ten times as much memory."""
    counts: Counter[str] = Counter()
    parts = []
    for case in _told_apart(cases):
        counts["tests"] += 1
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            counts[name] += case.find(tag) is not None
        ET.indent(case, level=2)
        parts.append(b"    " + ET.tostring(case, encoding="utf-8") + b"\n")
    seconds = suite.attrib.pop("time")
    for name in ("tests", "failures", "errors", "skipped"):
        suite.set(name, str(counts[name]))
    suite.set("time", seconds)
    ET.indent(suite, level=1)
    if not len(suite):
        suite.text = "\n  "
    begin, mark, end = ET.tostring(suite, encoding="utf-8").rpartition(b"  </testsuite")
    return [b"  " + begin, *parts, mark + end + b"\n"]


def _told_apart(cases: Iterable[ET.Element]) -> Iterator[ET.Element]:
    """The cases, those of one name numbered: a check may find several things in one place, which come one
    after the other."""
    seen: Counter[str] = Counter()
    group = ""
    for case in cases:
        if case.get("classname", "") != group:
            seen.clear()
            group = case.get("classname", "")
        name = case.get("name", "")
        seen[name] += 1
        if seen[name] > 1:
            case.set("name", f"{name} #{seen[name]}")
        yield case


def _suites(views: Sequence[RunView]) -> Iterator[tuple[ET.Element, Iterator[ET.Element]]]:
    for view in views:
        within = ""
        if len(views) > 1:  # the same steps in several runs
            within = f"{view.run.id}."
        for plan in view.plans:
            yield _suite(view, plan, within), _cases(view, plan, within)
        if view.findings:
            suite = _open(view, f"{view.run.id}: repository", 0.0)
            yield suite, (_finding(f"{within}repository", finding, view) for finding in view.findings)


def _class_name(plan: Plan, within: str) -> str:
    """Tells a case from those of every other suite: servers put the cases of all suites together by it."""
    config = plan.config.removesuffix(".txt").replace(".", "_").replace("/", ".")
    return f"{within}{config.strip('.')}.{plan.mode}"


def _suite(view: RunView, plan: PlanView, within: str) -> ET.Element:
    """The element about a plan, without its cases."""
    suite = _open(view, f"{within}{plan.plan.key}", sum(one.result.wall for one in plan.steps))
    properties = ET.SubElement(suite, "properties")
    told = {
        "run": view.run.id,
        "model": plan.plan.model,
        "dialect": plan.plan.dialect,
        "repo": plan.plan.repo,
    }
    for name, value in told.items():
        ET.SubElement(properties, "property", name=name, value=one_line(value))
    return suite


def _cases(view: RunView, plan: PlanView, within: str) -> Iterator[ET.Element]:
    """What is said about each cell and step of a plan, and about the whole of it."""
    prefix = _class_name(plan.plan, within)
    for cell in plan.cells:
        yield from _cell(f"{prefix}.{cell.cell.id}", cell, view)
    for finding in plan.findings:
        yield _finding(f"{prefix}.checks", finding, view)


def _cell(group: str, cell: CellView, view: RunView) -> Iterator[ET.Element]:
    for one in cell.steps:
        yield _step(group, one, view)
        # Of other steps they only repeat that it did not pass.
        if one.result.ok or one.result.left_out:
            for finding in one.findings:
                yield _finding(f"{group}.checks", finding, view)
    for finding in cell.findings:
        yield _finding(f"{group}.checks", finding, view)
    for skip in cell.skips:
        case = _case(group, skip.label, 0.0)
        _skipped(case, sentence(skip.reason))
        yield case
    if cell.cell.not_certified:
        case = _case(group, f"certified on {cell.cell.asked}", 0.0)
        _skipped(case, sentences(cell.cell.not_certified))
        yield case


def _step(group: str, one: StepView, view: RunView) -> ET.Element:
    result = one.result
    name = one.step.id
    if one.label != one.step.kind:
        name += f" ({one.label})"
    case = _case(group, name, result.wall)
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
    return case


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


def _finding(group: str, finding: Finding, view: RunView) -> ET.Element:
    name = " ".join(filter(None, (finding.check, finding.title, finding.step)))
    case = _case(group, name, 0.0)
    strict = view.verdict is not None and view.verdict.strict
    text = f"{clean(finding.message)}\n{clean(finding.remedy)}".strip()
    required = finding.status == UNCHECKED and finding.required
    if finding.status == FAIL or required or (strict and finding.status in (UNCHECKED, NOT_CERTIFIED)):
        _problem(case, "failure", finding.status, finding.message, text)
    elif finding.status in (UNCHECKED, NOT_CERTIFIED):
        _skipped(case, f"{finding.status.replace('_', ' ')}: {finding.message}")
    return case


def _open(view: RunView, name: str, seconds: float) -> ET.Element:
    return ET.Element(
        "testsuite",
        name=one_line(name),
        timestamp=strftime("%Y-%m-%dT%H:%M:%S", gmtime(view.run.started)),
        hostname=one_line(view.run.environment.get("host", "")),
        time=f"{seconds:.3f}",
    )


def _case(group: str, name: str, seconds: float) -> ET.Element:
    return ET.Element("testcase", classname=one_line(group), name=one_line(name), time=f"{seconds:.3f}")


def _problem(case: ET.Element, tag: str, kind: str, message: str, text: str) -> None:
    ET.SubElement(case, tag, type=kind, message=one_line(message)).text = clean(text)


def _skipped(case: ET.Element, reason: str) -> None:
    ET.SubElement(case, "skipped", message=one_line(reason))
