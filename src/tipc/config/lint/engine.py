"""Lint one file: find its dialect, align its lines, run every rule, sort what they found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import lru_cache

from tipc.config.detect import by_text, detect, repository_of, script_text
from tipc.config.dialect import Config
from tipc.config.dialects import NAMES, load
from tipc.config.lint import file_rules, plan_rules, value_rules, word_rules
from tipc.config.lint.align import GAP, Alignment, align
from tipc.config.lint.context import Context
from tipc.config.lint.model import Finding
from tipc.config.rules import Dialect
from tipc.config.text import NOWHERE, Line, Source, source_of
from tipc.errors import UsageError

Name = str | os.PathLike[str]
Rule = Callable[[Context], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    file_rules.not_text,
    file_rules.line_ends,
    file_rules.blank_lines,
    file_rules.layout,
    value_rules.colons,
    value_rules.nulls,
    value_rules.blanks,
    value_rules.booleans,
    value_rules.devices,
    value_rules.numbers,
    value_rules.empty_lists,
    value_rules.lengths,
    plan_rules.modes,
    plan_rules.trainers,
    plan_rules.gpus,
    word_rules.words,
    word_rules.scripts,
)


def lint_file(
    path: Name, *, shown: str = "", dialect: str | None = None, repo: Name | None = None
) -> list[Finding]:
    """All findings of a file, in the order of its lines. A file that cannot be read is a UsageError."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise UsageError(f"the config file cannot be read: {error.strerror}", path=str(path)) from None
    return lint_bytes(data, shown or str(path), path, dialect=dialect, repo=repo)


def lint_bytes(
    data: bytes, shown: str, path: Name, *, dialect: str | None = None, repo: Name | None = None
) -> list[Finding]:
    """All findings of a text that stands, or would stand, at ``path``. Never fails, whatever the bytes."""
    raw = source_of(data, shown)
    source = Source(shown, tuple(Line(line.number, line.text.rstrip("\r")) for line in raw.lines))
    if not any(line.text.strip() for line in source.lines):
        empty = Context(data, source, None)
        return [
            empty.find(
                "TC001",
                1 if source.lines else 0,
                "the file is empty",
                "no command runs, and the exit code is 0",
                "start from `tipc init`",
            )
        ]
    root = os.fspath(repo) if repo else repository_of(os.fspath(path))
    chosen, alignment = choose(source, root, dialect)
    ctx = Context(data, source, root if repo or has_code(root) else None)
    if chosen and alignment:
        lines = tuple(line or NOWHERE for line in alignment.lines)
        rows = {row.name: row for row in chosen.layout.rows if row.reads}
        config = Config(source, chosen.layout, lines, rows)
        used = tuple(row for row in rows.values() if not row.unused and config.line(row.name).line)
        ctx = ctx._replace(dialect=chosen, alignment=alignment, config=config, used=used)
    found = [finding for rule in RULES for finding in rule(ctx)]
    if chosen is None and not any(line.text.lstrip().startswith("==") for line in source.lines):
        found.append(
            ctx.find(
                "TC009",
                0,
                "no known layout fits this file",
                "only the rules for every config were checked",
                "--dialect models|seg|ocr|clas|det",
            )
        )
    return sorted(found, key=lambda finding: (finding.line, finding.column, finding.code))


def choose(source: Source, repo: str, name: str | None) -> tuple[Dialect | None, Alignment | None]:
    """The dialect of a file and the alignment with its layout; (None, None) for other kinds of config."""
    lines = source.seen()
    if name:
        dialect = load(name)
        return dialect, align(lines, dialect.layout)
    by_lines = by_text(source)
    if by_lines is None and not is_train_config(source):
        return None, None
    found = detect(source, repo) or by_lines
    if found:
        return found, align(lines, found.layout)
    tried = [(load(other), align(lines, load(other).layout)) for other in NAMES]
    best, alignment = min(tried, key=lambda pair: pair[1].cost)
    if script_text(repo) and (alignment.cost >= GAP or alignment.cut):
        return None, None  # the repository's own script may well have a layout of its own
    worst = GAP * len(lines) / 2
    return (best, alignment) if alignment.cost < worst else (None, None)


def is_train_config(source: Source) -> bool:
    """Whether a file is meant for a training script, as far as its first lines tell."""
    first = [line.text for line in source.seen()[:4]]
    return "train_params" in first[0] or (
        not first[0].lstrip().startswith("==") and any(text.startswith("model_name") for text in first)
    )


@lru_cache(maxsize=64)
def has_code(repo: str) -> bool:
    """Whether the repository's scripts are there; a bare collection of configs has none to look for."""
    try:
        entries = list(os.scandir(repo))
        folders = [entry.path for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
        return any(entry.name.endswith(".py") for entry in entries) or any(
            name.endswith(".py") for folder in folders for name in os.listdir(folder)
        )
    except OSError:
        return False
