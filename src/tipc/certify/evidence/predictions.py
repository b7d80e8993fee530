"""What scripts print or write about single images, read without knowing the script.

Four forms are understood: ``image_name: a.jpg, class_id: 8, prob: 0.91`` (the spec's inference example),
``a.jpg<TAB>JSON`` (PaddleOCR and the stored results of ``test_tipc/results``), a JSON line with the image's
path, and ``a.jpg: classes {0: 79.1%, 1: 20.9%}`` (the shares of a segmentation).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tipc.certify.evidence.log_lines import lines
from tipc.certify.evidence.log_values import pairs
from tipc.certify.evidence.option_values import argument
from tipc.certify.scene import PlanScene
from tipc.plan.model import Step

IMAGE = r"(?P<image>[^\s,\"'\t]+\.(?:jpe?g|png|bmp|webp|gif|tiff?))"
NAMED = re.compile(
    rf"\b(?:image(?:_?name)?|img(?:_?name)?|file(?:_?name)?|path)\b\"?\s*[:=]\s*\"?{IMAGE}", re.IGNORECASE
)
LEADING = re.compile(rf"^\s*(?:\[[^\]]*\]\s*)?{IMAGE}\s*[\t:]\s*(?P<rest>.+)$", re.IGNORECASE)
CLASSES = ("class_id", "class_ids", "class", "label", "label_id", "category")
SCORES = ("prob", "probability", "score", "scores", "confidence")
SHARE = re.compile(r"\b(\w+)\"?\s*:\s*(\d+(?:\.\d+)?)\s*%")
SHARE_TOLERANCE = 0.005  # of the pixels
ATOL, RTOL = 1e-3, 1e-3  # what the family's compare_results.py has always allowed
FILES_LIMIT = 200
PRINTED_LIMIT = 4

Predictions = dict[str, Any]  # the image's name → numbers, strings and lists of them


@dataclass(frozen=True)
class ComparedPredictions:
    """How two sets of predictions compare."""

    common: int
    differences: tuple[str, ...] = field(default=())

    def evidence(self) -> dict[str, Any]:
        return {"common": self.common, "differences": list(self.differences[:20])}


def predictions(scene: PlanScene, step: Step) -> Predictions:
    """What a step printed about images, and what it wrote about them as text into its ``--save_dir``."""
    found = read_predictions(scene.log(step))
    folder = argument(step.argv, ("save_dir", "save-dir", "output", "output_dir"))
    if folder and step.kind == "infer" and not found:
        started = scene.result(step).since
        for path in sorted(scene.path(folder, step).glob("*"))[:FILES_LIMIT]:
            if path.suffix in (".txt", ".json", ".jsonl") and path.stat().st_mtime >= started - 2:
                found.update(read_predictions(path))
    return found


def printed_classes(scene: PlanScene, cell: str) -> dict[str, int]:
    """The class that a cell's inference steps printed for an image that is there: path → class; int8 left
    out."""
    found: dict[str, int] = {}
    for step in scene.steps("infer", cell):
        if "int8" in step.settings.get("precision", ""):
            continue
        for _, text in lines(scene.log(step)):
            for image, value in parse_line(text):
                number = value.get("class_id") if isinstance(value, dict) else None
                path = scene.path(image, step)
                if isinstance(number, (int, float)) and math.isfinite(number) and path.is_file():
                    found[str(path)] = int(number)
                    if len(found) >= PRINTED_LIMIT:
                        return found
    return found


def read_predictions(path: Path) -> Predictions:
    """The predictions in a log or a results file, by the image's file name."""
    found: Predictions = {}
    for _, text in lines(path):
        for image, value in parse_line(text):
            found[Path(image).name] = value
    return found


def parse_line(text: str) -> Iterator[tuple[str, Any]]:
    """The image and its prediction, if the line has one."""
    stripped = text.strip()
    if stripped.startswith("{") and (value := parse_json(stripped)) and isinstance(value, dict):
        for key in ("image", "image_name", "img", "file", "path"):
            if isinstance(value.get(key), str):
                kept = {
                    name: item for name, item in value.items() if name in (*CLASSES, *SCORES, "top", "result")
                }
                if kept:
                    yield value[key], kept
                return
    if match := LEADING.match(text):
        value = parse_json(match["rest"])
        if value is None:
            value = figures(match["rest"])
        if value not in (None, {}):
            yield match["image"], value
            return
    if match := NAMED.search(text):
        value = figures(text)
        if value:
            yield match["image"], value


def parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def figures(text: str) -> dict[str, Any]:
    """The class and the score of a line, or the classes' shares; figures of another kind (times, sizes) are
    no prediction."""
    found: dict[str, Any] = {
        key.lower(): value for key, value, _ in pairs(text) if key.lower() in (*CLASSES, *SCORES)
    }
    if not found and (shares := SHARE.findall(text)):
        found["shares"] = {name: float(value) / 100 for name, value in shares}
    return found


def compare_predictions(
    one: Predictions, other: Predictions, *, all_images: bool = False, atol: float = ATOL, rtol: float = RTOL
) -> ComparedPredictions:
    """Image by image; with ``all_images``, one that only one of them has is a difference, too."""
    common = [name for name in one if name in other]
    differences = [
        f"{name}: {difference}"
        for name in common
        if (difference := differs(one[name], other[name], atol, rtol))
    ]
    if all_images:
        differences += [f"{name} has no prediction" for name in one if name not in other]
        differences += [f"{name} has a prediction in only one of them" for name in other if name not in one]
    return ComparedPredictions(len(common), tuple(differences))


def differs(one: Any, other: Any, atol: float, rtol: float) -> str:
    """Where two values differ, in words; "" where they agree within the tolerances."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if "shares" in one and "shares" in other:
            return differing_shares(one["shares"], other["shares"])
        for key in one:
            if key in other and (text := differs(one[key], other[key], *bounds(key, atol, rtol))):
                return f"{key} {text}"
        return "" if set(one) & set(other) or not one else f"{sorted(one)} against {sorted(other)}"
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{len(one)} values against {len(other)}"
        return next(
            (text for a, b in zip(one, other, strict=True) if (text := differs(a, b, atol, rtol))), ""
        )
    numbers = [isinstance(value, (int, float)) and not isinstance(value, bool) for value in (one, other)]
    if all(numbers):
        return "" if math.isclose(one, other, rel_tol=rtol, abs_tol=atol) else f"{one:g} against {other:g}"
    return "" if one == other else f"{str(one)[:60]!r} against {str(other)[:60]!r}"


def differing_shares(one: Mapping[str, float], other: Mapping[str, float]) -> str:
    """A class that covers another share of the picture; one that is not named covers nothing."""
    for name in dict.fromkeys([*one, *other]):
        pair = one.get(name, 0.0), other.get(name, 0.0)
        if abs(pair[0] - pair[1]) > SHARE_TOLERANCE:
            return f"class {name} covers {pair[0]:.1%} against {pair[1]:.1%}"
    return ""


def bounds(key: str, atol: float, rtol: float) -> tuple[float, float]:
    """A class is the same or it is not; only scores have a tolerance."""
    return (0.0, 0.0) if key in CLASSES else (atol, rtol)
