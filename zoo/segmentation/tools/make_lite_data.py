"""Draw `lite_data.tar`: people before a background, and streets, with exact masks. The same bytes for the
same seed.

    python tools/make_lite_data.py --out lite_data.tar

Everything is drawn four times too large, together with its mask, and then reduced: the picture smoothly, the
mask by the class in the middle of each block. `people` has two classes (0 background, 1 person); `street` has
eight of the 19 Cityscapes classes under their training ids.
"""

from __future__ import annotations

import argparse
import io
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from paddlezoo.seg.pictures import palette

OVERSIZE = 4
SPLITS = {"train": 12, "val": 8}
ROAD, SIDEWALK, BUILDING, VEGETATION, TERRAIN, SKY, PERSON, CAR = 0, 1, 2, 8, 9, 10, 11, 13
Colour = tuple[int, int, int]
Point = tuple[float, float]


class Canvas:
    """A picture and its mask, drawn together. Coordinates are in pixels of the reduced picture."""

    def __init__(self, width: int, height: int, random: np.random.Generator):
        self.width, self.height, self.random = width, height, random
        self.image = Image.new("RGB", (width * OVERSIZE, height * OVERSIZE))
        self.mask = Image.new("L", self.image.size)
        self._draw, self._label = ImageDraw.Draw(self.image), ImageDraw.Draw(self.mask)

    def polygon(self, points: Sequence[Point], colour: Colour, label: int | None) -> None:
        """A filled polygon; with no label only the picture changes."""
        corners = [(x * OVERSIZE, y * OVERSIZE) for x, y in points]
        self._draw.polygon(corners, fill=colour)
        if label is not None:
            self._label.polygon(corners, fill=label)

    def box(
        self, left: float, top: float, right: float, bottom: float, colour: Colour, label: int | None
    ) -> None:
        self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], colour, label)

    def ellipse(self, x: float, y: float, rx: float, ry: float, colour: Colour, label: int | None) -> None:
        corners = [v * OVERSIZE for v in (x - rx, y - ry, x + rx, y + ry)]
        self._draw.ellipse(corners, fill=colour)
        if label is not None:
            self._label.ellipse(corners, fill=label)

    def limb(self, path: Sequence[Point], thickness: float, colour: Colour, label: int | None) -> None:
        """A line with round ends, for arms and legs."""
        corners = [(x * OVERSIZE, y * OVERSIZE) for x, y in path]
        width = max(1, round(thickness * OVERSIZE))
        self._draw.line(corners, fill=colour, width=width, joint="curve")
        if label is not None:
            self._label.line(corners, fill=label, width=width, joint="curve")
        for x, y in path:
            self.ellipse(x, y, thickness / 2, thickness / 2, colour, label)

    def colour(self, base: Colour, spread: int = 25) -> Colour:
        """A colour near `base`."""
        r, g, b = (int(np.clip(c + self.random.integers(-spread, spread + 1), 0, 255)) for c in base)
        return r, g, b

    def any_colour(self) -> Colour:
        r, g, b = self.random.integers(20, 236, 3)
        return int(r), int(g), int(b)

    def finished(self) -> tuple[Image.Image, Image.Image]:
        """The picture with light and grain, and the mask, both reduced."""
        image = np.asarray(self.image.resize((self.width, self.height), Image.Resampling.BOX), "float32")
        middle = OVERSIZE // 2
        mask = np.asarray(self.mask)[middle::OVERSIZE, middle::OVERSIZE]
        light = Image.fromarray(self.random.uniform(0.75, 1.2, (4, 5)).astype("float32"))
        image *= np.asarray(light.resize((self.width, self.height), Image.Resampling.BICUBIC))[..., None]
        image += self.random.normal(0, 6, image.shape)
        return Image.fromarray(np.clip(image, 0, 255).astype("uint8")), Image.fromarray(mask, "L")


SKIN: tuple[Colour, ...] = ((241, 204, 172), (224, 172, 125), (178, 120, 80), (120, 78, 52), (88, 56, 40))


