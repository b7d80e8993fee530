"""The support matrix in the form of the spec's documents, and the job summary of a CI server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from tipc.kinds import (
    BAD,
    CPU,
    DEVICES,
    FAIL,
    FAILED,
    FLAKY,
    GPU,
    NOT_CERTIFIED,
    PASSED,
    SIGNS,
    STATE_OF_STATUS,
    UNCERTIFIED,
    UNCHECKED,
)
from tipc.language import language, say
from tipc.report.failures import FailureGroup, failure_groups
from tipc.report.headline import headline
from tipc.report.plain_text import cut, one_line
from tipc.report.support_matrix import MULTI, SINGLE, Matrix, MatrixEntry, MatrixRow, matrix_of
from tipc.report.view import RunView
from tipc.report.wording import LANGUAGES, Wording

CAUSES, STEPS, FINDINGS = 20, 6, 40  # rows of the job summary; steps of one cause
Algorithms = Mapping[str, str]
Aliases = Mapping[str, Sequence[str]]


def train_table(
    matrix: Matrix, words: Wording, algorithms: Algorithms, aliases: Aliases = MappingProxyType({})
) -> str:
    """What was trained on one card and on several."""
    rows = []
    kinds = list(dict.fromkeys(precision for precision, _ in matrix.train))
    for row in matrix.rows:
        if not row.train:
            continue
        columns = (
            "<br>".join(_trained(row, kinds, cards, words)) or words.not_run for cards in (SINGLE, MULTI)
        )
        rows.append([algorithms.get(row.model, row.model), with_aliases(row.model, aliases), *columns])
    return table(words.train_columns, rows)


def infer_table(
    matrix: Matrix, words: Wording, algorithms: Algorithms, aliases: Aliases = MappingProxyType({})
) -> str:
    """On which devices the exported models ran, and with which batch sizes."""
    named = [CPU, GPU]  # the specification's columns; another device gets one where a model ran on it
    for device, _ in matrix.infer:
        if device in DEVICES and device not in named:
            named.append(device)
    rows = []
    for row in matrix.rows:
        if not row.infer:
            continue
        sizes: list[str] = []
        for entry in row.infer.values():
            sizes += [size for size in entry.batch_sizes if size not in sizes]
        devices = (_deployed(row, device, words) for device in named)
        name = with_aliases(row.model, aliases)
        rows.append([algorithms.get(row.model, row.model), name, *devices, "/".join(sizes) or "-"])
    more = [f"device_{DEVICES[device].title}" for device in named[2:]]
    return table([*words.infer_columns[:-1], *more, words.infer_columns[-1]], rows)


def with_aliases(model: str, aliases: Aliases) -> str:
    """``pphumanseg_lite (pp_humanseg_lite)``: a model and its other names."""
    others = ", ".join(aliases.get(model, ()))
    return f"{model} ({others})" if others else model


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with centred columns, as the spec's documents have them."""
    lines = [_line(columns), "| " + " | ".join(":----:" for _ in columns) + " |"]
    return "\n".join([*lines, *(_line(row) for row in rows)]) + "\n"


def escaped(text: str) -> str:
    """Text that stays text inside a Markdown table."""
    plain = one_line(text, 300).replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`")
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def matrix_markdown(views: Sequence[RunView], words: Wording) -> str:
    """Both tables with their titles."""
    matrix = matrix_of(views)
    parts = [
        words.train_title,
        train_table(matrix, words, {}),
        words.infer_title,
        infer_table(matrix, words, {}),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def job_summary(views: Sequence[RunView]) -> str:
    """What a CI server shows beside a job: the headline, which steps failed and why, findings, the matrix."""
    parts = []
    for view in views:
        line = headline(view)
        mark = SIGNS[PASSED].mark if line.tone == "good" else SIGNS[FAILED].mark
        parts += [f"## {mark} tipc: {line}", *_failures(view), *_open_findings(view)]
    parts.append(matrix_markdown(views, LANGUAGES[language()]))
    return "\n\n".join(part.strip() for part in parts) + "\n\n"


def _failures(view: RunView) -> list[str]:
    """A table with a row for each cause."""
    rows = [_failure_row(group) for group in failure_groups(view)]
    if not rows:
        return []
    parts = [table([say("step"), say("cause"), say("try"), say("command")], rows[:CAUSES])]
    if len(rows) > CAUSES:
        parts.append(say("and {count} more causes; the report has them all", count=len(rows) - CAUSES))
    return parts


def _open_findings(view: RunView) -> list[str]:
    """A table of what did not pass, the worst first, one row for the same finding."""
    statuses = (FAIL, UNCHECKED, NOT_CERTIFIED)
    found = view.verdict.findings if view.verdict else ()
    rows: dict[tuple[str, str, str], int] = {}
    for finding in sorted(
        (one for one in found if one.status in statuses), key=lambda one: statuses.index(one.status)
    ):
        key = (STATE_OF_STATUS[finding.status], finding.check, finding.message)
        rows[key] = rows.get(key, 0) + 1
    if not rows:
        return []
    named = [[say(state), check, message, str(count)] for (state, check, message), count in rows.items()]
    return [table([say("state"), say("check"), say("finding"), say("times")], named[:FINDINGS])]


def _failure_row(group: FailureGroup) -> list[str]:
    """The steps that one cause hit, the cause, what to try, and the command of the first."""
    names = [failure.name for failure in group.failures]
    shown = "<br>".join(names[:STEPS])
    if len(names) > STEPS:
        shown += "<br>" + say("and {count} more", count=len(names) - STEPS)
    first = group.first
    return [shown, first.cause, first.known.remedy, cut(first.command, 400)]


def _trained(row: MatrixRow, kinds: Sequence[str], cards: str, words: Wording) -> list[str]:
    told = []
    for kind in kinds:
        entry = row.train.get((kind, cards))
        if entry is None:
            continue
        name = words.trainings.get(kind, kind)
        if entry.state == UNCERTIFIED and entry.checked:
            pattern = words.cpu_only if entry.word == "cpu only" else words.not_certified
            told.append(pattern.format(name))
        elif entry.supported:
            told.append(name)
        else:
            told.append(f"{name}: {_not_supported(entry, words)}")
    return told


def _deployed(row: MatrixRow, device: str, words: Wording) -> str:
    entries = {precision: entry for (where, precision), entry in row.infer.items() if where == device}
    ran = {precision: entry for precision, entry in entries.items() if entry.ran}
    if not ran:
        return words.no_device if entries else words.not_run
    states = {
        precision: words.supported if entry.supported else _not_supported(entry, words)
        for precision, entry in ran.items()
    }
    if len(set(states.values())) == 1:
        return next(iter(states.values()))
    return "<br>".join(f"{precision}: {state}" for precision, state in states.items())


def _not_supported(entry: MatrixEntry, words: Wording) -> str:
    if entry.state in BAD:
        return words.failed
    if entry.state in (PASSED, FLAKY, UNCERTIFIED) and not entry.checked:
        return words.unchecked
    return words.no_device if entry.state == UNCERTIFIED else words.not_run


def _line(cells: Iterable[str]) -> str:
    # Line breaks are ours: everything else in a cell is escaped.
    return "| " + " | ".join("<br>".join(map(escaped, cell.split("<br>"))) for cell in cells) + " |"
