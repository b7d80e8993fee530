"""The benchmark block that AutoLog prints into an inference log."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tipc.certify.evidence.log_lines import lines

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
        match = None
        if "-----" in text:
            match = SECTION.search(text)
        if match:
            section = match[1].lower()
            if section == "env" or not blocks:
                blocks.append({"line": number})
            blocks[-1][section] = {}
        elif blocks and section:
            body = text
            if prefix := PREFIX.match(text):
                body = text[prefix.end() :]
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
