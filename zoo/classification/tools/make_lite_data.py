"""Draw the lite data and pack it: ``lite_data.tar`` and ``images/demo.jpg``. The same seed gives the same
pictures.

python tools/make_lite_data.py
"""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from paddlezoo import arguments, errors

ROOT = Path(__file__).resolve().parents[1]
CLASSES = ("disc", "stripes", "checker", "triangle")
COLOURS = ((205, 62, 48), (46, 150, 84), (52, 92, 196), (228, 186, 52))
PER_CLASS = {"train": 4, "val": 4}


def draw(kind: int, random: np.random.Generator) -> Image.Image:
    """One picture: a textured background and the shape of the class in about its colour."""
    width, height = (int(random.integers(240, 321)) for _ in range(2))
    grey = random.normal(128, 26, (height // 8, width // 8, 3)).clip(0, 255).astype("uint8")
    image = Image.fromarray(grey).resize((width, height), Image.Resampling.BICUBIC)
    colour = tuple(int(c) for c in (np.asarray(COLOURS[kind]) + random.normal(0, 12, 3)).clip(0, 255))
    mask = Image.new("L", (width, height), 0)
    pen = ImageDraw.Draw(mask)
    x, y = width * random.uniform(0.42, 0.58), height * random.uniform(0.42, 0.58)
    radius = min(width, height) * random.uniform(0.34, 0.44)
    if kind == 0:
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)
    elif kind == 1:
        step = int(random.integers(22, 36))
        for start in range(-height, width, step):
            pen.line((start, 0, start + height, height), fill=255, width=step // 2)
    elif kind == 2:
        step = int(random.integers(28, 44))
        for row in range(0, height, step):
            for column in range(row // step % 2 * step, width, 2 * step):
                pen.rectangle((column, row, column + step, row + step), fill=255)
    else:
        angles = random.uniform(0, 2 * np.pi) + np.arange(3) * 2 * np.pi / 3
        pen.polygon([(x + radius * 1.2 * np.cos(a), y + radius * 1.2 * np.sin(a)) for a in angles], fill=255)
    image.paste(Image.new("RGB", (width, height), colour), mask=mask.filter(ImageFilter.GaussianBlur(1.2)))
    return image


def jpeg(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format="JPEG", quality=85)
    return buffer.getvalue()


def main() -> None:
    parser = arguments.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--output-dir", type=Path, default=ROOT, help="where lite_data.tar and images/ go")
    args = parser.parse_args()

    random = np.random.default_rng(args.seed)
    files = {"lite_data/label_list.txt": "".join(f"{name}\n" for name in CLASSES).encode()}
    for split, count in PER_CLASS.items():
        listed = ""
        for number in range(count):
            for kind, name in enumerate(CLASSES):
                path = f"{split}/{name}_{number}.jpg"
                files[f"lite_data/{path}"] = jpeg(draw(kind, random))
                listed += f"{path} {kind}\n"
        files[f"lite_data/{split}_list.txt"] = listed.encode()
    demo = jpeg(draw(3, random))
    files["lite_data/demo.jpg"] = demo

    archive = args.output_dir / "lite_data.tar"
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w") as tar:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    (args.output_dir / "images").mkdir(exist_ok=True)
    (args.output_dir / "images" / "demo.jpg").write_bytes(demo)
    print(f"{archive}: {len(files)} files, {archive.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    raise SystemExit(errors.run(main))
