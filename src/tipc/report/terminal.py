"""The summary at the end of a run, on a terminal in colour, elsewhere as plain aligned lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from tipc.certify.verdict import FAIL, NOT_CERTIFIED, PASS, UNCHECKED, Finding
from tipc.report.headline import headline
from tipc.report.marks import FINDING_STATES, LETTERS, MARKS
from tipc.report.text import clean, duration, one_line, relative
from tipc.report.view import BAD, ORDER, SKIPPED, UNCERTIFIED, CellView, PlanView, RunView, StepView, asked
from tipc.run.diagnose import diagnose
from tipc.run.failure import failure_lines
from tipc.run.log_tail import tail
from tipc.run.progress import printable
from tipc.run.record import FAILED, FLAKY, PASSED, TIMEOUT

WHOLE = 12  # so many configs are shown cell by cell, more with a line each
ROWS = 60
FAILURES = 8
TONES = {"good": "bold green", "bad": "bold red", "open": "bold yellow"}
STYLES = {PASSED: "green", FLAKY: "green", UNCERTIFIED: "yellow", SKIPPED: "dim"}
TELLING = ("TP", "TQ", "TA")


class Span(NamedTuple):
    """Some text in one style."""

    text: str
    style: str = ""


Line = list[Span]


def write_summary(view: RunView, stream: TextIO, report: Path | None = None, *, full: bool = False) -> None:
    """Print tables, failures, the headline, findings, and where the HTML report lies.

    ``full`` shows also the end of the logs of what failed; ``tipc run`` has shown it when it happened.
    """
    marks = MARKS if _can_show(stream, "".join(MARKS.values())) else LETTERS
    write_lines(stream, [*_plans(view, marks), *_failures(view, full), *_conclusion(view, marks, report)])


def write_lines(stream: TextIO, lines: Iterable[Line]) -> None:
    """Write styled lines: with colours where the stream is a terminal, else as plain text."""
    if not stream.isatty():
        for line in lines:
            stream.write(printable(stream, "".join(span.text for span in line).rstrip()) + "\n")
        stream.flush()
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text.assemble(*((span.text, span.style) for span in line)))


def aligned(rows: Sequence[Sequence[Line]], gap: str = "   ", indent: str = "  ") -> list[Line]:
    """Rows of cells as lines in which the cells stand below each other; wide characters count as two."""
    from rich.cells import cell_len

    columns = max(map(len, rows), default=0)
    widths = [
        max(
            (cell_len("".join(span.text for span in row[column])) for row in rows if column < len(row)),
            default=0,
        )
        for column in range(columns)
    ]
    lines = []
    for row in rows:
        line = [Span(indent)]
        for column, cell in enumerate(row):
            used = cell_len("".join(span.text for span in cell))
            # Nothing after the last cell: it would wrap into an empty line on a narrow terminal.
            last = column == len(row) - 1
            line += cell if last else [*cell, Span(" " * (widths[column] - used) + gap)]
        lines.append(line)
    return lines


def _can_show(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _plans(view: RunView, marks: dict[str, str]) -> list[Line]:
    if len(view.plans) <= WHOLE:
        return [line for plan in view.plans for line in _plan(plan, marks)]
    plans = sorted(view.plans, key=lambda plan: plan.state not in BAD)[:ROWS]
    lines = aligned([_brief(plan, marks) for plan in plans])
    if len(view.plans) > ROWS:
        lines.append([Span(f"  and {len(view.plans) - ROWS} more; the report has them all", "dim")])
    return [*lines, []]


def _plan(plan: PlanView, marks: dict[str, str]) -> list[Line]:
    data = plan.plan
    title = [Span(clean(data.model), "bold"), Span(f" · {clean(data.config)} · {clean(data.mode)}", "dim")]
    skips = Counter((skip.kind, skip.reason) for skip in data.skipped)
    reasons = Counter(cell.cell.not_certified for cell in plan.cells if cell.cell.not_certified)
    return [
        title,
        *aligned([_row(cell, marks) for cell in plan.cells]),
        *(
            [Span(f"  skipped  {kind} ×{n}: {one_line(reason)}", "dim")]
            for (kind, reason), n in skips.items()
        ),
        *(
            [Span(f"  {marks[UNCERTIFIED]} not certified  ", "yellow"), Span(one_line(text))]
            for text in reasons
        ),
        [],
    ]


def _brief(plan: PlanView, marks: dict[str, str]) -> list[Line]:
    steps = [
        _tally(kind, [one for one in plan.steps if one.step.kind == kind], marks) for kind in _kinds(plan)
    ]
    return [[Span(clean(plan.plan.model))], [Span(Path(clean(plan.plan.config)).name, "dim")], *steps]


def _kinds(plan: PlanView) -> list[str]:
    return list(dict.fromkeys(one.step.kind for one in plan.steps))


def _row(cell: CellView, marks: dict[str, str]) -> list[Line]:
    """A cell: trainer, where, and each kind of step; inference by device and precision."""
    groups: dict[str, list[StepView]] = {}
    for view in cell.steps:
        name = view.step.kind
        if name == "infer":
            name = f"infer {view.step.device} {view.step.settings.get('precision', '')}".rstrip()
        groups.setdefault(name, []).append(view)
    level = f" {cell.cell.amp_level}" if cell.cell.amp_level else ""
    where = [Span(clean(asked(cell.cell)))]
    if cell.not_certified:
        where.append(Span(f" {marks[UNCERTIFIED]}", "yellow"))
    return [
        [Span(clean(cell.cell.trainer) + level)],
        where,
        *(_tally(name, views, marks) for name, views in groups.items()),
    ]


def _tally(name: str, views: Sequence[StepView], marks: dict[str, str]) -> Line:
    """``eval ✔ 1.9s``; of several steps how many are in which state: ``infer cpu fp32 ✔3 ✘1 3.6s``."""
    if not views:
        return []
    counts = Counter(view.state for view in views)
    spans = [Span(f"{clean(name)} ")]
    for state in sorted(counts, key=ORDER.index):
        number = str(counts[state]) if len(views) > 1 else ""
        spans.append(Span(f"{marks[state]}{number} ", STYLES.get(state, "red" if state in BAD else "yellow")))
    wall = sum(view.result.wall for view in views)
    if wall:
        spans.append(Span(duration(wall), "dim"))
    elif len(counts) == 1:
        spans.append(Span(views[0].state, "dim"))
    return spans


def _failures(view: RunView, full: bool) -> list[Line]:
    lines: list[Line] = []
    failed = [
        (plan, one) for plan in view.plans for one in plan.steps if one.result.state in (FAILED, TIMEOUT)
    ]
    for plan, one in failed[:FAILURES]:
        if full:
            told = failure_lines(plan.plan, one.step, one.result)
            lines += [[Span(clean(told[0]), "bold red")], *([Span(clean(text))] for text in told[1:]), []]
            continue
        known = diagnose(plan.plan, one.step, one.result, tail(one.result.log) if one.result.log else [])
        lines.append([Span("FAILED", "bold red"), Span(f"  {clean(plan.plan.model)} · {clean(one.step.id)}")])
        table = {
            "cause": known.cause or one.result.reason,
            "try": known.remedy,
            "log": relative(one.result.log, str(Path.cwd())),
        }
        lines += [
            [Span(f"  {name:<8} ", "dim"), Span(one_line(text, 400))] for name, text in table.items() if text
        ]
        lines.append([])
    if len(failed) > FAILURES:
        lines += [[Span(f"and {len(failed) - FAILURES} more failed; the report has them all", "dim")], []]
    return lines


def _conclusion(view: RunView, marks: dict[str, str], report: Path | None) -> list[Line]:
    line = headline(view)
    lines: list[Line] = [[Span(line.claim, TONES[line.tone]), Span(f" · {' · '.join(line.details)}")]]
    if view.verdict is not None:
        lines += _findings(view, marks)
    elif line.word == "NOT CHECKED":
        lines.append([Span("  the commands ended well; whether their results are right was not looked at")])
    if report is not None:
        lines.append([Span("report: "), Span(relative(str(report), str(Path.cwd())), "underline")])
    return lines


def _findings(view: RunView, marks: dict[str, str]) -> list[Line]:
    """What did not pass with its remedy, one entry for the same message; then what did."""
    rows: list[list[Line]] = []
    told = _told_above(view)
    for status in (FAIL, UNCHECKED, NOT_CERTIFIED):
        groups: dict[tuple[str, str], list[Finding]] = {}
        for finding in view.telling:
            if finding.status == status and (status != UNCHECKED or finding.required) and finding not in told:
                groups.setdefault((finding.check, finding.message), []).append(finding)
        remedies = set[str]()
        for (check, message), findings in list(groups.items())[:20]:
            rows.append(_entry(status, check, message, len(findings), marks))
            remedy = findings[0].remedy
            if remedy and remedy not in remedies:
                remedies.add(remedy)
                rows.append([[], [], [Span("try  ", "dim"), Span(one_line(remedy, 400))]])
        if len(groups) > 20:
            rows.append([[], [], [Span(f"and {len(groups) - 20} more", "dim")]])
    passed = [finding for finding in view.telling if finding.status == PASS]
    messages: dict[str, list[str]] = {}
    for finding in sorted(passed, key=lambda finding: finding.check):
        if finding.check.startswith(TELLING):
            messages.setdefault(finding.check, []).append(finding.message)
    for check, texts in messages.items():
        different = list(dict.fromkeys(texts))
        text = " | ".join(different[:2]) + (" | …" if len(different) > 2 else "")
        rows.append(_entry(PASS, check, text, len(texts), marks))
    rest = [one for one in passed if one.check not in messages]
    if rest:
        names = sorted({one.check for one in rest})
        text = f"{len(rest)} passed: {', '.join(names[:14])}{', …' if len(names) > 14 else ''}"
        rows.append([[Span(marks[PASSED], "green")], [Span("checks")], [Span(text)]])
    return aligned(rows, gap="  ")


def _told_above(view: RunView) -> list[Finding]:
    """The findings that only repeat why a cell ran elsewhere than was asked: its table has said so."""
    if len(view.plans) > WHOLE:
        return []
    return [
        finding
        for plan in view.plans
        for cell in plan.cells
        for finding in cell.every_finding
        if finding.status == NOT_CERTIFIED
        and cell.cell.not_certified
        and cell.cell.not_certified in finding.message
    ]


def _entry(status: str, check: str, message: str, count: int, marks: dict[str, str]) -> list[Line]:
    state = FINDING_STATES[status]
    style = {PASS: "green", FAIL: "red"}.get(status, "yellow")
    word = "NOT CERTIFIED " if status == NOT_CERTIFIED else "NOT CHECKED " if status == UNCHECKED else ""
    times = f"  ×{count}" if count > 1 else ""
    text = [Span(word, style), Span(one_line(message, 400)), Span(times, "dim")]
    return [[Span(marks[state], style)], [Span(clean(check))], text]
