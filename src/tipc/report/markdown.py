"""The support matrix in the form of the spec's documents, and the job summary of a CI server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from tipc.certify.check_text import finding_message
from tipc.kinds import (
    BAD,
    CPU,
    FAIL,
    FLAKY,
    GPU,
    NOT_CERTIFIED,
    PASSED,
    STATE_OF_STATUS,
    UNCERTIFIED,
    UNCHECKED,
    find_device,
    mark_of,
)
from tipc.language import language, say
from tipc.report.failures import FailureGroup, failure_groups
from tipc.report.headline import headline
from tipc.report.plain_text import cut, one_line
from tipc.report.support_matrix import CPU_ONLY, MULTI, SINGLE, Matrix, MatrixEntry, MatrixRow, matrix_of
from tipc.report.view import RunView
from tipc.report.wording import LANGUAGES, Wording

CAUSES, STEPS, FINDINGS = 20, 6, 40  # rows of the job summary; steps of one cause
Algorithms = Mapping[str, str]
Aliases = Mapping[str, Sequence[str]]


def train_table(
    matrix: Matrix, words: Wording, algorithms: Algorithms, aliases: Aliases = MappingProxyType({})
) -> str:
    """What was trained on one card and on several."""
    kinds: list[str] = []
    for precision, _ in matrix.train:
        if precision not in kinds:
            kinds.append(precision)
    rows = []
    for row in matrix.rows:
        if not row.train:
            continue
        cells = [algorithms.get(row.model, row.model), with_aliases(row.model, aliases)]
        for cards in (SINGLE, MULTI):
            cells.append("<br>".join(_trained(row, kinds, cards, words)) or words.not_run)
        rows.append(cells)
    return table(words.train_columns, rows)


def infer_table(
    matrix: Matrix, words: Wording, algorithms: Algorithms, aliases: Aliases = MappingProxyType({})
) -> str:
    """On which devices the exported models ran, and with which batch sizes."""
    named = [CPU, GPU]  # the specification's columns; another device gets one where a model ran on it
    columns = list(words.infer_columns)
    for device, _ in matrix.infer:
        known = find_device(device)
        if known is not None and device not in named:
            named.append(device)
            columns.insert(-1, f"device_{known.title}")
    rows = []
    for row in matrix.rows:
        if not row.infer:
            continue
        cells = [algorithms.get(row.model, row.model), with_aliases(row.model, aliases)]
        for device in named:
            cells.append(_deployed(row, device, words))
        cells.append("/".join(_batch_sizes(row)) or "-")
        rows.append(cells)
    return table(columns, rows)


def _batch_sizes(row: MatrixRow) -> list[str]:
    sizes: dict[str, None] = {}
    for entry in row.infer.values():
        sizes.update(dict.fromkeys(entry.batch_sizes))
    return list(sizes)


def with_aliases(model: str, aliases: Aliases) -> str:
    """``pphumanseg_lite (pp_humanseg_lite)``: a model and its other names."""
    others = ", ".join(aliases.get(model, ()))
    if not others:
        return model
    return f"{model} ({others})"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with centred columns, as the spec's documents have them."""
    lines = [_line(columns), "| " + " | ".join([":----:"] * len(columns)) + " |"]
    for row in rows:
        lines.append(_line(row))
    return "\n".join(lines) + "\n"


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
    return _paragraphs(parts) + "\n"


def _paragraphs(parts: Iterable[str]) -> str:
    return "\n\n".join(map(str.strip, parts))


def job_summary(views: Sequence[RunView]) -> str:
    """What a CI server shows beside a job: the headline, which steps failed and why, findings, the matrix."""
    parts = []
    for view in views:
        line = headline(view)
        mark = mark_of(line.tone == "good")
        parts += [f"## {mark} tipc: {line}", *_failures(view), *_open_findings(view)]
    parts.append(matrix_markdown(views, LANGUAGES[language()]))
    return _paragraphs(parts) + "\n\n"


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
    if view.verdict is None:
        return []
    counts: Counter[tuple[str, str, str]] = Counter()
    for status in (FAIL, UNCHECKED, NOT_CERTIFIED):
        for finding in view.telling:  # why a step failed is said above
            if finding.status == status:
                counts[say(STATE_OF_STATUS[status]), finding.check, finding_message(finding)] += 1
    if not counts:
        return []
    rows = [[*key, str(count)] for key, count in counts.items()]
    return [table([say("state"), say("check"), say("finding"), say("times")], rows[:FINDINGS])]


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
        if entry is not None:
            told.append(_training(entry, words.trainings.get(kind, kind), words))
    return told


def _training(entry: MatrixEntry, name: str, words: Wording) -> str:
    """What is said of a training in one precision."""
    if entry.supported:
        return name
    if entry.state != UNCERTIFIED or not entry.checked:
        return f"{name}: {_not_supported(entry, words)}"
    if entry.word == CPU_ONLY:
        return words.cpu_only.format(name)
    return words.not_certified.format(name)


def _deployed(row: MatrixRow, device: str, words: Wording) -> str:
    states = {}
    known = False
    for (where, precision), entry in row.infer.items():
        if where != device:
            continue
        known = True
        if entry.supported:
            states[precision] = words.supported
        elif entry.ran:
            states[precision] = _not_supported(entry, words)
    if not states and known:
        return words.no_device
    if not states:
        return words.not_run
    if len(set(states.values())) == 1:
        return next(iter(states.values()))
    return "<br>".join([f"{precision}: {state}" for precision, state in states.items()])


def _not_supported(entry: MatrixEntry, words: Wording) -> str:
    if entry.state in BAD:
        return words.failed
    if entry.state in (PASSED, FLAKY, UNCERTIFIED) and not entry.checked:
        return words.unchecked
    if entry.state == UNCERTIFIED:
        return words.no_device
    return words.not_run


def _line(cells: Iterable[str]) -> str:
    shown = []
    for cell in cells:
        # Line breaks are ours: everything else in a cell is escaped.
        shown.append("<br>".join(map(escaped, cell.split("<br>"))))
    return f"| {' | '.join(shown)} |"
