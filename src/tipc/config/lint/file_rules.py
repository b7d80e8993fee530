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
    yield from _carriage_returns(ctx, text)
    if text.startswith("\ufeff"):
        yield ctx.find("TC005", Line(1, "\ufeff"), Edit(1, ctx.line(1).lstrip("\ufeff")))
    if text and not text.endswith("\n"):
        last = ctx.source.lines[-1]
        yield ctx.find("TC004", last, Edit(last.number, last.text))


def _carriage_returns(ctx: Context, text: str) -> Iterator[LintFinding]:
    """TC003, once for all lines."""
    count = len(ctx.source.lines)
    numbers = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.endswith("\r"):
            numbers.append(number)
    if not numbers:
        return
    edits = []
    for number in numbers:
        if number <= count:
            edits.append(Edit(number, ctx.line(number)))
    first = Line(numbers[0], ctx.line(numbers[0]))
    if len(numbers) >= count:
        yield ctx.find("TC003-all", first, *edits)
    else:
        yield ctx.find("TC003-some", first, *edits, count=len(numbers))


def blank_lines(ctx: Context) -> Iterator[LintFinding]:
    """TC006: blank lines that push the last rows beyond what the script reads."""
    if ctx.dialect is None or ctx.alignment is None or ctx.dialect.layout.limit is None:
        return
    limit = ctx.dialect.layout.limit
    blanks = [line for line in ctx.source.lines[:limit] if line.blank]
    if not blanks:
        return
    for line in ctx.alignment.lines:
        if line and line.number > limit:  # the first that is lost
            edits = [Edit(blank.number, None) for blank in blanks]
            name = split_key(line.text)[0]
            yield ctx.find("TC006", blanks[0], *edits, limit=limit, name=name, line=line.number)
            return


def expected(row: Row) -> str:
    """How a row's line begins."""
    if row.kind == "header":
        return f"==={row.keys[0]}==="
    if row.kind == "filler":
        return "##"
    if row.keys:
        return row.keys[0]
    return row.name


def neutral_line(row: Row) -> str:
    """The line that says nothing, for a row that can do without; empty where there is none."""
    name = row.keys[0] if row.keys else "null"
    if row.kind == "header" or name.endswith("_params"):
        return f"==========================={name}==========================="
    if row.kind == "filler":
        return "##"
    if row.kind not in _NEUTRAL or row.name in _ESSENTIAL or row.name == "train_model_name":
        return ""
    if "l" in row.reads or "v" not in row.reads:
        return ""
    return f"{name}:null"


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
    """One finding for rows that are missing one after another."""
    assert ctx.dialect is not None
    rows = [ctx.dialect.layout.rows[number] for number in gap]
    after = _line_after(ctx, gap[-1])
    found = split_key(after.text)[0] or after.text
    names = tuple(map(expected, rows))
    neutral = tuple(map(neutral_line, rows))
    edits: list[Edit] = []
    insert = names
    if all(neutral):
        edits = [Edit(after.number, text, insert=True) for text in neutral]
        insert = neutral
    key = after
    if after.text.startswith(found):
        key = Line(after.number, found)
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


def _line_after(ctx: Context, row: int) -> Line:
    """The line of the next row that has one; the last of the file where none has."""
    assert ctx.alignment is not None
    for line in ctx.alignment.lines[row + 1 :]:
        if line:
            return line
    return ctx.source.seen()[-1]


def _lost(ctx: Context, row: int) -> Reason:
    """Which stages a shift from a row on spoils."""
    assert ctx.dialect is not None
    names = set()
    for other in ctx.dialect.layout.rows:
        if other.index >= row:
            names.add(other.name)
    if "trainer_list" in names:
        return because("lint-shift-all")
    if "norm_export" in names:
        return because("lint-shift-export")
    return because("lint-shift-inference")


def _extra(ctx: Context, line: Line) -> LintFinding:
    if not line.text.strip():
        return ctx.find("TC011-blank", line, Edit(line.number, None), line=line.number)
    edits = []
    for other in ctx.source.seen():
        if abs(other.number - line.number) == 1 and other.text == line.text:
            edits = [Edit(line.number, None)]  # it stands there twice
    shown = split_key(line.text)[0] or line.text
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
        if row.keys and not _can_be_called(row, key):
            yield _misnamed(ctx, row, line, key)


def _can_be_called(row: Row, key: str) -> bool:
    """Whether a key can stand in a row that has names: one of them, none, a comment, an own trainer."""
    if key in names_of(row) or key in ("null", "") or key.startswith(("#", "==")):
        return True
    return row.name.endswith("_train") and key.endswith("_train")


def _misnamed(ctx: Context, row: Row, line: Line, key: str) -> LintFinding:
    edits = []
    if closest(key, names_of(row), 0.75) and line.text.startswith(key):
        edits = [Edit(line.number, row.keys[0] + line.text[len(key) :])]
    case = "TC013-name"
    if "k" in row.reads:
        case = "TC013-trainer"
    return ctx.find(case, Line(line.number, key), *edits, name=row.keys[0], found=key[:SHOWN])


def _cut(ctx: Context) -> LintFinding:
    assert ctx.alignment is not None
    assert ctx.dialect is not None
    rows = ctx.dialect.layout.rows
    missing = rows[len(rows) - ctx.alignment.cut :]
    last = ctx.source.seen()[-1]
    told: dict[str, Told] = {"missing": len(missing), "rows": len(rows), "next": expected(missing[0])}
    if all(map(_optional, missing)):
        return ctx.find("TC017", last, **told)
    if missing[0].kind == "header":
        return ctx.find("TC016", last, section=missing[0].keys[0], **told)
    return ctx.find("TC010", last, **told)


def _optional(row: Row) -> bool:
    """Whether a row that is not there only means that an option is not passed."""
    return not row.reads or (row.name not in _ESSENTIAL and not row.keys and "l" not in row.reads)