def draw_person(canvas: Canvas, x: float, feet: float, tall: float, label: int) -> None:
    """A standing or waving figure: legs, torso, arms, neck, head, hair."""
    random = canvas.random
    skin = canvas.colour(SKIN[random.integers(len(SKIN))], 12)
    shirt, trousers = canvas.any_colour(), canvas.any_colour()
    hair = canvas.colour(((40, 28, 20), (110, 75, 40), (25, 25, 28), (190, 160, 100))[random.integers(4)], 15)
    lean = random.uniform(-0.04, 0.04) * tall
    hip, shoulder, chin = feet - 0.47 * tall, feet - 0.80 * tall, feet - 0.85 * tall
    for side in (-1, 1):
        step = random.uniform(0.04, 0.10) * tall * side
        canvas.limb([(x + side * 0.06 * tall, hip), (x + step, feet)], 0.10 * tall, trousers, label)
    for side in (-1, 1):
        reach = random.uniform(0.12, 0.26) * tall * side
        hand = hip + random.uniform(-0.45, 0.05) * tall
        elbow = (x + lean + side * 0.19 * tall, (shoulder + hand) / 2 + 0.05 * tall)
        canvas.limb(
            [(x + lean + side * 0.12 * tall, shoulder + 0.03 * tall), elbow], 0.075 * tall, shirt, label
        )
        canvas.limb([elbow, (x + lean + reach, hand)], 0.06 * tall, skin, label)
    canvas.polygon(
        [
            (x + lean - 0.155 * tall, shoulder),
            (x + lean + 0.155 * tall, shoulder),
            (x + 0.115 * tall, hip + 0.05 * tall),
            (x - 0.115 * tall, hip + 0.05 * tall),
        ],
        shirt,
        label,
    )
    if random.random() < 0.5:
        stripe = canvas.any_colour()
        for k in range(3):
            y = shoulder + (0.08 + 0.09 * k) * tall
            canvas.box(x + lean - 0.11 * tall, y, x + lean + 0.11 * tall, y + 0.03 * tall, stripe, label)
    canvas.limb([(x + lean, shoulder), (x + lean, chin)], 0.07 * tall, skin, label)
    canvas.ellipse(x + lean, feet - 0.935 * tall, 0.075 * tall, 0.085 * tall, hair, label)
    canvas.ellipse(x + lean, feet - 0.905 * tall, 0.062 * tall, 0.075 * tall, skin, label)


def people(random: np.random.Generator) -> Canvas:
    """One or two people in a room, with furniture in the same colours that are no people."""
    canvas = Canvas(192, 192, random)
    wall, floor = canvas.any_colour(), canvas.any_colour()
    canvas.box(0, 0, 192, 192, wall, 0)
    edge = random.uniform(120, 165)
    canvas.box(0, edge, 192, 192, floor, 0)
    for _ in range(random.integers(3, 7)):
        x, y, w, h = random.uniform(-10, 180), random.uniform(0, 130), *random.uniform(12, 55, 2)
        canvas.box(x, y, x + w, y + h, canvas.any_colour(), 0)
    for _ in range(random.integers(2, 5)):
        x, y, r = random.uniform(0, 192), random.uniform(0, 192), random.uniform(5, 20)
        canvas.ellipse(x, y, r, r * random.uniform(0.6, 1.5), canvas.any_colour(), 0)
    for _ in range(random.integers(1, 4)):
        start, length = random.uniform(10, 180, 2), random.uniform(-50, 50, 2)
        canvas.limb([tuple(start), tuple(start + length)], random.uniform(4, 12), canvas.any_colour(), 0)
    count = 1 if random.random() < 0.6 else 2
    for k in range(count):
        tall = random.uniform(130, 230) if count == 1 else random.uniform(110, 170)
        x = random.uniform(60, 132) if count == 1 else random.uniform(40, 80) + 75 * k
        draw_person(canvas, x, random.uniform(175, 185) + max(0.0, tall - 165), tall, 1)
    return canvas


def draw_car(canvas: Canvas, x: float, ground: float, length: float) -> None:
    """A car from the side: wheels, body, cabin, windows."""
    paint = canvas.any_colour()
    tall = 0.36 * length
    for k in (0.22, 0.78):
        canvas.ellipse(
            x + k * length, ground - 0.09 * length, 0.10 * length, 0.10 * length, (25, 25, 28), CAR
        )
    canvas.box(x, ground - 0.75 * tall, x + length, ground - 0.22 * tall, paint, CAR)
    cabin = [(0.16, -0.72), (0.28, -1.25), (0.70, -1.25), (0.86, -0.72)]
    canvas.polygon([(x + a * length, ground + b * tall) for a, b in cabin], paint, CAR)
    window = [(0.25, -0.78), (0.32, -1.16), (0.66, -1.16), (0.76, -0.78)]
    glass = canvas.colour((120, 150, 170), 20)
    canvas.polygon([(x + a * length, ground + b * tall) for a, b in window], glass, CAR)


def houses(canvas: Canvas, random: np.random.Generator, horizon: float) -> None:
    """A row of houses with windows, and gaps between them."""
    x = random.uniform(-30, 0)
    while x < 256:
        width, top = random.uniform(28, 60), horizon - random.uniform(12, 45)
        if random.random() < 0.75:
            wall = canvas.colour(((150, 120, 100), (170, 165, 150), (120, 90, 85))[random.integers(3)], 20)
            canvas.box(x, top, x + width, horizon + 3, wall, BUILDING)
            for row in np.arange(top + 4, horizon - 4, 8):
                for column in np.arange(x + 4, x + width - 5, 9):
                    canvas.box(column, row, column + 4, row + 5, canvas.colour((70, 80, 95), 20), BUILDING)
        x += width + random.uniform(0, 12)


