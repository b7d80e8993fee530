"""Rules about the file as a whole: its bytes, its line ends, and its lines against the layout."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tipc.config.layout import Row
from tipc.config.lint.finding import Edit, LintFinding, Told
from tipc.config.lint.line_alignment import names_of, out_of_place, split_key
from tipc.config.lint.subject import Context, closest
from tipc.config.source import Line, Value
from tipc.reasons import Reason, because

MOST_SHIFTS = 8
SHOWN = 60  # characters of a text that is named in a message
_NOT_TEXT = re.compile("[\0\udc80-\udcff]")
_NEUTRAL = ("script", "text", "weights", "filler", "header")
# Rows that no neutral line can stand for: without their own text a stage is lost.
_ESSENTIAL = (
    "norm_train",
    "eval",
    "norm_export",
    "inference",
    "model_name",
    "trainer_list",
    "gpu_list",
    "python",
    "infer_model",
)


def not_text(ctx: Context) -> Iterator[LintFinding]:
    """TC002: NUL bytes, or bytes that are no UTF-8."""
    for line in ctx.source.lines:
        bad = _NOT_TEXT.search(line.text)
        if bad:
            place = Value(bad[0], line.number, bad.start() + 1)
            if bad[0] == "\0":
                yield ctx.find("TC002-nul", place)
            else:
                yield ctx.find("TC002-byte", place, byte=f"0x{ord(bad[0]) - 0xDC00:02x}")
            return


def line_ends(ctx: Context) -> Iterator[LintFinding]:
    """TC003, TC004, TC005: carriage returns, no newline at the end, a byte order mark."""
    text = ctx.data.decode("utf-8", "surrogateescape")
    windows = [number for number, line in enumerate(text.split("\n"), 1) if line.endswith("\r")]
    if windows:
        edits = [Edit(number, ctx.line(number)) for number in windows if number <= len(ctx.source.lines)]
        first = Line(windows[0], ctx.line(windows[0]))
        if len(windows) >= len(ctx.source.lines):
            yield ctx.find("TC003-all", first, *edits)
        else:
            yield ctx.find("TC003-some", first, *edits, count=len(windows))
    if text.startswith("\ufeff"):
        yield ctx.find("TC005", Line(1, "\ufeff"), Edit(1, ctx.line(1).lstrip("\ufeff")))
    if text and not text.endswith("\n"):
        last = ctx.source.lines[-1]
        yield ctx.find("TC004", last, Edit(last.number, last.text))


def blank_lines(ctx: Context) -> Iterator[LintFinding]:
    """TC006: blank lines that push the last rows beyond what the script reads."""
    limit = ctx.dialect.layout.limit if ctx.dialect else None
    if limit is None or ctx.alignment is None:
        return
    lost = [line for line in ctx.alignment.lines if line and line.number > limit]
    blanks = [line for line in ctx.source.lines[:limit] if line.blank]
    if lost and blanks:
        edits = [Edit(line.number, None) for line in blanks]
        name = split_key(lost[0].text)[0]
        yield ctx.find("TC006", blanks[0], *edits, limit=limit, name=name, line=lost[0].number)


def expected(row: Row) -> str:
    """How a row's line begins."""
    if row.kind == "header":
        return f"==={row.keys[0]}==="
    if row.kind == "filler":
        return "##"
    return row.keys[0] if row.keys else row.name


def neutral_line(row: Row) -> str:
    """The line that says nothing, for a row that can do without; empty where there is none."""
    if row.kind == "header" or (row.keys and row.keys[0].endswith("_params")):
        return f"==========================={row.keys[0]}==========================="
    if row.kind == "filler":
        return "##"
    harmless = (
        row.kind in _NEUTRAL and row.name not in _ESSENTIAL and "l" not in row.reads and "v" in row.reads
    )
    if harmless and row.name != "train_model_name":
        return f"{row.keys[0] if row.keys else 'null'}:null"
    return ""


def layout(ctx: Context) -> Iterator[LintFinding]:
    """TC010 to TC014: lines that are missing, too many, misnamed, or not there any more."""
    if ctx.dialect is None or ctx.alignment is None:
        return
    gaps = _runs(ctx.alignment.missing)
    if len(gaps) + len(ctx.alignment.extra) > MOST_SHIFTS:
        yield ctx.find(
            "TC014",
            ctx.source.seen()[0],
            family=ctx.dialect.title,
            missing=len(ctx.alignment.missing),
            extra=len(ctx.alignment.extra),
        )
        return
    for gap in gaps:
        yield _missing(ctx, gap)
    for line in ctx.alignment.extra:
        yield _extra(ctx, line)
    yield from _names(ctx)
    if ctx.alignment.cut:
        yield _cut(ctx)


