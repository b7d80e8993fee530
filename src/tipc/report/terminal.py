"""The summary at the end of a run, on a terminal in colour, elsewhere as plain aligned lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from tipc.certify.check_text import finding_words
from tipc.certify.verdict import Finding
from tipc.kinds import (
    BAD,
    FAIL,
    FLAKY,
    NOT_CERTIFIED,
    PASS,
    PASSED,
    SIGNS,
    SKIPPED,
    STATE_OF_STATUS,
    UNCERTIFIED,
    UNCHECKED,
    WORST_FIRST,
)
from tipc.language import DEFAULT, language, plural, say, sentence, sentences
from tipc.report.failures import Failure, FailureGroup, failure_groups
from tipc.report.headline import headline, shown_state
from tipc.report.plain_text import clean, duration, one_line, relative
from tipc.report.view import DEVICE_CHECK, CellView, PlanView, RunView, StepView, asked
from tipc.run.show.colour import coloured
from tipc.run.show.failure import ways_on
from tipc.run.show.progress import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WHOLE = 12  # so many configs are shown cell by cell, more with a line each
ROWS = 60
FAILURES = 8  # causes
MESSAGES = 20  # of one status
STEPS_NAMED = 6  # of one cause, besides the first
LEAST_ROOM = 30  # columns; with less a text is not broken into rows
TONES = {"good": "bold green", "bad": "bold red", "open": "bold yellow"}
STYLES = {PASSED: "green", FLAKY: "green", UNCERTIFIED: "yellow", SKIPPED: "dim"}
TELLING = ("TP", "TQ", "TA")


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
            stream.write(printable(stream, "".join(span.text for span in line).rstrip()) + "\n")
        stream.flush()
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=stream,
        highlight=False,
        soft_wrap=True,
        no_color=not coloured(stream),
        force_terminal=coloured(stream) or None,
    )
    for line in lines:
        text = Text.assemble(*((span.text, span.style) for span in line))
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
    start, rest = text.divide([_place(text.plain, line.column)])
    rows = list(rest.wrap(console, room))
    first = start + rows[0]
    return [first, *(row.__class__(" " * line.column) + row for row in rows[1:])]


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


def _place(text: str, column: int) -> int:
    """How many characters fill so many columns."""
    from rich.cells import cell_len

    return next((place for place in range(len(text)) if cell_len(text[:place]) >= column), len(text))


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
        stops = []
        for column, cell in enumerate(row):
            if whole and hanging is not None and column > hanging:
                stops.append(sum(len(span.text) for span in line))
            used = cell_len("".join(span.text for span in cell))
            # Nothing after the last cell: it would wrap into an empty line on a narrow terminal.
            last = column == len(row) - 1
            line += cell if last else [*cell, Span(" " * (widths[column] - used) + gap)]
        if hanging is not None:
            start = len(indent) + sum(width + len(gap) for width in widths[:hanging])
            line = Hanging(line, start, stops)
        lines.append(line)
    return lines


def _marks(stream: TextIO) -> dict[str, str]:
    """The sign of each state; in a terminal that cannot show them, a word."""
    signs = "".join(sign.mark for sign in SIGNS.values())
    try:
        signs.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return {state: sign.word for state, sign in SIGNS.items()}
    return {state: sign.mark for state, sign in SIGNS.items()}


def _plans(view: RunView, marks: dict[str, str]) -> list[Line]:
    if len(view.plans) <= WHOLE:
        return [line for plan in view.plans for line in _plan(plan, marks)]
    plans = sorted(view.plans, key=lambda plan: plan.state not in BAD)[:ROWS]
    lines = aligned([_brief(plan, marks) for plan in plans])
    if len(view.plans) > ROWS:
        more = say("and {count} more; the report has them all", count=len(view.plans) - ROWS)
        lines.append([Span(f"  {more}", "dim")])
    return [*lines, []]


def _plan(plan: PlanView, marks: dict[str, str]) -> list[Line]:
    data = plan.plan
    title = [Span(clean(data.model), "bold"), Span(f" · {clean(data.config)} · {clean(data.mode)}", "dim")]
    skips = Counter((skip.kind, skip.reason) for skip in data.skipped)
    reasons = Counter(cell.cell.not_certified for cell in plan.cells if cell.cell.not_certified)
    return [
        title,
        *aligned([_row(cell, marks) for cell in plan.cells], gap="  ", hanging=2, whole=True),
        *(
            [Span(f"  {say('skipped')}  {kind} ×{n}: {one_line(sentence(reason))}", "dim")]
            for (kind, reason), n in skips.items()
        ),
        *(
            [
                Span(f"  {marks[UNCERTIFIED]} {say('not certified')}  ", "yellow"),
                Span(one_line(sentences(why))),
            ]
            for why in reasons
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
    for state in sorted(counts, key=WORST_FIRST.index):
        number = str(counts[state]) if len(views) > 1 else ""
        spans.append(Span(f"{marks[state]}{number} ", STYLES.get(state, "red" if state in BAD else "yellow")))
    wall = sum(view.result.wall for view in views)
    if wall:
        spans.append(Span(duration(wall), "dim"))
    elif len(counts) == 1:
        spans.append(Span(say(shown_state(views[0])), "dim"))
    return spans


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
    lines: list[Line] = [
        [
            Span(say(result.state.upper()), "bold red"),
            Span(f"  {clean(first.name)}"),
            Span(_ending(first), "dim"),
        ]
    ]
    others = group.failures[1:]
    lines += [[Span("        "), Span(clean(other.name))] for other in others[:STEPS_NAMED]]
    if len(others) > STEPS_NAMED:
        more = say("and {count} more", count=len(others) - STEPS_NAMED)
        lines.append([Span(f"        {more}", "dim")])
    lines.append([Span(f"  {clean(first.command)}")])
    end = first.log or (say("(it printed nothing)"),)
    lines += [[Span("  ┆ ", "dim"), Span(clean(text))] for text in end]
    table = {
        say("cause"): first.cause,
        say("try"): first.known.remedy,
        say("log"): relative(result.log, str(Path.cwd())),
        **ways_on(first.view.step),
    }
    rows = [
        [[Span(f"{name:<8}", "dim")], [Span(one_line(text, 400))]] for name, text in table.items() if text
    ]
    return lines + aligned(rows, gap=" ")


def _ending(failure: Failure) -> str:
    result = failure.view.result
    parts = [f"{result.wall:.1f} s"]
    if result.reason is not None:
        parts.insert(0, sentence(result.reason))
    if result.attempts > 1:
        parts.append(plural(result.attempts, "attempt"))
    return f"  ({', '.join(parts)})"


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
    rows: list[list[Line]] = []
    for status in (FAIL, UNCHECKED, NOT_CERTIFIED):
        found = [one for one in view.telling if one.status == status and one not in told]
        if status == UNCHECKED:
            found = [one for one in found if one.required]
        rows += _entries(status, found, marks)
    rows += _passed([one for one in view.telling if one.status == PASS], marks)
    return aligned(rows, gap="  ", hanging=2)


def _entries(status: str, found: Sequence[Finding], marks: dict[str, str]) -> list[list[Line]]:
    """Findings of one status: each message once, each remedy once."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault((finding.check, finding.message), []).append(finding)
    rows: list[list[Line]] = []
    remedies = set[str]()
    for (check, message), findings in list(groups.items())[:MESSAGES]:
        rows.append(_entry(status, check, _named(findings[0], message), len(findings), marks))
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
    messages: dict[str, list[Finding]] = {}
    for finding in sorted(passed, key=lambda finding: finding.check):
        if finding.check.startswith(TELLING):
            messages.setdefault(finding.check, []).append(finding)
    rows = []
    for check, findings in messages.items():
        different = list(dict.fromkeys(finding.message for finding in findings))
        text = " | ".join(different[:2])
        if len(different) > 2:
            text += " | …"
        rows.append(_entry(PASS, check, _named(findings[0], text), len(findings), marks))
    rest = [one for one in passed if one.check not in messages]
    if rest:
        names = sorted({one.check for one in rest})
        text = say("{count} passed: {names}", count=len(rest), names=", ".join(names[:14]))
        if len(names) > 14:
            text += ", …"
        rows.append([[Span(marks[PASSED], "green")], [Span(say("checks"))], [Span(text)]])
    return rows


def _told_above(view: RunView) -> list[Finding]:
    """The findings that only repeat why a cell ran elsewhere than was asked: its table has said so."""
    if len(view.plans) > WHOLE:
        return []
    return [
        finding
        for plan in view.plans
        for cell in plan.cells
        for finding in cell.every_finding
        if finding.status == NOT_CERTIFIED and cell.cell.not_certified and finding.check == DEVICE_CHECK
    ]


def _named(finding: Finding, message: str) -> str:
    """A message; where people read another language than it is written in, behind what was checked."""
    if language() == DEFAULT:
        return message
    return say("{title}: {text}", title=finding_words(finding).title, text=message)


def _entry(status: str, check: str, message: str, count: int, marks: dict[str, str]) -> list[Line]:
    state = STATE_OF_STATUS[status]
    style = {PASS: "green", FAIL: "red"}.get(status, "yellow")
    word = {NOT_CERTIFIED: say("NOT CERTIFIED") + " ", UNCHECKED: say("NOT CHECKED") + " "}.get(status, "")
    times = f"  ×{count}" if count > 1 else ""
    text = [Span(word, style), Span(one_line(message, 400)), Span(times, "dim")]
    return [[Span(marks[state], style)], [Span(clean(check))], text]
