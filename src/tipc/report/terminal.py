"""The summary at the end of a run, on a terminal in colour, elsewhere as plain aligned lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from tipc.certify.check_text import finding_message, finding_words
from tipc.certify.verdict import Finding
from tipc.kinds import (
    BAD,
    FAIL,
    FLAKY,
    INFER,
    NOT_CERTIFIED,
    PASS,
    PASSED,
    SIGNS,
    SKIPPED,
    STATE_OF_STATUS,
    STATUSES,
    UNCERTIFIED,
    UNCHECKED,
    WORST_FIRST,
)
from tipc.language import enumeration, plural, say, sentence, sentences
from tipc.plan.plan_text import asked_place
from tipc.report.failures import Failure, FailureGroup, failure_groups
from tipc.report.headline import headline, shown_state
from tipc.report.plain_text import clean, duration, one_line, relative, short_paths
from tipc.report.view import DEVICE_CHECK, CellView, PlanView, RunView, StepView
from tipc.run.show.colour import coloured
from tipc.run.show.failure import ways_on
from tipc.run.show.fold import breaks
from tipc.run.show.progress import printable
from tipc.visible import styled, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WHOLE = 12  # so many configs are shown cell by cell, more with a line each
ROWS = 60
FAILURES = 8  # causes
MESSAGES = 20  # of one status
NAMES = 14  # of checks that passed
STEPS_NAMED = 6  # of one cause, besides the first
LEAST_ROOM = 30  # columns; with less a text is not broken into rows
LABEL = 8  # columns, of what stands before a cause
TONES = {"good": "bold green", "bad": "bold red", "open": "bold yellow"}
STYLES = {PASSED: "green", FLAKY: "green", UNCERTIFIED: "yellow", SKIPPED: "dim"}
TELLING = ("TP", "TQ", "TA")


def text_of(line: Iterable[Span]) -> str:
    """The words of a line without their styles."""
    return "".join([span.text for span in line])


class Span(NamedTuple):
    """Some text in one style."""

    text: str
    style: str = ""


Line = list[Span]


class Hanging(list[Span]):
    """A line that is broken between words where it does not fit; what follows stands below ``column``."""

    def __init__(self, spans: Iterable[Span], column: int, stops: Sequence[int] = ()) -> None:
        super().__init__(spans)
        self.column = column
        self.stops = stops  # where it may be broken; none: between words


def write_summary(view: RunView, stream: TextIO, report: Path | None = None) -> None:
    """Print tables, failures, the headline, findings, and where the HTML report lies."""
    marks = _marks(stream)
    write_lines(stream, [*_plans(view, marks), *_failures(view), *_conclusion(view, marks, report)])


def write_lines(stream: TextIO, lines: Iterable[Line]) -> None:
    """Write styled lines: with colours where they are wanted, else as plain text."""
    if not stream.isatty() and not coloured(stream):
        for line in lines:
            stream.write(printable(stream, text_of(line).rstrip()) + "\n")
        stream.flush()
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=styled(stream),
        highlight=False,
        soft_wrap=True,
        no_color=not coloured(stream),
        force_terminal=coloured(stream) or None,
    )
    for line in lines:
        text = Text.assemble(*[(visible(words), style) for words, style in line])
        for row in _broken(line, text, console):
            console.print(row)


def _broken(line: Line, text: Text, console: Console) -> list[Text]:
    """The rows of a line; only a hanging one is broken here: commands and paths stay whole for copying."""
    if not isinstance(line, Hanging):
        return [text]
    room = console.width - line.column
    if text.cell_len <= console.width or room < LEAST_ROOM:
        return [text]
    if line.stops:
        return _cells_in_rows(text.divide(line.stops), line.column, console.width)
    first, *others = text.divide(breaks(text.plain, console.width, line.column))
    rows = [first]
    for row in others:
        rows.append(row.__class__(" " * line.column) + row)
    for row in rows:
        row.rstrip()
    return rows


def _cells_in_rows(cells: Iterable[Text], column: int, width: int) -> list[Text]:
    """As many cells in a row as fit; a cell is not torn apart."""
    rows: list[Text] = []
    for cell in cells:
        needed = cell.cell_len - (len(cell.plain) - len(cell.plain.rstrip()))
        if rows and rows[-1].cell_len + needed <= width:
            rows[-1].append_text(cell)
        elif rows:
            rows.append(cell.__class__(" " * column) + cell)
        else:
            rows.append(cell)
    for row in rows:
        row.rstrip()
    return rows


def aligned(
    rows: Sequence[Sequence[Line]],
    gap: str = "   ",
    indent: str = "  ",
    hanging: int | None = None,
    *,
    whole: bool = False,
) -> list[Line]:
    """Rows of cells as lines in which the cells stand below each other; wide characters count as two.

    ``hanging`` is the cell below which a line goes on that does not fit; ``whole``: between two cells.
    """
    widths = _widths(rows)
    lines = []
    for row in rows:
        line = _joined(row, widths, gap, indent)
        if hanging is not None:
            start = len(indent) + sum(widths[:hanging]) + hanging * len(gap)
            stops: list[int] = []
            if whole:
                stops = _starts(row, widths, gap, indent)[hanging + 1 :]
            line = Hanging(line, start, stops)
        lines.append(line)
    return lines


def padded(text: str, width: int) -> str:
    """A text that fills so many columns; a longer one stays as it is."""
    from rich.cells import cell_len

    return text + " " * (width - cell_len(text))


def _width(cell: Line) -> int:
    from rich.cells import cell_len

    return cell_len(text_of(cell))


def _widths(rows: Sequence[Sequence[Line]]) -> list[int]:
    """The columns that each cell of a row needs."""
    widths: list[int] = []
    for row in rows:
        widths += [0] * (len(row) - len(widths))
        for column, cell in enumerate(row):
            widths[column] = max(widths[column], _width(cell))
    return widths


def _joined(row: Sequence[Line], widths: Sequence[int], gap: str, indent: str) -> Line:
    """The cells of a row in one line, each as wide as its column."""
    line = [Span(indent)]
    for column, cell in enumerate(row):
        line += cell
        # Nothing after the last cell: it would wrap into an empty line on a narrow terminal.
        if column < len(row) - 1:
            line.append(Span(" " * (widths[column] - _width(cell)) + gap))
    return line


def _starts(row: Sequence[Line], widths: Sequence[int], gap: str, indent: str) -> list[int]:
    """At which character of the joined line each cell begins."""
    starts = []
    at = len(indent)
    for column, cell in enumerate(row):
        starts.append(at)
        at += len(text_of(cell)) + widths[column] - _width(cell) + len(gap)
    return starts


def _marks(stream: TextIO) -> dict[str, str]:
    """The sign of each state; in a terminal that cannot show them, a word."""
    words, marks = {}, {}
    for state, sign in SIGNS.items():
        words[state], marks[state] = sign.word, sign.mark
    try:
        "".join(marks.values()).encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return words
    return marks


def _plans(view: RunView, marks: dict[str, str]) -> list[Line]:
    lines: list[Line] = []
    if len(view.plans) <= WHOLE:
        for plan in view.plans:
            lines += _plan(plan, marks)
        return lines
    plans = sorted(view.plans, key=lambda plan: plan.state not in BAD)[:ROWS]
    lines += aligned([_brief(plan, marks) for plan in plans])
    if len(view.plans) > ROWS:
        more = say("and {count} more; the report has them all", count=len(view.plans) - ROWS)
        lines.append([Span(f"  {more}", "dim")])
    return [*lines, []]


def _plan(plan: PlanView, marks: dict[str, str]) -> list[Line]:
    data = plan.plan
    title = [Span(clean(data.model), "bold"), Span(f" · {clean(data.config)} · {clean(data.mode)}", "dim")]
    rows = [_row(cell, marks) for cell in plan.cells]
    lines = [title, *aligned(rows, gap="  ", hanging=2, whole=True)]
    skips = Counter((skip.kind, skip.reason) for skip in data.skipped)
    for (kind, reason), count in skips.items():
        why = one_line(sentence(reason))
        lines.append([Span(f"  {say('skipped')}  {kind} ×{count}: {why}", "dim")])
    told = set()
    for cell in plan.cells:
        reasons = cell.cell.not_certified
        if reasons and reasons not in told:
            told.add(reasons)
            label = f"  {marks[UNCERTIFIED]} {say('not certified')}  "
            lines.append([Span(label, "yellow"), Span(one_line(sentences(reasons)))])
    return [*lines, []]


def _brief(plan: PlanView, marks: dict[str, str]) -> list[Line]:
    by_kind: dict[str, list[StepView]] = {}
    for one in plan.steps:
        by_kind.setdefault(one.step.kind, []).append(one)
    row = [[Span(clean(plan.plan.model))], [Span(Path(clean(plan.plan.config)).name, "dim")]]
    for kind, views in by_kind.items():
        row.append(_tally(kind, views, marks))
    return row


def _row(cell: CellView, marks: dict[str, str]) -> list[Line]:
    """A cell: trainer, where, and each kind of step; inference by device and precision."""
    groups: dict[str, list[StepView]] = {}
    for view in cell.steps:
        name = view.step.kind
        if name == INFER:
            name = f"{INFER} {view.step.device} {view.step.settings.get('precision', '')}".rstrip()
        groups.setdefault(name, []).append(view)
    trainer = f"{clean(cell.cell.trainer)} {cell.cell.amp_level}".rstrip()
    where = [Span(clean(asked_place(cell.cell)))]
    if cell.not_certified:
        where.append(Span(f" {marks[UNCERTIFIED]}", "yellow"))
    row = [[Span(trainer)], where]
    for name, views in groups.items():
        row.append(_tally(name, views, marks))
    return row


def _tally(name: str, views: Sequence[StepView], marks: dict[str, str]) -> Line:
    """``eval ✔ 1.9s``; of several steps how many are in which state: ``infer cpu fp32 ✔3 ✘1 3.6s``."""
    counts = Counter(view.state for view in views)
    spans = [Span(f"{clean(name)} ")]
    for state in sorted(counts, key=WORST_FIRST.index):
        number = ""
        if len(views) > 1:
            number = str(counts[state])
        spans.append(Span(f"{marks[state]}{number} ", _style(state)))
    wall = sum(view.result.wall for view in views)
    if wall:
        spans.append(Span(duration(wall), "dim"))
    elif len(counts) == 1:
        spans.append(Span(say(shown_state(views[0])), "dim"))
    return spans


def _style(state: str) -> str:
    if state in BAD:
        return "red"
    return STYLES.get(state, "yellow")


def _failures(view: RunView) -> list[Line]:
    """A block for each cause: the steps that it hit, the command, the end of the log, cause, remedy, log."""
    lines: list[Line] = []
    groups = failure_groups(view)
    for group in groups[:FAILURES]:
        lines += [*_failure(group), []]
    if len(groups) > FAILURES:
        more = say("and {count} more causes; the report has them all", count=len(groups) - FAILURES)
        lines += [[Span(more, "dim")], []]
    return lines


def _failure(group: FailureGroup) -> list[Line]:
    first = group.first
    result = first.view.result
    title = [
        Span(say(result.state.upper()), "bold red"),
        Span(f"  {clean(first.name)}"),
        Span(_ending(first), "dim"),
    ]
    lines: list[Line] = [title]
    others = group.failures[1:]
    for other in others[:STEPS_NAMED]:
        lines.append([Span(f"        {clean(other.name)}")])
    if len(others) > STEPS_NAMED:
        more = say("and {count} more", count=len(others) - STEPS_NAMED)
        lines.append([Span(f"        {more}", "dim")])
    lines.append([Span(f"  {clean(first.command)}")])
    for text in first.log or (say("(it printed nothing)"),):
        lines.append([Span("  ┆ ", "dim"), Span(clean(text))])
    table = {
        say("cause"): first.cause,
        say("try"): first.known.remedy,
        say("log"): relative(result.log, str(Path.cwd())),
        **ways_on(first.view.step, result),
    }
    rows = []
    for name, text in table.items():
        if text:
            rows.append([[Span(padded(name, LABEL), "dim")], [Span(one_line(text, 400))]])
    return lines + aligned(rows, gap=" ", hanging=1)


def _ending(failure: Failure) -> str:
    result = failure.view.result
    parts = [f"{result.wall:.1f} s"]
    if result.reason is not None:
        parts.insert(0, sentence(result.reason))
    if result.attempts > 1:
        parts.append(plural(result.attempts, "attempt"))
    return f"  ({enumeration(parts)})"


def _conclusion(view: RunView, marks: dict[str, str], report: Path | None) -> list[Line]:
    line = headline(view)
    claim = [Span(line.claim, TONES[line.tone]), Span(f" · {' · '.join(line.details)}")]
    lines: list[Line] = [Hanging(claim, 2)]
    if view.verdict is not None:
        lines += _findings(view, marks)
    elif line.word == "NOT CHECKED":
        told = say("the commands ended well; whether their results are right was not looked at")
        lines.append(Hanging([Span(f"  {told}")], 2))
    if report is not None:
        lines.append([Span(say("report: ")), Span(relative(str(report), str(Path.cwd())), "underline")])
    return lines


def _findings(view: RunView, marks: dict[str, str]) -> list[Line]:
    """What did not pass with its remedy, one entry for the same message; then what did."""
    told = _told_above(view)
    by_status: dict[str, list[Finding]] = {status: [] for status in STATUSES}
    for finding in view.telling:
        optional = finding.status == UNCHECKED and not finding.required
        repeated = finding.status == NOT_CERTIFIED and finding in told
        if not optional and not repeated:
            by_status[finding.status].append(finding)
    rows: list[list[Line]] = []
    for status in (FAIL, UNCHECKED, NOT_CERTIFIED):
        rows += _entries(status, by_status[status], marks)
    rows += _passed(by_status[PASS], marks)
    return aligned(rows, gap="  ", hanging=2)


def _entries(status: str, found: Sequence[Finding], marks: dict[str, str]) -> list[list[Line]]:
    """Findings of one status: each message once, each remedy once."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault((finding.check, finding_message(finding)), []).append(finding)
    rows: list[list[Line]] = []
    remedies = set[str]()
    for (check, message), findings in list(groups.items())[:MESSAGES]:
        rows.append(_entry(status, check, message, len(findings), marks))
        remedy = finding_words(findings[0]).remedy
        if remedy and remedy not in remedies:
            remedies.add(remedy)
            rows.append([[], [], [Span(f"{say('try')}  ", "dim"), Span(one_line(remedy, 400))]])
    if len(groups) > MESSAGES:
        more = say("and {count} more", count=len(groups) - MESSAGES)
        rows.append([[], [], [Span(more, "dim")]])
    return rows