def trees(canvas: Canvas, random: np.random.Generator, horizon: float) -> None:
    for _ in range(random.integers(2, 6)):
        x, r = random.uniform(0, 256), random.uniform(8, 16)
        canvas.limb([(x, horizon + 4), (x, horizon - r)], 3, canvas.colour((90, 65, 45), 10), VEGETATION)
        for _ in range(6):
            dx, dy = random.uniform(-0.7, 0.7, 2) * r
            leaf = canvas.colour((50, 105, 45), 22)
            canvas.ellipse(x + dx, horizon - 1.3 * r + dy, 0.7 * r, 0.6 * r, leaf, VEGETATION)


def street(random: np.random.Generator) -> Canvas:
    """Sky, houses, trees, road and sidewalk in perspective, cars and people."""
    canvas = Canvas(256, 128, random)
    horizon = random.uniform(48, 64)
    canvas.box(0, 0, 256, 128, canvas.colour((140, 180, 225), 30), SKY)
    for _ in range(random.integers(1, 4)):
        canvas.ellipse(
            random.uniform(0, 256), random.uniform(5, 30), 25, 6, canvas.colour((225, 225, 230), 15), SKY
        )
    canvas.box(0, horizon, 256, 128, canvas.colour((105, 125, 70), 20), TERRAIN)
    houses(canvas, random, horizon)
    trees(canvas, random, horizon)
    middle, narrow, wide = random.uniform(100, 156), random.uniform(14, 26), random.uniform(95, 125)
    curb = 1.5
    canvas.polygon(
        [
            (middle - curb * narrow, horizon),
            (middle + curb * narrow, horizon),
            (middle + curb * wide, 128),
            (middle - curb * wide, 128),
        ],
        canvas.colour((165, 160, 160), 12),
        SIDEWALK,
    )
    road = [
        (middle - narrow, horizon),
        (middle + narrow, horizon),
        (middle + wide, 128),
        (middle - wide, 128),
    ]
    canvas.polygon(road, canvas.colour((85, 85, 90), 12), ROAD)
    for k in range(5):
        top, bottom = (horizon + (128 - horizon) * (end / 5) ** 1.5 for end in (k, k + 0.5))
        canvas.box(middle - 0.6 - k * 0.5, top, middle + 0.6 + k * 0.5, bottom, (225, 225, 215), ROAD)
    for _ in range(random.integers(1, 4)):
        ground = random.uniform(horizon + 12, 124)
        near = (ground - horizon) / (128 - horizon)
        draw_car(canvas, middle + random.uniform(-1.0, 0.2) * (narrow + near * wide), ground, 26 + 60 * near)
    for _ in range(random.integers(1, 4)):
        feet = random.uniform(horizon + 16, 126)
        near = (feet - horizon) / (128 - horizon)
        side = random.choice([-1, 1])
        draw_person(
            canvas, middle + side * (narrow + near * (wide - narrow)) * 1.15, feet, 24 + 42 * near, PERSON
        )
    return canvas


def encode(image: Image.Image, mask: Image.Image) -> dict[str, bytes]:
    """A JPEG, and a PNG whose pixels are class numbers with colours for whoever opens it."""
    files = {}
    mask.putpalette(palette().reshape(-1).tolist())
    for folder, suffix, picture, options in (
        ("images", "jpg", image, {"quality": 88}),
        ("masks", "png", mask, {"optimize": True}),
    ):
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG" if suffix == "jpg" else "PNG", **options)
        files[f"{folder}/{{name}}.{suffix}"] = buffer.getvalue()
    return files


def draw_all(seed: int) -> dict[str, bytes]:
    """Every file of the archive by its name."""
    scenes: dict[str, Callable[[np.random.Generator], Canvas]] = {"people": people, "street": street}
    files: dict[str, bytes] = {}
    for number, (scene, draw) in enumerate(scenes.items()):
        for part, (split, count) in enumerate(SPLITS.items()):
            lines = []
            for index in range(count):
                name = f"{split}_{index:02d}"
                image, mask = draw(np.random.default_rng([seed, number, part, index])).finished()
                written = {path.format(name=name): data for path, data in encode(image, mask).items()}
                files |= {f"lite_data/{scene}/{path}": data for path, data in written.items()}
                lines.append(" ".join(written))
            files[f"lite_data/{scene}/{split}.txt"] = ("\n".join(lines) + "\n").encode()
    return files


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "lite_data.tar")
    parser.add_argument("--seed", type=int, default=2022)
    args = parser.parse_args()
    with tarfile.open(args.out, "w") as archive:
        for name, data in sorted(draw_all(args.seed).items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    print(f"{args.out}: {args.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
