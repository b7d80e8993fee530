"""What training and inference logs say. Logs are untrusted text: any bytes, any length, half lines."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

# A log of a lite run has some kilobytes. Of a giant one the beginning and the end are read.
READ_LIMIT = 16 * 2**20
LINE_LIMIT = 4000

NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf(?:inity)?)"
UNIT = r"[A-Za-z]+/(?:sec(?:ond)?s?|s)\b|sec(?:ond)?s?\b|ms\b|s\b"
PAIR = re.compile(
    # A name begins where no other goes on: else a line of 4,000 letters would be tried from each of them.
    rf"(?<![\w./@-])(?P<key>[A-Za-z_][\w./@-]*)\s*[:=]\s*\[?\s*(?P<value>{NUMBER})\b(?:\s*/\s*(?P<total>\d+))?\]?"
    rf"\s*(?P<unit>{UNIT})?",
    re.IGNORECASE,
)
EPOCH = re.compile(r"\bepoch\b\s*[:=]?\s*\[?\s*(\d+)(?:\s*/\s*(\d+))?", re.IGNORECASE)
ITERATION = re.compile(r"\biter(?:ation)?s?\b\s*[:=]?\s*\[?\s*(\d+)(?:\s*/\s*(\d+))?", re.IGNORECASE)
EVALUATION = re.compile(r"\b(?:eval(?:uat\w*)?|test|val(?:id\w*)?)\b", re.IGNORECASE)
ANSI = re.compile(r"\x1b\[[0-9;]*m")

# The spec's names, and what other families have printed for years in their place.
FIELDS = ("loss", "avg_reader_cost", "avg_batch_cost", "avg_ips")
ALIASES = {
    "reader_cost": "avg_reader_cost",
    "data_cost": "avg_reader_cost",
    "batch_cost": "avg_batch_cost",
    "ips": "avg_ips",
    "samples": "avg_samples",
    "learning_rate": "lr",
}
PROGRESS = ("epoch", "iter", "iters", "iteration", "eta", "step")
METRIC = re.compile(
    r"^(?:(?:eval|val|test|best)[_./-]?)?(?:m?iou|dice|kappa|acc\w*|top-?[15]\w*|m?ap|hmean|precision|recall|"
    r"f1\w*|psnr|ssim|err\w*|auc)$",
    re.IGNORECASE,
)


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a log with their numbers, colours removed, long ones cut; nothing if it is not there."""
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            data = stream.read(READ_LIMIT // 2 if size > READ_LIMIT else READ_LIMIT)
            number = yield from _numbered(data, 1)
            if size > READ_LIMIT:
                # The number of a line in the second half is not known: it is counted as if nothing lay
                # between.
                stream.seek(size - READ_LIMIT // 2)
                yield from _numbered(stream.read(READ_LIMIT // 2), number)
    except OSError:
        return


def _numbered(data: bytes, first: int) -> Generator[tuple[int, str], None, int]:
    for raw in data.decode("utf-8", "replace").splitlines():
        yield first, ANSI.sub("", raw[:LINE_LIMIT])
        first += 1
    return first


def pairs(text: str) -> Iterator[tuple[str, float, str]]:
    """Every ``name: number unit`` of a line."""
    for match in PAIR.finditer(text):
        if "[" in match[0] and "]" not in match[0]:
            continue  # the first of a list, such as the IoU of each class: no figure of that name
        yield match["key"], float(match["value"]), match["unit"] or ""


def training_series(path: Path) -> list[dict[str, Any]]:
    """The training lines of a log, in order.

    Each has ``line``; where they were printed ``epoch``, ``epochs``, ``iter``, ``iters``, ``loss``, ``lr``,
    ``avg_reader_cost``, ``avg_batch_cost``, ``avg_samples``, ``avg_ips``; the rest of the line's figures in
    ``metrics``; ``units`` and ``names`` tell how a field was printed. Values may be NaN or infinite.
    """
    found = []
    for number, text in lines(Path(path)):
        if "loss" not in text.lower() and "avg_" not in text and "ips" not in text:
            continue
        if EVALUATION.search(text) and "avg_ips" not in text and "batch_cost" not in text:
            continue
        row = _row(number, text)
        timed = any(name in row for name in FIELDS[1:])
        if timed or ("loss" in row and ("epoch" in row or "iter" in row)):
            found.append(row)
    return found


def _row(number: int, text: str) -> dict[str, Any]:
    row: dict[str, Any] = {"line": number, "units": {}, "names": {}, "metrics": {}}
    for pattern, name, total in ((EPOCH, "epoch", "epochs"), (ITERATION, "iter", "iters")):
        if match := pattern.search(text):
            row[name] = int(match[1][:9])
            if match[2]:
                row[total] = int(match[2][:9])
    for key, value, unit in pairs(text):
        low = key.lower()
        name = ALIASES.get(low, low)
        if name in PROGRESS:
            continue
        if name in (*FIELDS, "avg_samples", "lr"):
            row.setdefault(name, value)
            row["names"].setdefault(name, key)
            if unit:
                row["units"].setdefault(name, unit)
        else:
            row["metrics"].setdefault(key, value)
    return row


def evaluation_series(path: Path) -> list[dict[str, Any]]:
    """The lines that tell an evaluation's result: ``line``, ``metrics`` (name → value), ``epoch`` if it is
    told."""
    found = []
    for number, text in lines(Path(path)):
        if "batch_cost" in text or "avg_ips" in text:
            continue
        metrics = {key: value for key, value, _ in pairs(text) if METRIC.match(key)}
        if metrics:
            row: dict[str, Any] = {"line": number, "metrics": metrics}
            if match := EPOCH.search(text):
                row["epoch"] = int(match[1][:9])
            found.append(row)
    return found


SECTION = re.compile(r"-{5}\s*(Env|Paddle|Conf|Model|Data|Perf)\s+info\s*-{5}", re.IGNORECASE)
PREFIX = re.compile(
    r"^\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?\]?)?(?:\s+[\w.]+(?=\s+[A-Z]+:))?"
    r"\s*(?:\[(?:INFO|DEBUG|WARNING)\]:?|(?:INFO|DEBUG|WARNING):)?\s*(?:\[[^\]]*\])?\s*"
)
TIMED = re.compile(r"^(?P<stage>\w+?)_time(?:_(?P<percentile>p\d\d))?\(ms\)$")


def autolog_block(path: Path) -> dict[str, Any] | None:
    """The last benchmark block of an inference log, or None; see ``autolog_blocks``."""
    return next(reversed(autolog_blocks(path)), None)


def autolog_blocks(path: Path) -> list[dict[str, Any]]:
    """All benchmark blocks of an inference log, in order: a script may measure several engines.

    Each has ``line`` and one dictionary a section: ``env``, ``paddle``, ``conf``, ``model``, ``data``,
    ``perf``. Values are text, except in ``perf``: numbers. A section that was not printed is missing.
    """
    blocks: list[dict[str, Any]] = []
    section = ""
    for number, text in lines(Path(path)):
        if match := SECTION.search(text):
            section = match[1].lower()
            if section == "env" or not blocks:
                blocks.append({"line": number})
            blocks[-1][section] = {}
        elif blocks and section:
            body = PREFIX.sub("", text, count=1)
            for entry in body.split(", ") if section == "perf" else [body]:
                key, colon, value = entry.partition(":")
                if colon and len(key) < 60:
                    blocks[-1][section].setdefault(key.strip(), _figure(value.strip(), section))
    return blocks


def _figure(value: str, section: str) -> float | str:
    if section != "perf":
        return value
    try:
        return float(value.rstrip("%"))
    except ValueError:
        return value


def latency_stages(block: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Milliseconds by stage of a benchmark block: ``{"inference": {"mean": 50.7, "p50": 49.9, "p95":
    61.0}}``."""
    stages: dict[str, dict[str, float]] = {}
    for key, value in block.get("perf", {}).items():
        match = TIMED.match(key)
        if match and isinstance(value, float):
            stages.setdefault(match["stage"], {})[match["percentile"] or "mean"] = value
    return stages
