"""Figures in a line of a log: ``name: number unit``, in the forms that the families print."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Letters of either case only where a word has them: a whole pattern without case takes half as long again.
# In no pattern here two repeats of the same letters stand side by side, nor around something that may be left
# out (`\s*:?\s*`): on a line of 4,000 blanks or digits each way to share them would be tried.
NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|(?i:nan|inf(?:inity)?))"
UNIT = r"(?i:[A-Za-z]+/(?:sec(?:ond)?s?|s)\b|sec(?:ond)?s?\b|ms\b|s\b|%)"
LOSS_ZH, RATE_ZH = "损失", "学习率"
METRICS_ZH = ("准确率", "正确率", "精确率", "召回率", "精度", "交并比")
# A name begins where no other goes on: else a line of 4,000 letters would be tried from each of them. Words
# of Chinese have no blank before them, and are looked for only where one of their first letters stands; what
# is found on the training images is no metric.
KEY = (
    r"(?:(?<![A-Za-z0-9_./@-])[A-Za-z_][A-Za-z0-9_./@-]*"
    rf"|(?=[损学准正精召交])(?:{LOSS_ZH}|{RATE_ZH}|(?<!训练)(?<!训练集)(?:{'|'.join(METRICS_ZH)})))"
)
COLON = ":："  # the wide one of Chinese, too
KIND = r"(?:(?:np\.|numpy\.)?(?:float\d*|array)\(\s*)?"  # ``np.float64(0.5)``, ``array([0.5])``
PAIR = re.compile(
    # A quote may end the name, as in JSON, and numpy say what kind of a number follows. A unit may be
    # glued to its number (``5.46512s``); any other letter there makes it no number.
    rf"(?P<key>{KEY})(?:\(\w+\))?[\"']?\s*[{COLON}=]\s*{KIND}(?:\[\s*)?(?P<value>{NUMBER})"
    rf"(?=(?:{UNIT})|(?![A-Za-z0-9_]|\.\d))(?:\s*/\s*(?P<total>\d+))?\]?\s*(?P<unit>{UNIT})?"
)
COUNT = rf"[\"']?\s*(?:[{COLON}=]\s*)?(?:\[\s*)?(\d+)(?:\s*/\s*(\d+))?"
EPOCH = re.compile(rf"(?<![A-Za-z0-9_])epoch\b{COUNT}", re.IGNORECASE)
EPOCH_ZH = re.compile(r"第\s*(\d+)(?:\s*/\s*(\d+))?\s*轮")
ITERATION = re.compile(rf"(?<![A-Za-z0-9_])(?:iter(?:ation)?s?|global_step)\b{COUNT}", re.IGNORECASE)
# ``Epoch: [0] [3/4]``: the iteration stands behind the epoch, without a name.
BRACKETED_ITERATION = re.compile(r"\bepoch\b\s*(?::\s*)?\[\d+\]\s*\[\s*(\d+)\s*/\s*(\d+)\s*\]", re.IGNORECASE)
PARENTHESIS = re.compile(r"\([^()]*\)")
METRIC_NAME = (
    r"m?iou|dice|kappa|acc\w*|acc@\d|top-?[15]\w*|m?ap\w{0,2}|m?ap@[\d.]+|hmean|(?:precision|recall)(?:@?\d+)?|"
    r"f1\w*|f[_-]?score|psnr|hits?@?\d+|eer|"
    r"ssim|err\w*|auc|norm_edit_dis|(?:avg_|mean_)?(?:mae|r?mse|s?mape|epe|nme)|r2(?:_score)?|fid|wer|cer|"
    r"bleu\w*|rouge\w*|ppl|perplexity|mrr|ndcg\w*|mota|idf1|rank-?1|pck\w*"
)
METRIC = re.compile(
    rf"^(?:(?:(?:eval|val|test|best|cur)[_./-]?)?(?:{METRIC_NAME})|{'|'.join(METRICS_ZH)})$",
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
    *(
        "auc",
        "norm_edit_dis",
        "score",
        "mae",
        "mse",
        "epe",
        "nme",
        "r2",
        "fid",
        "wer",
        "cer",
        "bleu",
        "rouge",
    ),
    *(
        "hit",
        "eer",
        "ppl",
        "perplexity",
        "mrr",
        "ndcg",
        "mota",
        "idf1",
        "rank1",
        "rank-1",
        "pck",
        *METRICS_ZH,
    ),
)
# Metrics that lie between 0 and 1, or are told in per cent.
SHARES = re.compile(
    rf"iou|dice|acc|top-?\d|^m?ap(?!e)|hmean|precision|recall|f1|ssim|auc|norm_edit_dis|{'|'.join(METRICS_ZH)}",
    re.IGNORECASE,
)


def has_one_of(words: tuple[str, ...], text: str) -> bool:
    """Whether a line has one of some words in small or capital letters: ten times as quick as a pattern."""
    lower = text.lower()
    for word in words:  # a generator would double the time
        if word in lower:
            return True
    return False


def pairs(text: str) -> Iterator[tuple[str, float, str]]:
    """Every ``name: number unit`` of a line. A metric that is a count of all (``Accuracy: 950/1000``) is
    the share."""
    for match in PAIR.finditer(text):
        if "[" in match[0] and "]" not in match[0]:
            continue  # the first of a list, such as the IoU of each class: no figure of that name
        key, value, total, unit = match.groups()
        number = float(value)
        if total and int(total[:9]) and METRIC.match(key):
            number /= int(total[:9])
        yield key, number, unit or ""


def is_share(name: str) -> bool:
    """Whether a metric of this name lies between 0 and 1."""
    return SHARES.search(name) is not None
