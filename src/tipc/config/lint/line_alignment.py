"""Which line of a file is which row of its layout, so that one missing line is one finding and not fifty.

The cheapest alignment of the file's lines with the layout's rows: names that a row always has are strong, the
shape of a value and the words in a key are weak evidence. Lines below the last row belong to other sections.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from tipc.config.layout import Layout, Row
from tipc.config.source import Line
from tipc.kinds import DEVICES

# The costs of an alignment, in one unit. They were set by hand; what holds them are the tests of tests/lint:
# of two layouts every line is removed once, and one is added before every line, and the change must be found.
#
# GAP is what everything is measured by. A line in the wrong place must cost more than the gap that explains
# it (WRONG_ANCHOR and ELSEWHERE > GAP), and a line that is only odd must cost less (STRANGE < GAP), so that
# one odd line is not taken for a missing and an added one.
GAP = 3.0  # a line that is missing, or one too many
CUT = 2.9  # the file ends before the layout does: a little likelier than a gap at its end
MORE = 3.05  # it goes on behind the layout, and not with a new section: a little less likely than a gap
TAIL = 0.02  # for each row beyond the file's end: of two ways to end, the one that loses fewer rows
WRONG_ANCHOR = 5.0  # a name that always stands for another row
ELSEWHERE = 3.2  # the key of another option: no real config has that, so a gap is more likely
STRANGE = 2.4  # a name that no row has, where the row always has the same one
FREE_FILLER = 0.8  # some text where a filler stands; an anchor there costs as much as WRONG_ANCHOR nearly
NULL_FILLER = 0.2  # `null` where a filler stands: many write it so
OTHER_HEADER = 0.5  # a header with another word
COMMENT = 1.0  # a comment in the place of an option
NO_NAME = 0.6  # `null` for a name, or any name where only the place counts
OWN_TRAINER = 0.1  # a trainer of the author's own
NO_HINT = 0.3  # a key none of whose words is known, where the row's keys usually are
HINT = 0.25  # a key whose words speak for other rows, where the row's keys may be anything
PER_MODE = 0.6  # `mode=value` where a plain value is read, or the other way round
SHAPE = 0.3  # a value that is no flag or no number

# Parts of words by which the key of a free row is known, whatever the family calls it.
_DEVICE = ("use_gpu", "use-gpu", "device", "place", "use_npu", "use_xpu", "use_mlu")
_HINTS = {
    "train_use_gpu": _DEVICE,
    "use_gpu": _DEVICE,
    "autocast": ("cast", "precision", "amp", "fp16"),
    "epoch": ("epoch", "iters", "steps", "max_"),
    "save_model": ("save", "out", "dir"),
    "train_batch": ("batch", "bs"),
    "pretrain": ("pretrain", "weights", "model", "checkpoint", "load", "resume"),
    "data_path": ("data",),
    "nodes": ("nodes", "null"),
    "save_infer": ("save", "out", "dir"),
    "export_weight": ("weight", "pretrain", "model", "load", "checkpoint", "param"),
    "mkldnn": ("mkldnn", "onednn"),
    "cpu_threads": ("thread",),
    "batch_size": ("batch", "bs"),
    "use_trt": ("trt", "tensorrt"),
    "precision": ("precision", "fp16", "run_mode", "int8"),
    "model_dir": ("model", "config", "dir"),
    "image_dir": ("img", "image", "input", "data", "video", "source", "audio", "file", "query"),
    "save_log": ("log", "save", "output"),
    "benchmark": ("benchmark",),
}
# Names that people also use for a row whose name no script reads.
_ALIASES = {
    "infer_model": ("train_model", "infer_model", "infer_model_dir", "infer_model_dir_list"),
    "pact_train": ("quant_train",),
    "pact_export": ("quant_export",),
    "inference_dir": ("inference_dir",),
    "pretrained_model_url": ("inference_dir",),
    "infer_quant": ("infer_quant", "is_quant"),
}
_OFTEN_EMPTY = ("inference_dir", "nodes")
_FLAGS = ("true", "false", "fasle", "null", "", *DEVICES)


class LineAlignment(NamedTuple):
    """``lines``: the line of each row, None where it is missing; ``extra``: lines that no row asks for."""

    lines: tuple[Line | None, ...]
    extra: tuple[Line, ...]
    cut: int  # how many rows lie beyond the end of the file
    cost: float

    @property
    def missing(self) -> list[int]:
        """The rows inside the file that have no line."""
        found = []
        for row, line in enumerate(self.lines[: len(self.lines) - self.cut]):
            if line is None:
                found.append(row)
        return found


@lru_cache(maxsize=16)
def _anchors(layout: Layout) -> frozenset[str]:
    """The names that stand for one row only."""
    names: set[str] = set()
    for row in layout.rows:
        if row.kind not in ("header", "filler"):
            names.update(names_of(row))
    return frozenset(names)


def names_of(row: Row) -> tuple[str, ...]:
    """The names that a line may have: those of the layout, and those that people also use."""
    return (*row.keys, *_ALIASES.get(row.name, ()))


def split_key(text: str) -> tuple[str, str]:
    """Key and value by the first colon; where there is none, by an ``=`` that stands for it."""
    key, colon, value = text.partition(":")
    if not colon:
        key, _, value = text.partition("=")
    return key.strip(), value.strip()


def fit(row: Row, line: Line, anchors: frozenset[str]) -> float:
    """What it costs to take a line for a row: 0 for a perfect fit."""
    text = line.text.rstrip("\r")
    key, value = split_key(text)
    is_header = text.lstrip().startswith("==")
    wants_header = row.kind == "header" or (row.keys and "params" in row.keys[0])
    if bool(wants_header) != is_header:
        return WRONG_ANCHOR
    if is_header:
        return _header_fit(row, text)
    if row.kind == "filler":
        return _filler_fit(text, key, anchors)
    if key in names_of(row):
        return 0.0
    if key in anchors:
        return WRONG_ANCHOR
    if key.startswith("#"):
        return _comment_fit(row)
    if row.keys:
        return _name_fit(row, key)
    return _likeness(row, key, value)


def _header_fit(row: Row, text: str) -> float:
    if any(word in text for word in row.keys):
        return 0.0
    return OTHER_HEADER


def _filler_fit(text: str, key: str, anchors: frozenset[str]) -> float:
    if text in ("null", "null:null"):
        return NULL_FILLER
    if key.startswith("#"):
        return 0.0
    if key in anchors:
        return FREE_FILLER + 4
    return FREE_FILLER


def _comment_fit(row: Row) -> float:
    """A ``##`` where an option is read."""
    if row.keys:
        return STRANGE
    if row.name in _OFTEN_EMPTY:
        return 0.0
    return COMMENT


