"""What a log must not have: figures that are no finite numbers; and what is looked for in the middle of a
giant one."""

from __future__ import annotations

import math
import re

from tipc.certify.evidence.log_lines import Wanted
from tipc.certify.evidence.log_records import NotFinite
from tipc.certify.evidence.log_values import COLON, KEY, METRIC

FIGURES = 2**25  # bytes of lines with a figure that is none; a second of reading has about seven
ERRORS = 2**24
COMPLAINTS = 2**20
TRACEBACK_BYTES = 2**15  # of a traceback: its frames, in boxes and colours, and its error

# Names whose figures must be finite wherever they stand: losses, metrics, costs, speeds, gradients.
TELLING = re.compile(
    r"loss|cost|(?:^|_)ips$|^grad|_norm$|^lr$|^learning_rate$|^(?:avg_)?samples$|损失|学习率", re.IGNORECASE
)
GRADIENT = re.compile(r"grad|_norm$", re.IGNORECASE)
# What is infinite before anything was seen: the best of nothing.
BEST = re.compile(r"(?:^|[^a-z])(?:best|min|max|lowest|minimum|maximum)(?:[^a-z]|$)", re.IGNORECASE)
BEFORE = 24  # characters before a name in which it is told of what it is the best
BARE = r"[-+]?(?i:nan|inf(?:inity)?)"
NO_FIGURE = re.compile(
    rf"(?P<key>{KEY})(?:\(\w+\))?[\"']?(?:"
    # ``loss: nan``, ``'loss': [nan``, ``| loss | nan |``, ``loss: tensor(nan``
    rf"\s*[{COLON}=|]\s*(?:[A-Za-z_][A-Za-z0-9_.]{{0,19}}\(\s*)?(?:Tensor\([^()\[]{{0,120}})?(?:[\[(\"']+\s*)?(?P<value>{BARE})(?![\w(])|"
    # ``loss nan``, ``Acc@1 nan Acc@5 nan``: a sentence goes on otherwise
    rf"\s+(?P<bare>{BARE})(?=\s*(?:$|[,;|/%)\]}}]|[A-Za-z_][\w@./-]*\s*(?:[:=]\s*)?[-+]?(?:\d|(?i:nan|inf)))))"
)
# A class of which there is no sample has no metric: the mean leaves it out.
ONE_CLASS = re.compile(r"(?:\b(?:class|category|label)(?:_?id)?|类别?)\s*(?:[:=：#]\s*)?\[?\d", re.IGNORECASE)
WORDS = re.compile(r"nan(?![a-z_])"), re.compile(r"inf(?:inity)?(?![a-z_])")  # of small letters


class FiniteReader:
    """The first figure of a telling name that is NaN or infinite."""

    def __init__(self) -> None:
        self.found: NotFinite | None = None

    def feed(self, number: int, text: str) -> None:
        """See one line."""
        if self.found is not None:
            return
        small = text.lower()
        if "nan" not in small and "inf" not in small:  # much quicker than a pattern
            return
        if not any(word.search(small) for word in WORDS):
            return
        for match in NO_FIGURE.finditer(text):
            key, value = match["key"], float(match["value"] or match["bare"])
            if not TELLING.search(key) and not METRIC.match(key):
                continue
            before = text[max(0, match.start() - BEFORE) : match.end("key")]
            if math.isnan(value) and METRIC.match(key) and ONE_CLASS.search(text[: match.start()]):
                continue
            if math.isinf(value) and (GRADIENT.search(key) or BEST.search(before.replace("_", " "))):
                continue
            self.found = NotFinite(number, key, value)
            return


def wanted_figures() -> tuple[Wanted, ...]:
    """Figures that are none."""
    nan, infinite = (re.compile(word.pattern.encode()) for word in WORDS)
    return Wanted(nan, FIGURES, any_case=True), Wanted(infinite, FIGURES, any_case=True)


def wanted_errors() -> tuple[Wanted, ...]:
    """Tracebacks and deaths: each pattern begins with something plain, which is much quicker to look for."""
    death = (
        rb"\n[ \t\[(]{0,9}(?:Aborted|Killed|FatalError|InvalidArgument|NotFound|OutOfRange|Unavailable|"
        rb"Unimplemented|ResourceExhausted|PreconditionNotMet|PermissionDenied)"
    )
    return (
        Wanted(re.compile(rb"Traceback \(most recent call last\)"), ERRORS, following=TRACEBACK_BYTES),
        Wanted(re.compile(rb"Segmentation fault"), ERRORS),
        Wanted(re.compile(death), ERRORS),
    )


def wanted_complaints() -> tuple[Wanted, ...]:
    """Lines of the level ERROR."""
    levels = (rb"ERROR", rb"CRITICAL", rb"FATAL")
    return tuple(Wanted(re.compile(level), COMPLAINTS) for level in levels)
