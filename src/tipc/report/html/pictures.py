"""Predicted pictures beside their inputs and the ground truth, made small enough to travel in the page."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tipc.certify.evidence.log_values import has_one_of
from tipc.command import Command
from tipc.kinds import INFER
from tipc.language import say
from tipc.plan.model import Step
from tipc.report.html.file_links import file_link
from tipc.report.html.ground_truth import truth_of
from tipc.report.plain_text import log_end
from tipc.report.view import CellView, PlanView
from tipc.run.record.results import StepResult

SUFFIXES = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp", ".bmp": "bmp"}
BEGINNINGS = {"png": b"\x89PNG\r\n", "jpeg": b"\xff\xd8\xff", "webp": b"RIFF", "bmp": b"BM"}
WHOLE_PAGE = 240_000  # bytes of pictures
ONE = 40_000  # a file that is not larger goes in as it is where it cannot be made smaller
EDGE = 224
SAVED = re.compile(
    r"^--?(?:save[_-]?(?:dir|path)|output(?:[_-]?(?:dir|path))?|out[_-]?dir|results?[_-]?dir)$"
)
GIVEN = re.compile(
    r"^--?(?:im(?:a)?g(?:e)?s?[_-]?(?:path|dir|file)?|input(?:[_-]?(?:path|dir|file))?|infer_imgs?)$"
)


DRAWN = re.compile(r"overlay|added|visual|vis_|blend", re.IGNORECASE)
MOST = 64  # files that are looked at
WALKED = 20_000  # names of a folder: an option may say `/`
FIGURES, OUTPUTS = 3, 2  # inputs a cell, pictures made from each
CLASSES, IGNORED = 40, 255  # grey values of a picture that is a mask; the value of pixels without a class
MENTIONED = re.compile(r"[^\s:;,'\"()]+\.(?:png|jpe?g|webp|bmp)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Picture:
    """One picture: what it is, its data address, and the file itself."""

    what: str
    data: str
    link: str


@dataclass(frozen=True)
class Shown:
    """The pictures that belong to one input."""

    name: str
    label: str  # the ground truth where it is a word or a number
    pictures: tuple[Picture, ...]


class Pictures:
    """Finds the pictures of inference steps; stops when the page has enough of them."""

    def __init__(self) -> None:
        self.left = WHOLE_PAGE

    def of(self, plan: PlanView, cell: CellView, plans: int, folder: str) -> list[Shown]:
        """Some predictions of a cell, each beside its input and the ground truth where they can be found."""
        if plans > 10 and self.left == WHOLE_PAGE:
            self.left //= 6  # many configs have much else to show
        share = min(self.left, max(ONE // 2, WHOLE_PAGE // max(plans, 1)))
        found: list[Shown] = []
        for view in cell.steps:
            if view.step.kind != INFER or not view.result.ok:
                continue
            repo = Path(plan.plan.repo)
            for given, outputs in predictions(repo, view.step, view.result):
                if len(found) == FIGURES or share <= 0:
                    return found
                shown = _shown(repo, given, outputs, folder)
                if shown is None:
                    continue
                spent = sum(len(picture.data) for picture in shown.pictures)
                self.left -= spent
                share -= spent
                found.append(shown)
            if found:
                return found
        return found


def _shown(repo: Path, given: Path | None, outputs: list[Path], folder: str) -> Shown | None:
    """The input, the ground truth and the predictions; None if no prediction can be shown."""
    predicted = _pictures(say("prediction"), outputs[:OUTPUTS], folder)
    if not predicted:
        return None
    if given is None:
        return Shown(outputs[0].name, "", tuple(predicted))
    pictures = _pictures(say("input"), [given], folder)
    truth = truth_of(repo, given)
    if truth.picture:
        pictures += _pictures(say("ground truth"), [truth.picture], folder)
    return Shown(given.name, truth.label, (*pictures, *predicted))


def _pictures(what: str, paths: list[Path], folder: str) -> list[Picture]:
    found = []
    for path in paths:
        data = data_uri(path)
        if data:
            found.append(Picture(what, data, file_link(path, folder)))
    return found


def predictions(repo: Path, step: Step, result: StepResult) -> list[tuple[Path | None, list[Path]]]:
    """What a step predicted: each input, where it can be told, with the pictures made from it.

    They are where its options say, or where its log says; only what this step wrote itself counts.
    """
    cwd = repo / step.cwd
    named = _mentioned(result.log, cwd)
    there = _images(_option(step, SAVED), cwd) or named
    written = [path for path in there if _written(path, result)]
    inputs = {}
    for path in (*named, *_images(_option(step, GIVEN), cwd)):
        if path not in written:
            inputs[path.stem] = path
    groups: dict[Path, tuple[Path | None, list[Path]]] = {}
    # A picture with the prediction drawn in says more than a mask.
    for output in sorted(written, key=lambda path: (DRAWN.search(path.name) is None, path.name)):
        given = _input_of(output, inputs)
        groups.setdefault(given or output, (given, []))[1].append(output)
    return list(groups.values())


def _input_of(output: Path, inputs: Mapping[str, Path]) -> Path | None:
    """The input that a prediction is named after: its name is the same, or begins with the input's."""
    if output.stem in inputs:
        return inputs[output.stem]
    for name, path in inputs.items():
        if output.stem.startswith(name):
            return path
    return None


