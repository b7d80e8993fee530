"""What scripts print or write about single images, read without knowing the script.

Five forms are understood: ``image_name: a.jpg, class_id: 8, prob: 0.91`` (the spec's inference example),
``a.jpg<TAB>JSON`` (PaddleOCR and the stored results of ``test_tipc/results``), a JSON object with the image's
path or a list of such, ``a.jpg: class id(s): [8], score(s): [0.91]`` (PaddleClas), and ``a.jpg: classes
{0: 79.1%, 1: 20.9%}`` (the shares of a segmentation).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tipc.certify.evidence.log_lines import lines
from tipc.certify.evidence.log_values import pairs
from tipc.certify.evidence.option_values import argument
from tipc.certify.scene import PlanScene
from tipc.kinds import INFER
from tipc.message import Message, wording
from tipc.plan.model import Step

IMAGE = r"(?P<image>[^\s,\"'\t]+\.(?:jpe?g|png|bmp|webp|gif|tiff?))"
NAMED = re.compile(
    rf"\b(?:image(?:_?name)?|img(?:_?name)?|file(?:_?name)?|path)\b\"?\s*[:=]\s*\"?{IMAGE}", re.IGNORECASE
)
LEADING = re.compile(rf"^\s*(?:\[[^\]]*\]\s*)?{IMAGE}\s*[\t:]\s*(?P<rest>.+)$", re.IGNORECASE)
INDICES = ("class_id", "class_ids")
# The number under one of these may be the name of a class as well, such as a speed limit.
LABELS = ("class", "label", "label_id", "category")
CLASSES = (*INDICES, *LABELS)
COUNTED_FROM_NOUGHT = (*INDICES, "class")
SCORES = ("prob", "probability", "score", "scores", "confidence")
NESTED = ("top", "result")
PATHS = ("image", "image_name", "image_path", "img", "img_path", "file", "file_name", "filename", "path")
# ``class id(s): [8, 7], score(s): [0.91, 0.05]``; and ``class 8``, without a sign between them.
LISTED = re.compile(
    r"\b(class[ _]id|class|label|category|score|prob)(?:\(s\)|s)?\s*[:=]\s*\[([^\]\[]*)\]", re.IGNORECASE
)
BARE_CLASS = re.compile(r"\bclass\s+(\d+)\b")
SHARE = re.compile(r"\b(\w+)\"?\s*:\s*(\d+(?:\.\d+)?)\s*%")
SHARE_TOLERANCE = 0.005  # of the pixels
ATOL, RTOL = 1e-3, 1e-3  # what the family's compare_results.py has always allowed
FILES_LIMIT = 200
LONGEST = 2**20  # characters of a line that is one record, or one list of them

Predictions = dict[str, Any]  # the image's name → numbers, strings and lists of them


@dataclass(frozen=True)
class ComparedPredictions:
    """How two sets of predictions compare."""

    common: int
    differences: tuple[Message, ...] = field(default=())

    def evidence(self) -> dict[str, Any]:
        return {"common": self.common, "differences": list(self.differences[:20])}


def predictions(scene: PlanScene, step: Step) -> Predictions:
    """What a step printed about images, and what it wrote about them as text into its ``--save_dir``."""
    found = read_predictions(scene.log(step))
    folder = argument(step.argv, ("save_dir", "output", "output_dir"))
    if folder and step.kind == INFER and not found:
        started = scene.result(step).since
        for path in sorted(scene.path(folder, step).glob("*"))[:FILES_LIMIT]:
            if path.suffix in (".txt", ".json", ".jsonl") and path.stat().st_mtime >= started - 2:
                found.update(read_predictions(path))
    return found


def class_of(value: Any) -> int | None:
    """The number of the class in a prediction, of several the one with the highest score; None where it has
    none: a label may be a word."""
    if not isinstance(value, dict):
        return None
    for name in CLASSES:
        number = likeliest(value.get(name), value)
        if number is not None:
            return number
    for name in NESTED:
        inner = value.get(name)
        if isinstance(inner, list):
            inner = next(iter(inner), None)
        number = class_of(inner)
        if number is not None:
            return number
    return None


def likeliest(told: Any, value: Mapping[str, Any]) -> int | None:
    """A class, or the one of a list that has the highest of as many scores; without them, the first."""
    if isinstance(told, list) and told:
        scores: list[Any] = next((value[name] for name in SCORES if isinstance(value.get(name), list)), [])
        best = 0
        if len(scores) == len(told) and all(is_number(score) for score in scores):
            best = scores.index(max(scores))
        told = told[best]
    if is_number(told) and math.isfinite(told) and told == int(told):
        return int(told)
    return None


def has_index(value: Mapping[str, Any], names: Sequence[str] = INDICES) -> bool:
    """Whether a prediction calls its class an index, and not by a name that may be a number."""
    return any(name in value for name in names)


def score_of(value: Mapping[str, Any]) -> float | None:
    """The score of a prediction, the highest of several; None: there is none."""
    for name in SCORES:
        told: Any = value.get(name)
        if isinstance(told, list) and told and all(is_number(score) for score in told):
            told = max(told)
        if is_number(told) and math.isfinite(told):
            return float(told)
    return None


def read_predictions(path: Path) -> Predictions:
    """The predictions in a log or a results file, by the image's file name."""
    found: Predictions = {}
    for text in records(path):
        for image, value in parse_line(text):
            found[Path(image).name] = value
    return found


