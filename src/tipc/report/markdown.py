"""The support matrix in the form of the spec's documents, and the job summary of a CI server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tipc.certify.verdict import FAIL, NOT_CERTIFIED, UNCHECKED
from tipc.report.headline import headline
from tipc.report.marks import FINDING_STATES, MARKS
from tipc.report.matrix import MULTI, SINGLE, Entry, Matrix, Row, matrix_of
from tipc.report.text import one_line
from tipc.report.view import BAD, UNCERTIFIED, RunView
from tipc.report.words import EN, Words
from tipc.run.record import FLAKY, PASSED

Algorithms = Mapping[str, str]


def train_table(matrix: Matrix, words: Words, algorithms: Algorithms) -> str:
    """What was trained on one card and on several."""
    rows = []
    kinds = list(dict.fromkeys(precision for precision, _ in matrix.train))
    for row in matrix.rows:
        if not row.train:
            continue
        columns = (
            "<br>".join(_trained(row, kinds, cards, words)) or words.not_run for cards in (SINGLE, MULTI)
        )
        rows.append([algorithms.get(row.model, row.model), row.model, *columns])
    return table(words.train_columns, rows)


def infer_table(matrix: Matrix, words: Words, algorithms: Algorithms) -> str:
    """On which devices the exported models ran, and with which batch sizes."""
    rows = []
    for row in matrix.rows:
        if not row.infer:
            continue
        sizes: list[str] = []
        for entry in row.infer.values():
            sizes += [size for size in entry.batch_sizes if size not in sizes]
        devices = (_deployed(row, device, words) for device in ("cpu", "gpu"))
        rows.append([algorithms.get(row.model, row.model), row.model, *devices, "/".join(sizes) or "-"])
    return table(words.infer_columns, rows)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with centred columns, as the spec's documents have them."""
    lines = [_line(columns), "| " + " | ".join(":----:" for _ in columns) + " |"]
    return "\n".join([*lines, *(_line(row) for row in rows)]) + "\n"


def escaped(text: str) -> str:
    """Text that stays text inside a Markdown table."""
    plain = one_line(text, 300).replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`")
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def matrix_markdown(views: Sequence[RunView], words: Words) -> str:
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
    """What a CI server shows beside a job: the headline, the matrix, and what needs attention."""
    parts = []
    for view in views:
        parts.append(
            f"## {MARKS[PASSED] if headline(view).tone == 'good' else MARKS['failed']} tipc: {headline(view)}"
        )
        statuses = (FAIL, UNCHECKED, NOT_CERTIFIED)
        found = view.verdict.findings if view.verdict else ()
        rows: dict[tuple[str, str, str], int] = {}
        for finding in sorted(
            (one for one in found if one.status in statuses), key=lambda one: statuses.index(one.status)
        ):
            key = (FINDING_STATES[finding.status], finding.check, finding.message)
            rows[key] = rows.get(key, 0) + 1
        if rows:
            named = [[state, check, message, str(count)] for (state, check, message), count in rows.items()]
            parts.append(table(("state", "check", "finding", "times"), named[:40]))
    parts.append(matrix_markdown(views, EN))
    return "\n\n".join(part.strip() for part in parts) + "\n\n"


def _trained(row: Row, kinds: Sequence[str], cards: str, words: Words) -> list[str]:
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


def _deployed(row: Row, device: str, words: Words) -> str:
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


def _not_supported(entry: Entry, words: Words) -> str:
    if entry.state in BAD:
        return words.failed
    if entry.state in (PASSED, FLAKY, UNCERTIFIED) and not entry.checked:
        return words.unchecked
    return words.no_device if entry.state == UNCERTIFIED else words.not_run


def _line(cells: Iterable[str]) -> str:
    # Line breaks are ours: everything else in a cell is escaped.
    return "| " + " | ".join("<br>".join(map(escaped, cell.split("<br>"))) for cell in cells) + " |"