def _written(path: Path, result: StepResult) -> bool:
    """The file was written while the step ran (with a little room for coarse clocks)."""
    try:
        return result.since - 2 <= path.stat().st_mtime <= result.until + 2
    except OSError:
        return False


def _mentioned(log: str, cwd: Path) -> list[Path]:
    """The pictures that the end of a log names."""
    found: dict[Path, None] = {}
    for line in log_end(log, 200, 2000):
        if not has_one_of(tuple(SUFFIXES), line):
            continue
        for name in MENTIONED.findall(line):
            if _is_file(cwd / name):
                found[cwd / name] = None
    return list(found)[:MOST]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long
        return False


def _option(step: Step, pattern: re.Pattern[str]) -> str:
    """The value of the first option with such a name, as ``--name=value`` or as two words."""
    for option in Command(step.argv).options():
        if pattern.match(option.name):
            return option.value
    return ""


def _images(value: str, cwd: Path) -> list[Path]:
    """The pictures that an option names: a file, a list of files, a folder."""
    if not value:
        return []
    path = cwd / value
    try:
        if not path.is_file():
            return sorted(filter(_is_picture, islice(path.rglob("*"), WALKED)))[:MOST]
        if _is_picture(path):
            return [path]
        return _listed(path, cwd)
    except OSError:
        return []


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and path.is_file()


def _listed(path: Path, cwd: Path) -> list[Path]:
    """The pictures that a list file names, a line each, relative to it or to the working directory."""
    if path.suffix != ".txt" or path.stat().st_size > 2**20:
        return []
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        for name in line.split()[:1]:
            found += [path.parent / name, cwd / name]
    return list(filter(_is_picture, found[: 2 * MOST]))


def make_pictures_ready() -> None:
    """Import what reads the usual forms of pictures, where it is there."""
    try:
        from PIL import Image
    except ImportError:
        return
    Image.preinit()


def data_uri(path: Path) -> str:
    """The picture as a data address of some kilobytes; empty if it is none or cannot be made small."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        return _as_it_is(path)
    try:
        with Image.open(path) as picture:
            if picture.width * picture.height > 40_000_000:
                return ""
            small: Any = _coloured(picture)
            small.thumbnail((EDGE, EDGE))
            buffer = io.BytesIO()
            small.save(buffer, "JPEG", quality=78, optimize=True)
    except (OSError, ValueError, UnidentifiedImageError, Image.DecompressionBombError, SyntaxError):
        return ""  # a broken picture is no reason for no report
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()


def _coloured(picture: Any) -> Any:
    """As RGB. A grey mask of a few class numbers would be black: each class gets a colour."""
    if picture.mode == "L" and _is_mask(picture.histogram()):
        palette: list[int] = []
        for number in range(256):
            palette += _colour(number)
        picture = picture.copy()
        picture.putpalette(palette)
    return picture.convert("RGB")


def _is_mask(histogram: Sequence[int]) -> bool:
    """Whether the grey values that occur are all numbers of classes."""
    for value, count in enumerate(histogram):
        if count and value >= CLASSES and value != IGNORED:
            return False
    return True


def _colour(number: int) -> tuple[int, int, int]:
    """The colour of a class, as Pascal VOC has them: bits of the number, spread over the channels."""
    red = green = blue = 0
    for shift in range(7, -1, -1):
        red |= (number & 1) << shift
        green |= (number >> 1 & 1) << shift
        blue |= (number >> 2 & 1) << shift
        number >>= 3
    return red, green, blue


def _as_it_is(path: Path) -> str:
    try:
        if path.stat().st_size > ONE:
            return ""
        kind = SUFFIXES[path.suffix.lower()]
        raw = path.read_bytes()
        if not raw.startswith(BEGINNINGS[kind]):
            return ""  # a link to something else, say
        return f"data:image/{kind};base64," + base64.b64encode(raw).decode()
    except OSError:
        return ""
