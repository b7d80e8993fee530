"""Small data of the right form, made up: where a repository's prepare.sh downloads, this draws.

A picture's colours depend on its class, so that a network has something to learn. The same call gives the
same files.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

TRAIN, VALIDATE = 16, 8
WORDS = ("paddle", "train", "infer", "export", "model", "north", "river", "seven")
# A dataset is drawn below a checkout's root.
Draw = Callable[[Path], None]


def _picture(width: int, height: int, seed: int) -> Image.Image:
    """A noisy background of one colour."""
    rng = np.random.default_rng(seed)
    base = rng.integers(40, 216, size=3)
    noise = rng.integers(-24, 25, size=(height, width, 3))
    return Image.fromarray(np.clip(base + noise, 0, 255).astype("uint8"))


def _save(image: Image.Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def people(root: Path) -> None:
    """Two classes, as mini_supervisely has them: a bright shape before a background."""
    folder = root / "test_tipc/data/mini_supervisely"
    for part, count in (("train", TRAIN), ("val", VALIDATE)):
        lines = []
        for number in range(count):
            image = _picture(256, 192, number)
            label = Image.new("L", image.size, 0)
            box = (40 + 5 * (number % 8), 30, 190, 180)
            ImageDraw.Draw(image).ellipse(box, fill=(240, 220, 60))
            ImageDraw.Draw(label).ellipse(box, fill=1)
            _save(image, folder / f"images/{part}_{number}.png")
            _save(label, folder / f"labels/{part}_{number}.png")
            lines.append(f"images/{part}_{number}.png labels/{part}_{number}.png")
        _write(folder / f"{part}.txt", lines)
        _write(folder / "test.txt", lines[:4])


def streets(root: Path) -> None:
    """Nineteen classes in the folders of Cityscapes: bands of one colour a class."""
    folder = root / "test_tipc/data/cityscapes"
    listed = []
    for part, count in (("train", TRAIN // 2), ("val", VALIDATE // 2)):
        for number in range(count):
            label = np.zeros((256, 512), "uint8")
            for band in range(8):
                label[band * 32 : (band + 1) * 32] = (band + number) % 19
            colours = np.random.default_rng(7).integers(0, 256, size=(19, 3)).astype("uint8")
            name = f"town/town_{number:06d}_000019"
            _save(Image.fromarray(colours[label]), folder / f"leftImg8bit/{part}/{name}_leftImg8bit.png")
            _save(Image.fromarray(label), folder / f"gtFine/{part}/{name}_gtFine_labelTrainIds.png")
            if part == "val":
                listed.append(
                    f"leftImg8bit/val/{name}_leftImg8bit.png gtFine/val/{name}_gtFine_labelTrainIds.png"
                )
    _write(folder / "cityscapes_val_5.list", listed)


def imagenet(root: Path) -> None:
    """Lists and pictures as ILSVRC2012 has them, eight classes of the thousand."""
    folder = root / "dataset/ILSVRC2012"
    for part, count in (("train", TRAIN), ("val", VALIDATE)):
        lines = []
        for number in range(count):
            kind = number % 8
            image = _picture(256, 256, kind)
            ImageDraw.Draw(image).rectangle((20 + 20 * kind, 60, 60 + 20 * kind, 200), fill=(255, 255, 255))
            name = f"{part}/ILSVRC2012_{part}_{number + 1:08d}.JPEG"
            _save(image, folder / name)
            lines.append(f"{name} {kind}")
        _write(folder / f"{part}_list.txt", lines)


def folders(root: Path) -> None:
    """A folder a class, below train and val."""
    for part, count in (("train", TRAIN), ("val", VALIDATE), ("test", 1)):
        for number in range(count):
            kind = number % 4
            image = _picture(256, 256, kind)
            ImageDraw.Draw(image).rectangle((40 + 30 * kind, 40, 80 + 30 * kind, 210), fill=(255, 255, 255))
            _save(image, root / f"lite_data/{part}/class_{kind}/{number}.jpg")
    _save(_picture(256, 256, 1), root / "lite_data/test/demo.jpg")


def words(root: Path) -> None:
    """Pictures of one word each, and lists with what they say."""
    folder = root / "train_data/ic15_data"
    for part, count in (("train", TRAIN), ("test", VALIDATE)):
        lines = []
        for number in range(count):
            word = WORDS[number % len(WORDS)]
            name = f"{part}/word_{number + 1}.png"
            _save(_word(word), folder / name)
            lines.append(f"{name}\t{word}")
        _write(folder / f"rec_gt_{part}.txt", lines)
    for number in range(4):
        _save(_word(WORDS[number]), root / f"inference/rec_inference/word_{number + 1}.png")


def _word(text: str) -> Image.Image:
    image = Image.new("RGB", (100, 32), (250, 250, 245))
    ImageDraw.Draw(image).text((10, 8), text, fill=(10, 10, 30), font=ImageFont.load_default(16))
    return image


def text_boxes(root: Path) -> None:
    """Pictures with words in them, and lists with the words' corners."""
    folder = root / "train_data/icdar2015/text_localization"
    for part, place, count in (
        ("train", "icdar_c4_train_imgs", VALIDATE),
        ("test", "ch4_test_images", 4),
    ):
        lines = []
        for number in range(count):
            image = Image.new("RGB", (640, 480), (235, 240, 235))
            marks = []
            for row in range(3):
                left, top = 60 + 20 * number, 60 + 130 * row
                image.paste(_word(WORDS[(number + row) % 8]).resize((300, 96)), (left, top))
                corners = [[left, top], [left + 300, top], [left + 300, top + 96], [left, top + 96]]
                marks.append({"transcription": WORDS[(number + row) % 8], "points": corners})
            _save(image, folder / place / f"img_{number + 1}.jpg")
            lines.append(f"{place}/img_{number + 1}.jpg\t{json.dumps(marks)}")
        _write(folder / f"{part}_icdar2015_label.txt", lines)


def coco(root: Path) -> None:
    """Pictures with two boxes each, annotated as COCO is, with its eighty categories."""
    folder = root / "dataset/coco"
    for part, count in (("train2017", TRAIN // 2), ("val2017", 4)):
        images, boxes = [], []
        for number in range(count):
            image = _picture(320, 240, number)
            for turn in range(2):
                left, top = 30 + 100 * turn + 5 * number, 50 + 10 * number
                ImageDraw.Draw(image).rectangle(
                    (left, top, left + 70, top + 90), fill=(250, 60 + 150 * turn, 40)
                )
                boxes.append(
                    {
                        "id": len(boxes) + 1,
                        "image_id": number + 1,
                        "category_id": 1 + turn,
                        "bbox": [left, top, 70, 90],
                        "area": 6300,
                        "iscrowd": 0,
                        "segmentation": [
                            [left, top, left + 70, top, left + 70, top + 90, left, top + 90],
                        ],
                    }
                )
            name = f"{number + 1:012d}.jpg"
            _save(image, folder / part / name)
            images.append({"id": number + 1, "file_name": name, "width": 320, "height": 240})
            if part == "val2017" and number < 2:
                _save(image, folder / "test2017" / name)
        kinds = [{"id": index + 1, "name": f"kind {index + 1}"} for index in range(80)]
        notes = {"images": images, "annotations": boxes, "categories": kinds}
        path = folder / f"annotations/instances_{part}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(notes), encoding="utf-8")


def start_weights(root: Path) -> None:
    """Weights that fit no layer, where a config takes those of another model to start from."""
    path = root / "dataset/start.pdparams"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps({"none.weight": np.zeros(1, "float32")}, protocol=2))
