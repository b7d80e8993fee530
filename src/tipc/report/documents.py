"""The result tables inside a repository's documents: written between markers, from runs, never typed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tipc.bounded import read_bounded_text
from tipc.config.model_names import read_model_names
from tipc.errors import UsageError, wording
from tipc.kinds import AMP, FP32, INFER, PACT, TRAIN
from tipc.report.machine_facts import versions
from tipc.report.markdown import infer_table, train_table
from tipc.report.support_matrix import Matrix, matrix_of
from tipc.report.view import RunView
from tipc.report.wording import Wording

# The documents that the spec asks for, and whose training each of them is about ("": everybody's).
DOCUMENTS = {
    "test_tipc/README.md": "",
    "test_tipc/docs/test_train_inference_python.md": FP32,
    "test_tipc/docs/test_train_amp_inference_python.md": AMP,
    "test_tipc/docs/test_train_pact_inference_python.md": PACT,
}
# The specification has two names for this one.
OTHER_NAMES = {
    "test_tipc/docs/test_train_pact_inference_python.md": "test_tipc/docs/test_pact_train_infer_python.md"
}
BLOCKS = (TRAIN, INFER)


@dataclass(frozen=True)
class Document:
    """One file as it is and as it should be."""

    path: Path
    old: str | None  # None: it is not there
    new: str

    @property
    def changed(self) -> bool:
        return self.old != self.new


def documents(repo: Path, views: Sequence[RunView], words: Wording) -> list[Document]:
    """What each document should say. One that nothing was run for is left alone, unless it has a table."""
    found = []
    for name, precision in DOCUMENTS.items():
        matrix = matrix_of(views, precision)
        path = repo / name
        other = repo / OTHER_NAMES.get(name, name)
        if not path.is_file() and other.is_file():
            path = other
        old = None
        text = words.documents[precision] + "\n"
        if path.is_file():
            old = text = _text_of(path)
        has_table = old is not None and begin(TRAIN) in old
        if matrix.rows or has_table:
            found.append(Document(path, old, refreshed(text, repo, path, matrix, words, views)))
    return found


def _text_of(path: Path) -> str:
    try:
        return read_bounded_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            wording("the document cannot be read: {error}", error=error), path=str(path)
        ) from None


def refreshed(
    text: str, repo: Path, path: Path, matrix: Matrix, words: Wording, views: Sequence[RunView]
) -> str:
    """The text with new tables between its markers; a text without markers gets them at its end."""
    if begin(TRAIN) not in text and begin(INFER) not in text:
        text = f"{text.rstrip()}\n\n{words.heading}\n"
        for name, title in ((TRAIN, words.train_title), (INFER, words.infer_title)):
            text += f"\n{title}\n\n{begin(name)}\n{end(name)}\n"
    known = algorithms(text)
    aliases = {}
    for model, named in read_model_names(repo).items():
        aliases[model] = named.aliases
        if named.algorithm:
            known[model] = named.algorithm
    # Not the ids of the runs: a document that says the same as before must stay the same.
    told = dict.fromkeys([versions(view.run.environment) for view in views])
    source = words.source.format(versions="; ".join(told))
    tables = {
        TRAIN: train_table(matrix, words, known, aliases),
        INFER: infer_table(matrix, words, known, aliases),
    }
    for name in BLOCKS:
        text = _replaced(text, path, name, f"\n{tables[name]}\n{source}\n")
    return text


def begin(name: str) -> str:
    """The line that a block starts with."""
    return f"<!-- tipc:begin {name} -->"


def end(name: str) -> str:
    """The line that a block ends with."""
    return f"<!-- tipc:end {name} -->"


def algorithms(text: str) -> dict[str, str]:
    """The algorithm of each model, from the tables that are there, where ``models.json`` does not name it."""
    found: dict[str, str] = {}
    for name in BLOCKS:
        body = text.partition(begin(name))[2].partition(end(name))[0]
        for algorithm, model, *_ in _table_rows(body)[2:]:  # below the names of the columns and a line
            model = model.partition(" (")[0]  # its other names follow
            found.setdefault(model, algorithm)
    return found


def _table_rows(body: str) -> list[list[str]]:
    """The cells of the rows of a Markdown table."""
    rows = []
    for line in body.splitlines():
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        if len(cells) > 2:
            rows.append([_unescaped(cell.strip()) for cell in cells])
    return rows


def _unescaped(text: str) -> str:
    for code, sign in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(code, sign)
    return re.sub(r"\\([\\|`])", r"\1", text)


def _replaced(text: str, path: Path, name: str, body: str) -> str:
    if begin(name) not in text:
        return text  # its author did not want this table
    before, _, rest = text.partition(begin(name))
    inside, mark, after = rest.partition(end(name))
    if not mark or begin(name) in inside or begin(name) in after:
        line = before.count("\n") + 1
        raise UsageError(
            wording("`{begin}` must be followed by exactly one `{end}`", begin=begin(name), end=end(name)),
            path=str(path),
            line=line,
        )
    return f"{before}{begin(name)}{body}{mark}{after}"
