"""The images that an inference command is told to predict, and those that its log speaks of."""

from __future__ import annotations

from pathlib import Path

from tipc.certify.evidence.lite_data import IMAGES
from tipc.certify.evidence.log_lines import lines
from tipc.certify.evidence.option_values import argument
from tipc.certify.scene import StepScene

OPTIONS = (
    "img_path",
    "image_path",
    "image_dir",
    "image_file",
    "infer_imgs",
    "infer_img",
    "images",
    "input",
    "input_dir",
)
LISTS = (".txt", ".lst")
MOST = 1000


def input_images(scene: StepScene) -> list[Path]:
    """The images of the file, folder or list that the command names; empty: it names none."""
    given = argument(scene.step.argv, OPTIONS)
    if not given:
        return []
    path = scene.path(given, scene.step)
    if path.is_file() and path.suffix.lower() in IMAGES:
        return [path]
    if path.is_dir():
        return sorted(entry for entry in path.iterdir() if entry.suffix.lower() in IMAGES)[:MOST]
    if path.is_file() and path.suffix.lower() in LISTS:
        return listed_images(path, scene.repo)
    return []


def listed_images(path: Path, repo: Path) -> list[Path]:
    """The images that a list names first in its lines, from its own folder or the repository; none of them
    where one is not there: then it is another kind of list."""
    found: list[Path] = []
    for _, text in lines(path):
        words = text.split()
        if not words:
            continue
        known = []
        for place in (path.parent, repo):
            if (place / words[0]).is_file():
                known.append(place / words[0])
        if not known or known[0].suffix.lower() not in IMAGES:
            return []
        found.append(known[0])
        if len(found) >= MOST:
            break
    return found


def named_images(scene: StepScene, images: list[Path]) -> set[Path]:
    """The images whose names are in the step's log."""
    names = {image.name: image for image in images}
    if len(names) < len(images):
        return set()
    found: set[Path] = set()
    for _, text in lines(scene.step_log):
        if "." not in text:
            continue
        for name, image in names.items():
            if image not in found and name in text:
                found.add(image)
        if len(found) == len(images):
            break
    return found
