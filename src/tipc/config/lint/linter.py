"""Lint one file: find its dialect, align its lines, run every rule, sort what they found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from tipc.bounded import read_bounded
from tipc.config.dialects import NAMES, load
from tipc.config.identify import Identity, family_by_lines, identify, repository_of
from tipc.config.layout import Config, Layout
from tipc.config.lint import file_rules, plan_rules, stranger_rules, value_rules, word_rules
from tipc.config.lint.finding import LintFinding
from tipc.config.lint.line_alignment import GAP, LineAlignment, align
from tipc.config.lint.subject import Context
from tipc.config.rules import Dialect
from tipc.config.scripts import helpers_of, text_of
from tipc.config.source import NOWHERE, Line, Source, source_of
from tipc.errors import UsageError, wording
from tipc.kinds import TRAIN_CHAIN

Name = str | os.PathLike[str]
Rule = Callable[[Context], Iterator[LintFinding]]

# Folders of a repository whose configs are run from its root.
_RUN_FROM = ("test_tipc", "tests", "PTDN")

# Rules of which a code is an error: what ``plan`` and ``run`` look at before they use a config.
ERROR_RULES: tuple[Rule, ...] = (
    file_rules.blank_lines,
    file_rules.layout,
    stranger_rules.benchmark_layout,
    value_rules.colons,
    value_rules.devices,
    value_rules.empty_lists,
    plan_rules.modes,
    plan_rules.gpus,
    word_rules.scripts,
)
# Rules that only warn or note.
REMARK_RULES: tuple[Rule, ...] = (
    file_rules.not_text,
    file_rules.line_ends,
    stranger_rules.misplaced,
    stranger_rules.file_name,
    value_rules.nulls,
    value_rules.blank_scripts,
    value_rules.blanks,
    value_rules.booleans,
    value_rules.numbers,
    value_rules.lengths,
    plan_rules.trainers,
    plan_rules.visible,
    word_rules.words,
    word_rules.null_inference,
    word_rules.outside,
    word_rules.two_exports,
)
RULES = (*ERROR_RULES, *REMARK_RULES)


def lint_file(
    path: Name, *, shown: str = "", dialect: str | None = None, repo: Name | None = None
) -> list[LintFinding]:
    """All findings of a file, in the order of its lines. A file that cannot be read is a UsageError."""
    return lint_bytes(_read(path), shown or str(path), path, dialect=dialect, repo=repo)


def find_errors(path: Name, *, dialect: str | None = None, repo: Name | None = None) -> list[LintFinding]:
    """The errors of a file alone: at a fraction of the cost, since rules that only warn are left out."""
    found = lint_bytes(_read(path), str(path), path, dialect=dialect, repo=repo, rules=ERROR_RULES)
    return [finding for finding in found if finding.severity == "error"]


def _read(path: Name) -> bytes:
    try:
        return read_bounded(path)
    except OSError as error:
        raise UsageError(
            wording("the config file cannot be read: {strerror}", strerror=error.strerror), path=str(path)
        ) from None


def lint_bytes(
    data: bytes,
    shown: str,
    path: Name,
    *,
    dialect: str | None = None,
    repo: Name | None = None,
    rules: tuple[Rule, ...] = RULES,
) -> list[LintFinding]:
    """All findings of a text that stands, or would stand, at ``path``. Never fails, whatever the bytes."""
    source = source_of(data, shown)
    if b"\r" in data:
        lines = tuple(Line(line.number, line.text.rstrip("\r")) for line in source.lines)
        source = Source(shown, lines)
    if not any(line.text.strip() for line in source.lines):
        return [Context(data, source, None).find("TC001", min(1, len(source.lines)))]
    root = os.fspath(repo) if repo else repository_of(os.fspath(path))
    placed = Source(os.fspath(path), source.lines)  # the place, not the name that is shown, tells the script
    reading = choose(placed, root, dialect)
    has_root = repo or (_in_its_folder(path) and has_code(root))
    ctx = Context(
        data,
        source,
        root if has_root else None,
        chain=reading.chain,
        script=reading.script,
        dialect=reading.dialect,
        alignment=reading.alignment,
    )
    if reading.layout:
        ctx = _with_rows(ctx, reading.layout)
    found: list[LintFinding] = []
    for rule in rules:
        found += rule(ctx)
    if reading.layout is None and reading.chain in ("", TRAIN_CHAIN):
        found.append(ctx.find("TC009", 0, dialects="|".join(NAMES)))
    return sorted(found, key=lambda finding: (finding.line, finding.column, finding.code))


def _with_rows(ctx: Context, layout: Layout) -> Context:
    """What is linted, with the rows of its layout."""
    lines = ctx.source.seen()
    if ctx.alignment:
        lines = tuple(line or NOWHERE for line in ctx.alignment.lines)
    rows = {}
    for row in layout.rows:
        if row.reads:
            rows[row.name] = row
    config = Config(ctx.source, layout, lines, rows)
    used = tuple(row for row in rows.values() if not row.unused and config.line(row.name).line)
    return ctx._replace(config=config, used=used)


class Reading(NamedTuple):
    """How a file is read. Without a layout only the rules fire that hold for every config."""

    chain: str
    layout: Layout | None = None
    dialect: Dialect | None = None  # the table that the layout is of; None: it is read from the script
    alignment: LineAlignment | None = None  # None: a line is what its number says
    script: str = ""  # the text of a script that we do not know


def choose(source: Source, repo: str, name: str | None) -> Reading:
    """By which layout a file is read: a table's, one that its own script tells, or none."""
    identity = identify(source, repo, dialect=name or "")
    if identity.chain != TRAIN_CHAIN:
        return Reading(identity.chain)
    if identity.dialect:
        return _aligned(source, load(identity.dialect))
    if identity.traceable:
        from tipc.config.lint.script_layout import layout_of_script

        script = _script_text(identity)
        return Reading(identity.chain, layout_of_script(script), script=script)
    family = family_by_lines(source, identity.chain)
    if family:
        return _aligned(source, load(family))
    readings = [_aligned(source, load(other)) for other in NAMES]
    best = min(readings, key=_cost)
    if _cost(best) < GAP * len(source.seen()) / 2:
        return best
    return Reading(identity.chain)


def _aligned(source: Source, dialect: Dialect) -> Reading:
    return Reading(TRAIN_CHAIN, dialect.layout, dialect, align(source.seen(), dialect.layout))


def _cost(reading: Reading) -> float:
    assert reading.alignment is not None
    return reading.alignment.cost


def _script_text(identity: Identity) -> str:
    """The script that reads a file, and its helpers; empty where no name tells which one it is."""
    if not identity.script:
        return ""
    path = os.path.join(identity.repo, identity.script)
    return "\n".join(map(text_of, (path, *helpers_of(path, identity.repo))))


def _in_its_folder(path: Name) -> bool:
    """Whether a config lies where it is run from; templates in documents do not."""
    return bool(set(_RUN_FROM) & set(os.path.abspath(path).split(os.sep)))


@lru_cache(maxsize=64)
def has_code(repo: str) -> bool:
    """Whether the repository's scripts are there; a bare collection of configs has none to look for."""
    folders = []
    try:
        for entry in os.scandir(repo):
            if entry.name.endswith(".py"):
                return True
            if entry.is_dir() and not entry.name.startswith("."):
                folders.append(entry.path)
        for folder in folders:
            if any(name.endswith(".py") for name in os.listdir(folder)):
                return True
    except OSError:
        return False
    return False
