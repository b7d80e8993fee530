"""Rules about single values: colons, null, blanks, booleans, numbers, devices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tipc.config.bash import items
from tipc.config.lint.finding import Edit, LintFinding
from tipc.config.lint.subject import Context, is_null
from tipc.config.source import Value
from tipc.kinds import CPU, GPU, find_device
from tipc.reasons import because

_DEVICES = ("True", "False", GPU, CPU)  # what the scripts compare a device with
_COMPARED = ("infer_quant", "mkldnn", "use_trt")
_INFERENCE_LISTS = ("use_gpu", "batch_size", "mkldnn", "cpu_threads", "use_trt", "precision")
_LETTERS = {"true": "True", "false": "False"}
_NUMBER = re.compile(r"\s*-?\d+(?:\.\d+)?\s*")


def colons(ctx: Context) -> Iterator[LintFinding]:
    """TC020, TC021, TC022: no colon, ``=`` for a colon, a value that goes on behind a second colon."""
    for row, config in ctx.rows():
        line = config.line(row.name)
        text = line.text
        if text.lstrip().startswith(("==", "#")):
            continue
        head = text.split(":", 1)[0]
        name = head.split("=", 1)[0]
        if "=" in head and (":" not in text or name.strip() in row.keys):
            mark = Value("=", line.line, text.index("=") + 1)
            yield ctx.find("TC021", mark, ctx.replaced(mark, ":"), name=name, key=head[:40])
        elif ":" not in text and row.reads == "k":
            yield ctx.find("TC023", line, text=text.strip())
        elif ":" not in text and config.layout.value == "second field":
            yield ctx.find("TC020", line, row=row.name, text=text.strip())
        elif text.count(":") > 1 and config.layout.value == "second field" and row.reads != "k":
            second = text.index(":", text.index(":") + 1)
            if text[second + 1 :].strip():
                kept = text[text.index(":") + 1 : second]
                yield ctx.find("TC022", Value(text[second:], line.line, second + 1), kept=kept[:60])


def nulls(ctx: Context) -> Iterator[LintFinding]:
    """TC030: ``null`` with a blank beside it."""
    for row, config in ctx.rows():
        value = config.value(row.name)
        if value.text.strip() == "null" and value.text != "null":
            shown = value.text.replace(" ", "␣").replace("\t", "⇥")
            yield ctx.find("TC030", value, ctx.replaced(value, "null"), shown=shown)


def blank_scripts(ctx: Context) -> Iterator[LintFinding]:
    """TC034: a script of nothing but blanks."""
    for row, config in ctx.rows("v"):
        value = config.value(row.name)
        if row.kind == "script" and value.text and not value.text.strip():
            key = config.key(row.name).text
            yield ctx.find("TC034", value, ctx.replaced(value, "null"), key=key)


def blanks(ctx: Context) -> Iterator[LintFinding]:
    """TC031, TC032: blanks beside list items, names and option values."""
    for row, config in ctx.rows():
        value = config.value(row.name)
        if is_null(value) or row.kind == "script":
            continue
        if "l" in row.reads:
            yield from _blank_items(ctx, value)
        elif "v" in row.reads and ctx.dialect is not None:
            bare = value.text.strip()
            text = value.text
            if row.kind != "name":
                text = text.rstrip()
            if text != bare:
                yield ctx.find("TC032", value, ctx.replaced(value, bare), text=bare)


def _blank_items(ctx: Context, value: Value) -> Iterator[LintFinding]:
    """TC031 of the first such item; the edit is for all of the list."""
    for item in items(value):
        bare = item.text.strip()
        if item.text != bare:
            without = "|".join(map(str.strip, value.text.split("|")))
            yield ctx.find("TC031", item, ctx.replaced(value, without), item=bare, text=item.text)
            return


@lru_cache(maxsize=512)
def meant(word: str) -> str:
    """``True`` or ``False`` if a word is a slip of one of them, else empty."""
    low = word.strip().lower()
    if low in _LETTERS or not 3 <= len(low) <= 6 or not low.isalpha():
        return ""
    for letters, right in _LETTERS.items():
        if _one_slip(low, letters):
            return right
    return ""


def _one_slip(a: str, b: str) -> bool:
    """One letter swapped with its neighbour, changed, added or left out."""
    if len(a) == len(b):
        differing = [n for n in range(len(a)) if a[n] != b[n]]
        if len(differing) == 2:
            i, j = differing
            return a[i] == b[j] and a[j] == b[i]
        return len(differing) == 1 and a[0] == b[0]
    short, long = sorted((a, b), key=len)
    return len(long) - len(short) == 1 and any(long[:n] + long[n + 1 :] == short for n in range(len(long)))


def booleans(ctx: Context) -> Iterator[LintFinding]:
    """TC033: ``Fasle`` and its like, and ``true`` where the script compares with ``True``."""
    compared = set()
    for row, config in ctx.rows("l"):
        if row.name in _COMPARED:
            compared.add(config.line(row.name).line)
    for line in ctx.source.seen():
        head, _, rest = line.text.partition(":")
        if not rest or "/" in rest:
            continue
        for item in items(Value(rest, line.number, len(head) + 2)):
            word = item.text.strip()
            right = meant(word)
            if line.number in compared and word in _LETTERS:
                right = _LETTERS[word]
            if right:
                place = item.part(item.text.index(word), word)
                edit = ctx.replaced(item, item.text.replace(word, right))
                yield ctx.find("TC033", place, edit, word=word, right=right)


def devices(ctx: Context) -> Iterator[LintFinding]:
    """TC090: an inference device that the script has no branch for."""
    for row, config in ctx.rows("l"):
        if row.name != "use_gpu" or ctx.dialect is None or is_null(config.value("inference")):
            continue
        for item in config.items(row.name):
            word = item.text.strip()
            if word in (*_DEVICES, "null") or meant(word) or find_device(word):
                continue
            right = _LETTERS.get(word.lower(), word.lower())
            if right in _DEVICES:
                fix = because("lint-write", text=right)
                yield ctx.find("TC090", item, ctx.replaced(item, right), word=word, fix=fix)
            else:
                fix = because("lint-one-of", words=", ".join(_DEVICES))
                yield ctx.find("TC090", item, word=word, fix=fix)


def numbers(ctx: Context) -> Iterator[LintFinding]:
    """TC091: a word where a number belongs."""
    for row, config in ctx.rows():
        if row.kind != "number":
            continue
        for item in config.items(row.name):
            if "p" in row.reads:
                before, equals, number = item.text.partition("=")
                if not equals:
                    continue
                item = item.part(len(before) + 1, number.split("=")[0])
            if not is_null(item) and "=" not in item.text and not _NUMBER.fullmatch(item.text):
                yield ctx.find("TC091", item, text=item.text.strip())


def empty_lists(ctx: Context) -> Iterator[LintFinding]:
    """TC093: a loop with no turn."""
    for row, config in ctx.rows("l"):
        line, value = config.line(row.name), config.value(row.name)
        looped = row.name in ("gpu_list", "trainer_list", "autocast")
        if row.name in _INFERENCE_LISTS:  # nothing loops over them where nothing infers
            looped = not is_null(config.value("inference"))
        if looped and value.text == "" and ":" in line.text:
            edits = []
            if row.name not in ("gpu_list", "trainer_list") and row.kind == "text":
                edits = [Edit(line.line, f"{line.text}null")]
            yield ctx.find("TC093", line, *edits, row=row.name)


def lengths(ctx: Context) -> Iterator[LintFinding]:
    """TC092: lists that are read side by side."""
    if ctx.config is None:
        return
    sizes = {}
    for name in ("infer_model", "infer_export", "infer_quant"):
        row = ctx.config.rows.get(name)
        if row and "l" in row.reads and ctx.config.line(name).line:
            sizes[name] = len(ctx.config.items(name))
    if not sizes or is_null(ctx.config.value("infer_model")):
        return
    longer = max(sizes, key=lambda name: sizes[name])
    longest = sizes[longer]
    for name, size in sizes.items():
        if size < longest:
            place = ctx.config.value(name)
            yield ctx.find("TC092", place, name=name, size=size, longer=longer, longest=longest)