def _name_fit(row: Row, key: str) -> float:
    """A name that is neither the row's own nor another row's."""
    if row.name.endswith("_train") and key.endswith("_train"):
        return OWN_TRAINER
    if key == "null" or not row.reads:
        return NO_NAME
    return STRANGE


def _likeness(row: Row, key: str, value: str) -> float:
    """A row whose key is free: by the words of the key and the shape of the value."""
    cost = 0.0
    if row.name == "norm_train" and not key.endswith("train"):
        cost += NO_HINT  # any name will do for the script, but this is the one that people give it
    if key != "null":
        cost += _hint_cost(row, known_as(key))
    per_mode = "infer=" in value or "train=" in value
    if per_mode != ("p" in row.reads) and value not in ("null", ""):
        cost += PER_MODE
    items = value.lower().split("|")
    if row.kind == "flag" and not (items[0] in _FLAGS or items[0].isdigit()):
        cost += SHAPE
    if row.kind == "number" and "p" not in row.reads and not all(map(_is_number, items)):
        cost += SHAPE
    return cost


def _hint_cost(row: Row, known: frozenset[str]) -> float:
    if row.name in known:
        return 0.0
    if row.name in _HINTS:
        return ELSEWHERE if known else NO_HINT
    return HINT if known else 0.0


def _is_number(text: str) -> bool:
    return text.isdigit() or text in ("", "null")


def out_of_place(row: Row, key: str) -> bool:
    """Whether a key's words speak for another row than the one that it stands in."""
    known = known_as(key)
    return key != "null" and not row.keys and row.name in _HINTS and bool(known) and row.name not in known


@lru_cache(maxsize=1024)
def known_as(key: str) -> frozenset[str]:
    """The rows that a key's words speak for."""
    low = key.lower()
    known = set()
    for name, parts in _HINTS.items():
        if any(part in low for part in parts):
            known.add(name)
    return frozenset(known)


def align(lines: Sequence[Line], layout: Layout) -> LineAlignment:
    """The cheapest way to read the lines as the layout."""
    rows, anchors = layout.rows, _anchors(layout)
    straight = sum(fit(row, line, anchors) for row, line in zip(rows, lines, strict=False))
    if len(lines) >= len(rows) and straight + _after(lines, len(rows)) < GAP:  # then no gap is cheaper
        return LineAlignment(tuple(lines[: len(rows)]), (), 0, straight)
    # best[i][j]: rows[:i] read from lines[:j]
    best = [[j * GAP for j in range(len(lines) + 1)]]
    for i, row in enumerate(rows, 1):
        previous, current = best[-1], [i * GAP]
        for j, line in enumerate(lines, 1):
            current.append(
                min(previous[j - 1] + fit(row, line, anchors), previous[j] + GAP, current[-1] + GAP)
            )
        best.append(current)
    # Either all rows are read and other sections follow, or all lines are and rows are left over.
    ends = [(best[-1][j] + _after(lines, j), len(rows), j) for j in range(len(lines) + 1)]
    ends += [(best[i][-1] + CUT + TAIL * (len(rows) - i), i, len(lines)) for i in range(len(rows))]
    return _walk_back(best, min(ends), lines, layout)


def _after(lines: Sequence[Line], end: int) -> float:
    """What it costs that a line follows the last row: nothing if it begins a section or says nothing."""
    if end == len(lines) or lines[end].text.lstrip().startswith(("==", "#", "null", "log_iters")):
        return 0.0
    return MORE


def _walk_back(
    best: list[list[float]], end: tuple[float, int, int], lines: Sequence[Line], layout: Layout
) -> LineAlignment:
    cost, i, j = end
    anchors = _anchors(layout)
    cut = len(layout.rows) - i
    found: list[Line | None] = [None] * len(layout.rows)
    extra: list[Line] = []
    while i or j:
        here = best[i][j]
        if i and j and _same(here, best[i - 1][j - 1] + fit(layout.rows[i - 1], lines[j - 1], anchors)):
            found[i - 1] = lines[j - 1]
            i, j = i - 1, j - 1
        elif i and _same(here, best[i - 1][j] + GAP):
            i -= 1
        else:
            extra.append(lines[j - 1])
            j -= 1
    return LineAlignment(tuple(found), tuple(reversed(extra)), cut, cost)


def _same(a: float, b: float) -> bool:
    return abs(a - b) < 1e-9
