"""Readers of logs: each is shown every line of a log once, and keeps what it understands of it.

The forms of five families are known: those of PaddleSeg, PaddleClas, PaddleOCR and PaddleDetection, and that
of the specification; and that of ``paddle.Model.fit``. They differ in names, in units, and in what is a line
about an interval of training, a summary of an epoch, the progress of an evaluation, or its result.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Generic, TypeVar

from tipc.certify.evidence.log_records import (
    BATCH_COST,
    FIELDS,
    IPS,
    LOSS,
    RATE,
    READER_COST,
    SAMPLES,
    TOLD,
    ErrorLine,
    EvaluationLine,
    TrainingLine,
)
from tipc.certify.evidence.log_values import (
    BRACKETED_ITERATION,
    COLON,
    EPOCH,
    EPOCH_ZH,
    ITERATION,
    LOSS_ZH,
    METRIC,
    METRIC_WORDS,
    NUMBER,
    PARENTHESIS,
    RATE_ZH,
    has_one_of,
    pairs,
)

Line = TypeVar("Line")

KEPT = 10_000  # lines of a kind: so many first ones and as many last ones of a giant log
ALIASES = {
    "reader_cost": READER_COST,
    "data_cost": READER_COST,
    "batch_cost": BATCH_COST,
    "ips": IPS,
    "samples": SAMPLES,
    "learning_rate": RATE,
    LOSS_ZH: LOSS,
    RATE_ZH: RATE,
}
PROGRESS = ("epoch", "iter", "iters", "iteration", "global_step", "eta", "step")
INTERVAL = ("loss", "avg_", "ips", LOSS_ZH)
EVALUATION = re.compile(r"\b(?:eval(?:uat\w*)?|test|val(?:id\w*)?)\b|评估|验证|测试", re.IGNORECASE)
TRAINING = re.compile(r"\[train\]", re.IGNORECASE)
# The end of a line that was wrapped, and how the next one goes on: with a figure, a unit or a further name.
WRAPPED = re.compile(r"(?:,|:|\d|\bsec)$")
GOES_ON = re.compile(
    r"\s*(?:[\d.]+\s*(?:sec|ms|images|samples|imgs)\b|(?:sec|images/sec|samples/sec)\b"
    r"|(?:avg_(?:reader_cost|batch_cost|samples|ips)|loss):)"
)
WRAPPED_END = len(" sec")  # so much of a line's end tells: to look for it from each place on takes far longer
MOST_WRAPPED = 4  # lines of one
# ``paddle.Model``: ``Epoch 1/6``, then ``step 1/2 - loss: 1.9635 - acc: 0.5000 - 82ms/step``; the same of an
# evaluation stands between ``Eval begin...`` and ``Eval samples: 8``.
MODEL_EPOCH = re.compile(r"\s*Epoch (\d+/\d+)\s*$")
MODEL_STEP = re.compile(r"\s*step\s+(\d+(?:/\d+)?) (?=.*\s\d+\s?[mu]?s/step)")
MODEL_EVALUATES = "Eval begin..."
MODEL_EVALUATED = "Eval samples:"
SUMMARY = re.compile(r"\[avg\]|\baverage\b|\bsummary\b", re.IGNORECASE)
# One of them is in each line that the pattern is found in; they are much quicker to look for.
EVALUATION_WORDS = ("eval", "test", "val", "评估", "验证", "测试")
SUMMARY_WORDS = ("[avg]", "average", "summary")
TIMED_WORDS = ("batch_cost", "avg_ips")
# ``Test:  [0/4]  eta: …``, ``[Eval][Epoch 0][Iter: 0/1]… batch_cost``: one batch of an evaluation.
BATCH_OF_EVALUATION = re.compile(r"\beta\s*:|\[\s*\d+\s*/\s*\d+\s*\]\s+eta", re.IGNORECASE)
# Where no bracket follows another there is no ``Epoch: [0] [3/4]``.
TWO_BRACKETS = re.compile(r"\]\s*\[")
# `` * Acc@1 0.062 Acc@5 0.312``: name and figure without a sign between them.
BARE_ACCURACY = re.compile(rf"\b(Acc@\d+)\s+({NUMBER})", re.IGNORECASE)
EVALUATION_LOSS = re.compile(r"(?:eval|val|valid|test)[_/-]loss$", re.IGNORECASE)
# ``top1 0.875``, ``| top1 | 0.875 |`` (also in the boxes of rich), ``mIoU is 87.5 %``, ``Accuracy of the
# network on the 8 test images: 87 %``: read where a line has no other metric, and only with a point or a
# per cent sign.
SPOKEN = re.compile(
    r"(?<![\w./@-])(?P<key>acc(?:uracy|_?top[15]|[15])?|top-?[15](?:_acc)?|m?iou|dice|kappa|(?-i:mAP)|"
    r"(?:precision|recall)(?:@?\d+)?|f1(?:[_-]score)?|hmean|auc|psnr|ssim|mae|r?mse|wer|cer|eer|bleu|fid|ppl|"
    r"perplexity)"
    r"(?:\s*[|│┃║]\s*|\s+(?:is\s+|=\s*|(?:of|on)\s[^:=;|]{1,60}[:=]\s*)?)"
    r"(?P<value>\d+(?=\s?%)|\d+\.\d+)(?![\w.])\s?(?P<unit>%)?",
    re.IGNORECASE,
)
COCO = re.compile(
    rf"Average (?P<what>Precision|Recall)\s+\((?:AP|AR)\) @\[ IoU=(?P<iou>[\d.:]+)\s*\|"
    rf"\s*area=\s*(?P<area>\w+)\s*\|\s*maxDets=\s*(?P<most>\d+)\s*\]\s*=\s*(?P<value>{NUMBER})"
)
VOC = re.compile(rf"\b(mAP)\([^)]*\)\s*=\s*({NUMBER})\s*%", re.IGNORECASE)


SIGNS = (*COLON, "=", "@")  # between a name and its figure


class KeptLines(Generic[Line]):
    """The first and the last lines of a kind.

    A line is understood when it is asked for: of a giant log only those that are kept, and that is most of
    the time that reading takes.
    """

    def __init__(self, understand: Callable[[int, str], Line | None]) -> None:
        # None: it is not of the kind, after all. A function, no method of who keeps the lines: in a circle,
        # those of thousands of logs would wait for the garbage collector.
        self.understand = understand
        self.tried = 0
        self.first: list[Line] = []
        self.last: deque[tuple[int, str]] = deque(maxlen=KEPT)

    def add(self, number: int, text: str) -> None:
        """One more; in a giant log the middle is forgotten."""
        if len(self.first) >= KEPT or self.tried >= 3 * KEPT:
            self.last.append((number, text))
            return
        self.tried += 1
        line = self.understand(number, text)
        if line is not None:
            self.first.append(line)

    def all(self) -> tuple[Line, ...]:
        """What was kept, in order."""
        found = list(self.first)
        for number, text in self.last:
            line = self.understand(number, text)
            if line is not None:
                found.append(line)
        return tuple(found)


class TrainingReader:
    """The training lines: one for each interval, with a loss, costs or a speed."""

    def __init__(self) -> None:
        self.found = KeptLines(self._understand)
        self.waiting: list[tuple[int, str]] = []  # a line, and those that go on with it
        self.model = ModelLines()

    def feed(self, number: int, text: str) -> None:
        """See one line."""
        if self.model.is_step(text):
            if self.model.evaluates or not self.model.epoch:
                return
            text = self.model.with_epoch(text)
        if self.waiting and self._goes_on(number, text):
            self.waiting.append((number, text))
            return
        self._settle()
        if not has_one_of(INTERVAL, text):
            return
        if _may_be_wrapped(text):
            self.waiting = [(number, text)]
        else:
            self.found.add(number, text)

    def all(self) -> tuple[TrainingLine, ...]:
        """What was found."""
        self._settle()
        return self.found.all()

    def _goes_on(self, number: int, text: str) -> bool:
        """Whether a line is the rest of the one that waits: rich wraps at the width of a terminal."""
        last, before = self.waiting[-1]
        near = number == last + 1 and len(self.waiting) < MOST_WRAPPED
        return near and GOES_ON.match(text) is not None and _may_be_wrapped(before)

    def _settle(self) -> None:
        if self.waiting:
            self.found.add(self.waiting[0][0], " ".join(text.strip() for _, text in self.waiting))
            self.waiting = []

    @staticmethod
    def _understand(number: int, text: str) -> TrainingLine | None:
        if has_one_of(SUMMARY_WORDS, text) and SUMMARY.search(text):
            return None
        evaluates = has_one_of(EVALUATION_WORDS, text) and EVALUATION.search(text)
        if evaluates and not TrainingReader._is_timed_training(text):
            return None
        row = training_line(number, text)
        timed = any(name in row.values for name in FIELDS[1:])
        placed = row.epoch is not None or row.iteration is not None
        if timed or (LOSS in row.values and placed):
            return row
        return None

    @staticmethod
    def _is_timed_training(text: str) -> bool:
        if TRAINING.search(text):
            return True
        begins = EVALUATION.search(text[:60])  # "[Eval]…", "Test: …"; else a folder or a name further on
        return begins is None and ("avg_ips" in text or "batch_cost" in text)


class ModelLines:
    """The lines of ``paddle.Model.fit``: which epoch a step is of, and whether it is one of an evaluation, is
    said in lines before it."""

    def __init__(self) -> None:
        self.epoch = ""
        self.evaluates = False

    def is_step(self, text: str) -> bool:
        """See one line. Whether it is one of a step."""
        if "poch" in text and (match := MODEL_EPOCH.match(text)):
            self.epoch = match[1]
            self.evaluates = False
        elif MODEL_EVALUATES in text:
            self.evaluates = True
        elif MODEL_EVALUATED in text:
            self.evaluates = False
        return "/step" in text and MODEL_STEP.match(text) is not None

    def with_epoch(self, text: str) -> str:
        """The line of a step, with its epoch in it."""
        return MODEL_STEP.sub(rf"Epoch {self.epoch} iter \1 ", text, count=1)


def _may_be_wrapped(text: str) -> bool:
    """Whether a line ends as one does that goes on in the next."""
    return WRAPPED.search(text.rstrip()[-WRAPPED_END:]) is not None


def training_line(number: int, text: str) -> TrainingLine:
    """The figures of one training line."""
    values: dict[str, float] = {}
    names: dict[str, str] = {}
    units: dict[str, str] = {}
    metrics: dict[str, float] = {}
    for key, value, unit in pairs(text):
        name = _name(key)
        if name in PROGRESS:
            continue
        if name not in TOLD:
            metrics.setdefault(key, value)
            continue
        values.setdefault(name, value)
        names.setdefault(name, key)
        if unit:
            units.setdefault(name, unit)
    epoch, epochs = _progress(text, EPOCH, EPOCH_ZH)
    iterating: tuple[re.Pattern[str], ...] = (ITERATION,)
    if TWO_BRACKETS.search(text):
        iterating = (BRACKETED_ITERATION, ITERATION)
    iteration, iterations = _progress(text, *iterating)
    return TrainingLine(number, values, names, units, metrics, epoch, epochs, iteration, iterations)


@lru_cache(maxsize=4096)
def _name(key: str) -> str:
    """The one name for what the families call by several; kept once, not once a line."""
    lower = key.lower()
    return sys.intern(ALIASES.get(lower, lower))


def _progress(text: str, *patterns: re.Pattern[str]) -> tuple[int | None, int | None]:
    """Which of how many (epochs, iterations) a line is about."""
    for pattern in patterns:
        match = pattern.search(text)
        if not match:
            continue
        number, *rest = match.groups()
        total = None
        if rest and rest[0]:
            total = int(rest[0][:9])
        return int(number[:9]), total
    return None, None


class EvaluationReader:
    """The results of evaluations; the progress of one, batch by batch, is none."""

    def __init__(self) -> None:
        self.found = KeptLines(self._understand)
        self.spoken = KeptLines(self._understand_spoken)
        self.losses = KeptLines(self._understand_loss)
        self.model = ModelLines()
        self.last_step: tuple[int, str] | None = None  # of an evaluation: it has the metric of all of them

    def feed(self, number: int, text: str) -> None:
        """See one line."""
        if self.model.is_step(text):
            if self.model.evaluates:
                self.last_step = (number, text)
            return
        if self.last_step is not None and not self.model.evaluates:
            self.found.add(*self.last_step)
            self.last_step = None
        if has_one_of(METRIC_WORDS, text):
            if has_one_of(SIGNS, text):
                self.found.add(number, text)
            # A table of classes may follow what was found of all of them.
            if not self.found.first and SPOKEN.search(text):
                self.spoken.add(number, text)
        if "loss" in text and has_one_of(EVALUATION_WORDS, text):
            self.losses.add(number, text)

    def all(self) -> tuple[EvaluationLine, ...]:
        """What was found; where nothing has a metric with a sign, those in sentences and tables, and where
        there is none, either, the losses of the evaluations."""
        return self.found.all() or self.spoken.all() or self.losses.all()

    @staticmethod
    def _understand(number: int, text: str) -> EvaluationLine | None:
        if TRAINING.search(text) or has_one_of(TIMED_WORDS, text) or BATCH_OF_EVALUATION.search(text):
            return None
        metrics, per_cent = evaluation_metrics(text)
        if not metrics:
            return None
        epoch, _ = _progress(text, EPOCH, EPOCH_ZH)
        return EvaluationLine(number, metrics, epoch, per_cent)

    @staticmethod
    def _understand_spoken(number: int, text: str) -> EvaluationLine | None:
        if TRAINING.search(text) or has_one_of(TIMED_WORDS, text) or BATCH_OF_EVALUATION.search(text):
            return None
        metrics = {}
        per_cent = False
        for match in SPOKEN.finditer(text):
            metrics[match["key"]] = float(match["value"])
            per_cent = per_cent or match["unit"] is not None
        if not metrics:
            return None
        epoch, _ = _progress(text, EPOCH, EPOCH_ZH)
        return EvaluationLine(number, metrics, epoch, per_cent)

    @staticmethod
    def _understand_loss(number: int, text: str) -> EvaluationLine | None:
        if TRAINING.search(text) or has_one_of(TIMED_WORDS, text) or BATCH_OF_EVALUATION.search(text):
            return None
        of_evaluation = EVALUATION.search(text)
        losses = {}
        for key, value, _unit in pairs(text):
            if EVALUATION_LOSS.match(key) or (of_evaluation and key.lower() == LOSS):
                losses[LOSS] = value
        if not losses:
            return None
        epoch, _ = _progress(text, EPOCH, EPOCH_ZH)
        return EvaluationLine(number, losses, epoch)


def evaluation_metrics(text: str) -> tuple[dict[str, float], bool]:
    """The metrics of a line by name, and whether they are told with a per cent sign."""
    if match := COCO.search(text):
        value = float(match["value"])
        if value == -1:
            return {}, False  # COCO's word for "there are no such objects"
        kind = {"Precision": "AP"}.get(match["what"], "AR")
        return {f"{kind}@{match['iou']}/{match['area']}/{match['most']}": value}, False
    if match := VOC.search(text):
        return {match[1]: float(match[2])}, True
    if found := BARE_ACCURACY.findall(text):
        return {name: float(value) for name, value in found}, "%" in text
    metrics = {}
    per_cent = False
    for key, number, unit in pairs(text):
        if METRIC.match(key):
            metrics[key] = number
            per_cent = per_cent or unit == "%"
    return metrics, per_cent


TRACEBACK = "Traceback (most recent call last)"
# What a program prints only when it dies.
DEATH = re.compile(
    r"\bSegmentation fault\b|^\s*Aborted(?: \(core dumped\))?\s*$|^\s*Killed\s*$|^\s*FatalError: |"
    r"C\+\+ Traceback \(most recent call last\)|^\s*\[?\(?(?:InvalidArgument|NotFound|OutOfRange|"
    r"Unavailable|Unimplemented|ResourceExhausted|PreconditionNotMet|PermissionDenied)Error?\)?:? "
)
DEATH_WORDS = ("fault", "Abort", "Killed", "Error", "C++")  # one of them is in each; quicker to look for
CPP_TRACEBACK = "C++ Traceback (most recent call last)"
# A worker that its pool has ended: paddle says so as of a crash. Had the step itself been, it would not have
# ended well.
TERMINATED = "FatalError: `Termination signal` is detected"
ERROR = re.compile(
    r"^[\s│|]*(?P<name>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Warning|Exit|Stop\w*))\b(?::\s*.*|\s*[│|]?)$"
)
# The level of a logger; not the source of `warnings.warn(…)`.
WARNING = re.compile(r"\bWARN(?:ING)?\b")
# A package that is not installed, and a script that goes on without it.
MISSING_PACKAGE = ("ImportError", "ModuleNotFoundError")
TRACEBACK_LINES = 500  # after so many lines without an error a traceback is over


class ErrorReader:
    """Errors that a step printed: tracebacks (of Python, in rich's boxes, of C++), deaths by a signal."""

    def __init__(self) -> None:
        self.found: list[ErrorLine] = []
        self.open: ErrorLine | None = None  # a traceback whose error is still to come
        self.of_cpp: list[int] = []  # tracebacks of C++ in ``found`` whose error is still to come
        self.previous = ""

    def feed(self, number: int, text: str) -> None:
        """See one line."""
        if TRACEBACK in text and "C++" not in text:
            self._close()
            self.open = ErrorLine(number, text.strip()[:200], handled=bool(WARNING.search(self.previous)))
        elif self.open is not None:
            self._inside(number, text)
        elif TERMINATED in text:
            self._terminated(ErrorLine(number, text.strip()[:200], handled=True))
        elif any(word in text for word in DEATH_WORDS) and DEATH.search(text):
            if CPP_TRACEBACK in text:
                self.of_cpp.append(len(self.found))
            self._add(ErrorLine(number, text.strip()[:200]))
        if text and not text.isspace():
            self.previous = text

    def _terminated(self, error: ErrorLine) -> None:
        """A process was ended by another: its traceback is no error, either."""
        if self.of_cpp and self.of_cpp[-1] < len(self.found):
            place = self.of_cpp.pop()
            self.found[place] = replace(self.found[place], handled=True)
        self._add(error)

    def _inside(self, number: int, text: str) -> None:
        assert self.open is not None
        match = ERROR.match(text)
        if match:
            handled = self.open.handled or match["name"].rpartition(".")[2] in MISSING_PACKAGE
            self.open = ErrorLine(number, text.strip(" \t│|")[:200], handled)
            self._close()
        elif number > self.open.line + TRACEBACK_LINES:
            self._close()

    def _close(self) -> None:
        if self.open is not None:
            self._add(self.open)
        self.open = None

    def _add(self, line: ErrorLine) -> None:
        if len(self.found) < 100:
            self.found.append(line)

    def errors(self) -> tuple[ErrorLine, ...]:
        """All of them, in order. What was the last word of a step was not handled."""
        self._close()
        if self.found and self.found[-1].text in self.previous:
            last = self.found[-1]
            self.found[-1] = ErrorLine(last.line, last.text)
        return tuple(self.found)


LEVEL = re.compile(r"(?:^|[\s\[(|:-])(?:ERROR|CRITICAL|FATAL)(?:[\]):|]|\s+[-:]|\s)")


class ComplaintReader:
    """Lines that a logger printed at the level ERROR: a likely cause where something failed."""

    def __init__(self) -> None:
        self.found: deque[ErrorLine] = deque(maxlen=20)

    def feed(self, number: int, text: str) -> None:
        """See one line."""
        shouted = "ERROR" in text or "CRITICAL" in text or "FATAL" in text
        if shouted and LEVEL.search(PARENTHESIS.sub("", text[:120])):
            self.found.append(ErrorLine(number, text.strip()[:300]))