def _passed(passed: Sequence[Finding], marks: dict[str, str]) -> list[list[Line]]:
    """What passed: the checks with figures in words, the others by their names."""
    telling: dict[str, list[Finding]] = {}
    others: list[str] = []
    for finding in sorted(passed, key=lambda finding: finding.check):
        if finding.check.startswith(TELLING):
            telling.setdefault(finding.check, []).append(finding)
        else:
            others.append(finding.check)
    rows = []
    for check, findings in telling.items():
        rows.append(_entry(PASS, check, _messages(findings), len(findings), marks))
    if others:
        names = list(dict.fromkeys(others))
        text = say("{count} passed: {names}", count=len(others), names=", ".join(names[:NAMES]))
        if len(names) > NAMES:
            text += ", …"
        rows.append([[Span(marks[PASSED], "green")], [Span(say("checks"))], [Span(text)]])
    return rows


def _messages(findings: Sequence[Finding]) -> str:
    """What findings of one check say: the first two things that differ."""
    different = list(dict.fromkeys([short_paths(finding_message(finding)) for finding in findings]))
    text = " | ".join(different[:2])
    if len(different) > 2:
        text += " | …"
    return text


def _told_above(view: RunView) -> list[Finding]:
    """The findings that only repeat why a cell ran elsewhere than was asked: its table has said so."""
    told: list[Finding] = []
    if len(view.plans) > WHOLE:
        return told
    for plan in view.plans:
        for cell in plan.cells:
            if not cell.cell.not_certified:
                continue
            for finding in cell.every_finding:
                if finding.status == NOT_CERTIFIED and finding.check == DEVICE_CHECK:
                    told.append(finding)
    return told


def _entry(status: str, check: str, message: str, count: int, marks: dict[str, str]) -> list[Line]:
    state = STATE_OF_STATUS[status]
    style = {PASS: "green", FAIL: "red"}.get(status, "yellow")
    word = {NOT_CERTIFIED: say("NOT CERTIFIED") + " ", UNCHECKED: say("NOT CHECKED") + " "}.get(status, "")
    text = [Span(word, style), Span(one_line(message, 400))]
    if count > 1:
        text.append(Span(f"  ×{count}", "dim"))
    return [[Span(marks[state], style)], [Span(clean(check))], text]