def records(path: Path) -> Iterator[str]:
    """The lines of a log; a long list of records, which comes in pieces, is put together."""
    begun, number = "", 0  # a list that has not ended, and its line
    for line, text in lines(path):
        if begun and line == number and len(begun) < LONGEST:
            begun += text
        else:
            if begun:
                yield begun
            begun, number = text, line
        # A piece of a long line ends anywhere; what is no list is complete by itself.
        if not begun.lstrip().startswith("[{") or begun.rstrip().endswith("]"):
            yield begun
            begun = ""
    if begun:
        yield begun


def parse_line(text: str) -> Iterator[tuple[str, Any]]:
    """The image and its prediction, if the line has one."""
    if text.lstrip().startswith(("{", "[{")):
        for image, kept in _json_records(text.strip()):
            if kept:
                yield image, kept
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


def _json_records(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The image of each object and what it says of a prediction; what names no image is left out."""
    value = parse_json(text)
    if value is None:
        value = _parse_python(text)
    if not isinstance(value, list):
        value = [value]
    for record in value:
        if not isinstance(record, dict):
            continue
        kept = {}
        for name in record:
            if name in (*CLASSES, *SCORES, *NESTED):
                kept[name] = record[name]
        for key in PATHS:
            if isinstance(record.get(key), str):
                yield record[key], kept
                break


def _parse_python(text: str) -> Any:
    """What print() makes of a dictionary or of a list of them, where no text has a quote in it."""
    for python, other in (("'", '"'), ("None", "null"), ("True", "true"), ("False", "false")):
        text = text.replace(python, other)
    return parse_json(text)


def parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def figures(text: str) -> dict[str, Any]:
    """The class and the score of a line, or the classes' shares; figures of another kind (times, sizes) are
    no prediction."""
    found: dict[str, Any] = {}
    for key, value, _ in pairs(text):
        if key.lower() in (*CLASSES, *SCORES):
            found[key.lower()] = value
    for key, members in LISTED.findall(text):
        numbers = _numbers(members)
        if numbers:
            found[key.lower().replace(" ", "_")] = numbers
    if (match := BARE_CLASS.search(text)) and not found.keys() & set(CLASSES):
        found["class"] = float(match[1])
    if not found and (shares := SHARE.findall(text)):
        found["shares"] = {name: float(value) / 100 for name, value in shares}
    return found


def _numbers(members: str) -> list[float]:
    """The members of a list in a line; none where one is no number."""
    try:
        return [float(member) for member in members.split(",")]
    except ValueError:
        return []


def compare_predictions(
    one: Predictions, other: Predictions, *, all_images: bool = False, atol: float = ATOL, rtol: float = RTOL
) -> ComparedPredictions:
    """Image by image; with ``all_images``, one that only one of them has is a difference, too."""
    common = 0
    differences, missing = [], []
    for name, value in one.items():
        if name not in other:
            missing.append(wording("{image} has no prediction", image=name))
            continue
        common += 1
        difference = differs(value, other[name], atol, rtol)
        if difference is not None:
            differences.append(wording("{image}: {difference}", image=name, difference=difference))
    for name in other:
        if name not in one:
            missing.append(wording("{image} has a prediction in only one of them", image=name))
    if all_images:
        differences += missing
    return ComparedPredictions(common, tuple(differences))


def differs(one: Any, other: Any, atol: float, rtol: float) -> Message | None:
    """Where two values differ, in words; None where they agree within the tolerances."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return differing_entry(one, other, atol, rtol)
    if isinstance(one, list) and isinstance(other, list):
        return differing_member(one, other, atol, rtol)
    if is_number(one) and is_number(other):
        if math.isclose(one, other, rel_tol=rtol, abs_tol=atol):
            return None
        return wording("{one:g} against {other:g}", one=one, other=other)
    if one == other:
        return None
    return wording("{one} against {other}", one=repr(str(one)[:60]), other=repr(str(other)[:60]))


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def differing_entry(
    one: Mapping[str, Any], other: Mapping[str, Any], atol: float, rtol: float
) -> Message | None:
    """The first entry that both have and that differs."""
    if "shares" in one and "shares" in other:
        return differing_shares(one["shares"], other["shares"])
    for key in one:
        if key not in other:
            continue
        difference = differs(one[key], other[key], *bounds(key, atol, rtol))
        if difference is not None:
            return wording("{name} {difference}", name=key, difference=difference)
    if set(one) & set(other) or not one:
        return None
    return wording("{one} against {other}", one=sorted(one), other=sorted(other))


def differing_member(one: list[Any], other: list[Any], atol: float, rtol: float) -> Message | None:
    """The first members of two lists that differ."""
    if len(one) != len(other):
        return wording("{one} values against {other}", one=len(one), other=len(other))
    for first, second in zip(one, other, strict=True):
        difference = differs(first, second, atol, rtol)
        if difference is not None:
            return difference
    return None


def differing_shares(one: Mapping[str, float], other: Mapping[str, float]) -> Message | None:
    """A class that covers another share of the picture; one that is not named covers nothing."""
    for name in dict.fromkeys([*one, *other]):
        first, second = one.get(name, 0.0), other.get(name, 0.0)
        if abs(first - second) > SHARE_TOLERANCE:
            return wording(
                "class {name} covers {one:.1%} against {other:.1%}", name=name, one=first, other=second
            )
    return None


def bounds(key: str, atol: float, rtol: float) -> tuple[float, float]:
    """A class is the same or it is not; only scores have a tolerance."""
    if key in CLASSES:
        return 0.0, 0.0
    return atol, rtol