def _runs(numbers: list[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _missing(ctx: Context, gap: list[int]) -> LintFinding:
    assert ctx.alignment is not None
    assert ctx.dialect is not None
    rows = [ctx.dialect.layout.rows[number] for number in gap]
    after = next((line for line in ctx.alignment.lines[gap[-1] + 1 :] if line), ctx.source.seen()[-1])
    found = split_key(after.text)[0] or after.text
    names = tuple(expected(row) for row in rows)
    neutral = tuple(neutral_line(row) for row in rows)
    edits: list[Edit] = []
    insert = names
    if all(neutral):
        edits = [Edit(after.number, text, insert=True) for text in neutral]
        insert = neutral
    key = Line(after.number, found if after.text.startswith(found) else after.text)
    told: dict[str, Told] = {
        "expected": names,
        "found": found,
        "insert": insert,
        "effect": _lost(ctx, gap[0]),
    }
    first = after.number
    if len(rows) == 1:
        return ctx.find("TC012", key, *edits, line=first, **told)
    last = first + len(rows) - 1
    return ctx.find("TC012-many", key, *edits, line=first, last=last, count=len(rows), **told)


def _lost(ctx: Context, row: int) -> Reason:
    """Which stages a shift from a row on spoils."""
    assert ctx.dialect is not None
    names = {other.name for other in ctx.dialect.layout.rows if other.index >= row}
    if "trainer_list" in names:
        return because("lint-shift-all")
    if "norm_export" in names:
        return because("lint-shift-export")
    return because("lint-shift-inference")


def _extra(ctx: Context, line: Line) -> LintFinding:
    shown = split_key(line.text)[0] or line.text
    beside = [other.text for other in ctx.source.seen() if 0 < abs(other.number - line.number) <= 1]
    needless = not line.text.strip() or line.text in beside
    edits = [Edit(line.number, None)] if needless else []
    if not line.text.strip():
        return ctx.find("TC011-blank", line, *edits, line=line.number)
    return ctx.find("TC011", line, *edits, line=line.number, text=shown[:SHOWN])


def _names(ctx: Context) -> Iterator[LintFinding]:
    """TC013: the right place, but a name that is almost the right one or none of this layout's."""
    assert ctx.alignment is not None
    assert ctx.dialect is not None
    for row, line in zip(ctx.dialect.layout.rows, ctx.alignment.lines, strict=True):
        if line is None or not row.reads or row.kind in ("header", "filler"):
            continue
        key = split_key(line.text)[0]
        if out_of_place(row, key):
            yield ctx.find("TC013-option", Line(line.number, key), row=row.name, found=key[:SHOWN])
        if not row.keys:
            continue
        names = names_of(row)
        own_trainer = row.name.endswith("_train") and key.endswith("_train")
        if key in names or key in ("null", "") or key.startswith(("#", "==")) or own_trainer:
            continue
        close = bool(closest(key, names, 0.75))
        edits = []
        if close and line.text.startswith(key):
            edits = [Edit(line.number, row.keys[0] + line.text[len(key) :])]
        case = "TC013-trainer" if "k" in row.reads else "TC013-name"
        yield ctx.find(case, Line(line.number, key), *edits, name=row.keys[0], found=key[:SHOWN])


def _cut(ctx: Context) -> LintFinding:
    assert ctx.alignment is not None
    assert ctx.dialect is not None
    rows = ctx.dialect.layout.rows
    missing = rows[len(rows) - ctx.alignment.cut :]
    last = ctx.source.seen()[-1]
    told: dict[str, Told] = {"missing": len(missing), "rows": len(rows), "next": expected(missing[0])}
    if all(_optional(row) for row in missing):
        return ctx.find("TC017", last, **told)
    if missing[0].kind == "header":
        return ctx.find("TC016", last, section=missing[0].keys[0], **told)
    return ctx.find("TC010", last, **told)


def _optional(row: Row) -> bool:
    """Whether a row that is not there only means that an option is not passed."""
    return not row.reads or (row.name not in _ESSENTIAL and not row.keys and "l" not in row.reads)
