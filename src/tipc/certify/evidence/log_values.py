"""Figures in a line of a log: ``name: number unit``, in the forms that the families print."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Letters of either case only where a word has them: a whole pattern without case takes half as long again.
NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|(?i:nan|inf(?:inity)?))"
UNIT = r"(?i:[A-Za-z]+/(?:sec(?:ond)?s?|s)\b|sec(?:ond)?s?\b|ms\b|s\b|%)"
PAIR = re.compile(
    # A name begins where no other goes on: else a line of 4,000 letters would be tried from each of them.
    # A unit may be glued to its number (``5.46512s``); any other letter there makes it no number.
    rf"(?<![\w./@-])(?P<key>[A-Za-z_][\w./@-]*)(?:\(\w+\))?\s*[:=]\s*\[?\s*(?P<value>{NUMBER})"
    rf"(?=(?:{UNIT})|(?!\w|\.\d))(?:\s*/\s*(?P<total>\d+))?\]?\s*(?P<unit>{UNIT})?"
)
EPOCH = re.compile(r"\bepoch\b\s*[:=]?\s*\[?\s*(\d+)(?:\s*/\s*(\d+))?", re.IGNORECASE)
ITERATION = re.compile(
    r"\b(?:iter(?:ation)?s?|global_step)\b\s*[:=]?\s*\[?\s*(\d+)(?:\s*/\s*(\d+))?", re.IGNORECASE
)
# ``Epoch: [0] [3/4]``: the iteration stands behind the epoch, without a name.
BRACKETED_ITERATION = re.compile(r"\bepoch\b\s*:?\s*\[\d+\]\s*\[\s*(\d+)\s*/\s*(\d+)\s*\]", re.IGNORECASE)
PARENTHESIS = re.compile(r"\([^()]*\)")
METRIC = re.compile(
    r"^(?:(?:eval|val|test|best|cur)[_./-]?)?(?:m?iou|dice|kappa|acc\w*|acc@\d|top-?[15]\w*|m?ap\w{0,2}|hmean|"
    r"precision|recall|f1\w*|psnr|ssim|err\w*|auc|norm_edit_dis)$",
    re.IGNORECASE,
)
# A line without one of these has no metric, and need not be taken apart.
METRIC_WORDS = (
    *(
        "iou",
        "dice",
        "kappa",
        "acc",
        "top",
        "ap",
        "hmean",
        "precision",
        "recall",
        "f1",
        "psnr",
        "ssim",
        "err",
    ),
    *("auc", "norm_edit_dis"),
)
# Metrics that lie between 0 and 1, or are told in per cent.
SHARES = re.compile(
    r"iou|dice|acc|top-?\d|^m?ap|hmean|precision|recall|f1|ssim|auc|norm_edit_dis", re.IGNORECASE
)


def has_one_of(words: tuple[str, ...], text: str) -> bool:
    """Whether a line has one of some words in small or capital letters: ten times as quick as a pattern."""
    lower = text.lower()
    for word in words:  # a generator would double the time
        if word in lower:
            return True
    return False


def pairs(text: str) -> Iterator[tuple[str, float, str]]:
    """Every ``name: number unit`` of a line."""
    for match in PAIR.finditer(text):
        if "[" in match[0] and "]" not in match[0]:
            continue  # the first of a list, such as the IoU of each class: no figure of that name
        key, value, _total, unit = match.groups()
        yield key, float(value), unit or ""


def is_share(name: str) -> bool:
    """Whether a metric of this name lies between 0 and 1."""
    return SHARES.search(name) is not None
