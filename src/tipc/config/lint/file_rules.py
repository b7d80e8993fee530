"""Rules about the file as a whole: its bytes, its line ends, and its lines against the layout."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tipc.config.dialect import Row
from tipc.config.lint.align import names_of, out_of_place, split_key
from tipc.config.lint.context import Context, closest
from tipc.config.lint.model import Edit, Finding
from tipc.config.text import Line, Value

MOST_SHIFTS = 8
_NOT_TEXT = re.compile("[\0\udc80-\udcff]")
_NEUTRAL = ("script", "text", "weights", "filler", "header")
_ESSENTIAL = ("norm_train", "inference", "model_name", "trainer_list", "gpu_list", "python", "infer_model")


def not_text(ctx: Context) -> Iterator[Finding]:
    """TC002: NUL bytes, or bytes that are no UTF-8."""
    for line in ctx.source.lines:
        bad = _NOT_TEXT.search(line.text)
        if bad:
            byte = f"the byte 0x{ord(bad[0]) - 0xDC00:02x}, which is no UTF-8,"
            yield ctx.find(
                "TC002",
                Value(bad[0], line.number, bad.start() + 1),
                f"{'a NUL byte' if bad[0] == chr(0) else byte} is in the file",
                "bash drops NUL bytes and passes other bytes on as they are",
                "save the file as UTF-8 text",
            )
            return


def line_ends(ctx: Context) -> Iterator[Finding]:
    """TC003, TC004, TC005: carriage returns, no newline at the end, a byte order mark."""
    text = ctx.data.decode("utf-8", "surrogateescape")
    windows = [number for number, line in enumerate(text.split("\n"), 1) if line.endswith("\r")]
    if windows:
        edits = [Edit(number, ctx.line(number)) for number in windows if number <= len(ctx.source.lines)]
        first = Line(windows[0], ctx.line(windows[0]))
        many = "every line ends" if len(windows) >= len(ctx.source.lines) else f"{len(windows)} lines end"
        yield ctx.find(
            "TC003",
            first,
            f"{many} in CRLF, as on Windows",
            "the interpreter is called `python3.7\\r`: command not found for every command, and exit code 0",
            "convert the file to LF line ends",
            *edits,
        )
    if text.startswith("\ufeff"):
        yield ctx.find(
            "TC005",
            Line(1, "\ufeff"),
            "the file begins with a byte order mark",
            "the mark becomes part of the first line",
            "save the file as UTF-8 without BOM",
            Edit(1, ctx.line(1).lstrip("\ufeff")),
        )
    if text and not text.endswith("\n"):
        last = ctx.source.lines[-1]
        yield ctx.find(
            "TC004",
            last,
            "there is no newline at the end of the file",
            "the bash copes; a tool that appends a line glues it to this one",
            "end the last line with a newline",
            Edit(last.number, last.text),
        )


def blank_lines(ctx: Context) -> Iterator[Finding]:
    """TC006: blank lines that push the last rows beyond what the script reads."""
    limit = ctx.dialect.layout.limit if ctx.dialect else None
    if limit is None or ctx.alignment is None:
        return
    lost = [line for line in ctx.alignment.lines if line and line.number > limit]
    blanks = [line for line in ctx.source.lines[:limit] if line.blank]
    if lost and blanks:
        edits = [Edit(line.number, None) for line in blanks]
        yield ctx.find(
            "TC006",
            blanks[0],
            f"a blank line: the script reads only the first {limit} lines, blank ones counted",
            f"`{split_key(lost[0].text)[0]}` (line {lost[0].number}) and what is below it is never read",
            f"remove the blank line{'s' if len(blanks) > 1 else ''}",
            *edits,
        )


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


def layout(ctx: Context) -> Iterator[Finding]:
    """TC010 to TC014: lines that are missing, too many, misnamed, or not there any more."""
    if ctx.dialect is None or ctx.alignment is None:
        return
    gaps = _runs(ctx.alignment.missing)
    if len(gaps) + len(ctx.alignment.extra) > MOST_SHIFTS:
        yield ctx.find(
            "TC014",
            ctx.source.seen()[0],
            f"this does not follow the layout of {ctx.dialect.title}: "
            f"{len(ctx.alignment.missing)} lines are missing and {len(ctx.alignment.extra)} are too many",
            "the scripts read by line number and take whatever stands there",
            "compare it with a file of this family",
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


def _missing(ctx: Context, gap: list[int]) -> Finding:
    assert ctx.alignment is not None
    assert ctx.dialect is not None
    rows = [ctx.dialect.layout.rows[number] for number in gap]
    after = next((line for line in ctx.alignment.lines[gap[-1] + 1 :] if line), ctx.source.seen()[-1])
    found = split_key(after.text)[0] or after.text
    names = ", ".join(f"`{expected(row)}`" for row in rows)
    many = len(rows) > 1
    neutral = [neutral_line(row) for row in rows]
    edits = [Edit(after.number, text, insert=True) for text in neutral] if all(neutral) else []
    told = " and ".join(f"`{text}`" for text in neutral) if all(neutral) else names
    key = Line(after.number, found if after.text.startswith(found) else after.text)
    return ctx.find(
        "TC012",
        key,
        f"{f'{len(rows)} lines are' if many else 'a line is'} missing: expected {names}, found `{found}`",
        f"every value below is read {len(rows)} line{'s' if many else ''} too high{_lost(ctx, gap[0])}",
        f"insert {told} as line {after.number}{f' to {after.number + len(rows) - 1}' if many else ''}",
        *edits,
    )


def _lost(ctx: Context, row: int) -> str:
    """Which stages a shift from a row on spoils."""
    assert ctx.dialect is not None
    names = {other.name for other in ctx.dialect.layout.rows if other.index >= row}
    if "trainer_list" in names:
        return "; training, export and inference are built from the wrong lines"
    if "norm_export" in names:
        return "; export and inference are silently dropped"
    return "; inference is built from the wrong lines"


def _extra(ctx: Context, line: Line) -> Finding:
    shown = split_key(line.text)[0] or line.text
    beside = [other.text for other in ctx.source.seen() if 0 < abs(other.number - line.number) <= 1]
    needless = not line.text.strip() or line.text in beside
    edits = [Edit(line.number, None)] if needless else []
    what = "it holds only blanks" if not line.text.strip() else f"`{shown[:60]}`"
    return ctx.find(
        "TC011",
        line,
        f"there is a line too many: {what}",
        "every value below is read one line too low",
        f"remove line {line.number}",
        *edits,
    )


def _names(ctx: Context) -> Iterator[Finding]:
    """TC013: the right place, but a name that is almost the right one or none of this layout's."""
    assert ctx.alignment is not None
    assert ctx.dialect is not None
    for row, line in zip(ctx.dialect.layout.rows, ctx.alignment.lines, strict=True):
        if line is None or not row.reads or row.kind in ("header", "filler"):
            continue
        key = split_key(line.text)[0]
        if out_of_place(row, key):
            yield ctx.find(
                "TC013",
                Line(line.number, key),
                f"this is the place of the option for `{row.name}`, found `{key[:60]}`",
                "the bash goes by the place: it passes the value of one option under the name of another",
                f"put the option for `{row.name}` here",
            )
        if not row.keys:
            continue
        names = names_of(row)
        own_trainer = row.name.endswith("_train") and key.endswith("_train")
        if key in names or key in ("null", "") or key.startswith(("#", "==")) or own_trainer:
            continue
        close = bool(closest(key, names, 0.75))
        edits = [Edit(line.number, row.keys[0] + line.text[len(key) :])] if close else []
        effect = (
            "the name is a trainer's name here"
            if "k" in row.reads
            else "the bash ignores the name and goes on"
        )
        yield ctx.find(
            "TC013",
            Line(line.number, key),
            f"this is the place of `{row.keys[0]}`, found `{key[:60]}`",
            effect,
            f"write `{row.keys[0]}:`",
            *(edits if line.text.startswith(key) else []),
        )


def _cut(ctx: Context) -> Finding:
    assert ctx.alignment is not None
    assert ctx.dialect is not None
    rows = ctx.dialect.layout.rows
    following = rows[len(rows) - ctx.alignment.cut]
    last = ctx.source.seen()[-1]
    return ctx.find(
        "TC010",
        last,
        f"the file ends too early: {ctx.alignment.cut} of {len(rows)} lines are missing, "
        f"expected `{expected(following)}` next",
        "all that is missing is empty: the stages that need it run no command, and the exit code is 0",
        "add the missing lines; one that is not needed is `key:null`",
    )
